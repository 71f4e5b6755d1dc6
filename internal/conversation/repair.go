package conversation

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-conform/mcp-conform/internal/jsontree"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func blank(text string) bool { return strings.TrimFunc(text, unicode.IsSpace) == "" }

// Repair returns the steps of a conversation, as JSON, from which something may have been removed: it also removes what
// cannot be without that, such as the result of a removed tool use. It returns nil if the rest is not valid in the
// revision.
func Repair(revision string, steps []byte) []byte {
	c := Conversation{Revision: revision}
	if c.ReadSteps(steps) != nil {
		return nil
	}
	if c.Hostile() {
		if c.Validate() != nil {
			return nil
		}
		return steps
	}
	c.Steps = slices.DeleteFunc(c.Steps, func(s Step) bool { return len(s) == 0 })
	for _, s := range c.Steps {
		for i := range s {
			if !s[i].repair() {
				return nil
			}
		}
	}
	if c.Validate() != nil {
		return nil
	}
	return c.JSON()
}

// Simpler returns simpler values in place of one in the JSON of a conversation's steps: a text for a medium, and an
// exchange without one of its rounds, whose answer takes the place of the one before.
func Simpler(n *jsontree.Node) []*jsontree.Node {
	if kind := n.Member("type"); kind != nil && n.Member("data") != nil {
		return []*jsontree.Node{jsontree.Must(`{"text":"a","type":"text"}`)}
	}
	rounds := n.Member("rounds")
	if rounds == nil || n.Member("params") == nil {
		return nil
	}
	var all []*jsontree.Node
	for i := range rounds.Items {
		x := n.Clone()
		later := x.Member("rounds")
		before := x
		if i > 0 {
			before = later.Items[i-1]
		}
		answer := later.Items[i].Member("answer")
		later.Remove(i)
		if at := slices.Index(before.Names, "answer"); at >= 0 {
			before.Remove(at)
		}
		if answer != nil {
			before.Add("answer", answer)
		}
		all = append(all, x)
	}
	return all
}

func (x *Exchange) repair() bool {
	params, err := jsonvalue.ReadObject(x.Params)
	if err != nil {
		return false
	}
	if tools, ok := params["tools"].([]any); ok {
		names := map[any]bool{}
		params["tools"] = slices.DeleteFunc(tools, func(item any) bool {
			tool, _ := item.(map[string]any)
			taken := names[tool["name"]]
			names[tool["name"]] = true
			return taken
		})
	}
	if len(offeredBy(params)) == 0 {
		delete(params, "toolChoice")
	}
	params["messages"] = balanced(jsonvalue.Messages(params), offeredBy(params))
	x.Params = jsonvalue.Marshal(params)
	x.Answer = x.Answer.repaired(offeredBy(params))
	uses := x.Answer
	for i := range x.Rounds {
		r := &x.Rounds[i]
		r.Answer = r.Answer.repaired(offeredBy(params))
		both := min(len(r.Results), len(uses.Uses()))
		if both == 0 {
			x.Rounds = x.Rounds[:i]
			break
		}
		r.Results = r.Results[:both]
		for j := range r.Results {
			if r.Results[j].Content == nil {
				r.Results[j].Content = []json.RawMessage{}
			}
		}
		uses.keepUses(both)
		uses = r.Answer
	}
	if len(x.Rounds) == 0 {
		x.Rounds = nil
	}
	return true
}

// repaired returns the answer without the uses of tools that are not offered.
func (a *Answer) repaired(offered []string) *Answer {
	if a == nil {
		return nil
	}
	had := len(a.Content) > 0
	a.Content = slices.DeleteFunc(a.Content, func(b Block) bool {
		return b.Type == "tool_use" && !slices.Contains(offered, b.Name)
	})
	for i := range a.Content {
		if a.Content[i].Type == "tool_use" && a.Content[i].Input == nil {
			a.Content[i].Input = json.RawMessage("{}")
		}
	}
	if had && len(a.Content) == 0 {
		return nil
	}
	return a
}

// keepUses removes all but the first n tool uses.
func (a *Answer) keepUses(n int) {
	a.Content = slices.DeleteFunc(a.Content, func(b Block) bool {
		if b.Type == "tool_use" {
			n--
		}
		return b.Type == "tool_use" && n < 0
	})
}

// balanced returns the messages without tool uses and results that lack the other, and without empty messages.
func balanced(messages []map[string]any, offered []string) []any {
	var kept []any
	var before map[string]any // the last message kept
	for i, m := range messages {
		var results []map[string]any
		if i+1 < len(messages) {
			results = jsonvalue.OfType(messages[i+1]["content"], "tool_result")
		}
		keep(m, func(b map[string]any) bool {
			switch b["type"] {
			case "tool_use":
				return slices.Contains(offered, jsonvalue.TextIn(b, "name")) &&
					slices.ContainsFunc(results, func(r map[string]any) bool { return r["toolUseId"] == b["id"] })
			case "tool_result":
				return before != nil && slices.ContainsFunc(jsonvalue.OfType(before["content"], "tool_use"),
					func(use map[string]any) bool { return use["id"] == b["toolUseId"] })
			}
			return true
		})
		if list, ok := m["content"].([]any); ok && len(list) == 0 || m["content"] == nil {
			continue
		}
		kept, before = append(kept, m), m
	}
	for len(kept) > 0 {
		if last, _ := kept[len(kept)-1].(map[string]any); last["role"] == "user" {
			break
		}
		kept = kept[:len(kept)-1]
	}
	return kept
}

// keep removes the blocks of a message that are not wanted.
func keep(m map[string]any, wanted func(b map[string]any) bool) {
	list, several := m["content"].([]any)
	if !several {
		if b, ok := m["content"].(map[string]any); !ok || !wanted(b) {
			m["content"] = nil
		}
		return
	}
	m["content"] = slices.DeleteFunc(list, func(item any) bool {
		b, ok := item.(map[string]any)
		return !ok || !wanted(b)
	})
}
