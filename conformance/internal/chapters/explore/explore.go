// Package explore plays conversations: valid requests and answers that are generated from a seed, or read from a file.
// The rules of package always judge them. What a conversation is, and how one is generated, package conversation says.
package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/conversation"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// ID is the ID of the scenario.
const ID = "explore"

// Scenario has only cases that are made for a run, see [Case].
var Scenario = check.Scenario{
	ID: ID, Purpose: "valid conversations, generated from a seed", Revisions: server.AllRevisions(),
}

// Case is the case of a valid conversation, which make returns for each session. The name follows the scenario in the
// case's ID.
func Case(name string, make func() *conversation.Conversation) harness.Case {
	one := harness.Case{ID: ID + "/" + name, Barrier: true}
	one.Make = func(harness.Limits) harness.Stage {
		p := &play{conversation: make(), mark: one.Mark(), now: map[string]position{}}
		return harness.Stage{Handler: p.handle, Rules: p.rules()}
	}
	return one
}

// play is one session's play of a conversation.
type play struct {
	conversation *conversation.Conversation
	mark         string

	mu sync.Mutex
	// now is where each exchange is, by the name of its conversation with the model.
	now map[string]position
}

// position is a round of an exchange, from 0, and the number of the exchange in the conversation, from 1.
type position struct{ exchange, round int }

// underway is an exchange in flight.
type underway struct {
	*conversation.Exchange
	name   string // of the conversation with the model
	number int    // among the exchanges, from 1
	params map[string]json.RawMessage
	result json.RawMessage
}

// handle plays the steps. After an error of the client it continues with the next: an error may be the right response.
func (p *play) handle(s *server.Session) (any, error) {
	first := 1
	for _, step := range p.conversation.Steps {
		open := make([]*underway, len(step))
		for i := range step {
			name := fmt.Sprintf("%sn%d", p.mark, (s.Call().Number-1)*p.count()+first+i)
			params, err := addressed(step[i].Params, name)
			if err != nil {
				return nil, err
			}
			open[i] = &underway{Exchange: &step[i], name: name, number: first + i, params: params}
		}
		first += len(step)
		for round := 0; len(open) > 0; round++ {
			var err error
			if open, err = p.send(s, open, round); err != nil {
				return nil, err
			}
		}
	}
	return "done", nil
}

func (p *play) count() int {
	count := 0
	for _, s := range p.conversation.Steps {
		count += len(s)
	}
	return count
}

// send sends a round of all open exchanges at once, and returns those that have a further round. It returns an error if
// the requests could not be sent.
func (p *play) send(s *server.Session, open []*underway, round int) ([]*underway, error) {
	requests := make([]any, len(open))
	p.mu.Lock()
	for i, u := range open {
		p.now[u.name] = position{u.number, round}
		requests[i] = story.JSON(u.params)
	}
	p.mu.Unlock()
	var next []*underway
	for i, response := range s.SampleAll(requests...) {
		u := open[i]
		if response.Err != nil && !server.Refused(response.Err) {
			return nil, response.Err
		}
		u.result = response.Result
		if response.Err == nil && round < len(u.Rounds) && u.advance(s.Revision(), &u.Rounds[round]) {
			next = append(next, u)
		}
	}
	return next, s.Context().Err()
}

// advance makes the params those of the next round. It reports false if the client's result does not allow one: it is
// invalid, or has no tool use.
func (u *underway) advance(revision server.Revision, r *conversation.Round) bool {
	if schema.Validate(string(revision), schema.CreateMessageResult, u.result) != nil {
		return false
	}
	var said struct {
		Content json.RawMessage `json:"content"`
	}
	var messages []json.RawMessage
	uses := server.ToolUses(u.result)
	if errors.Join(json.Unmarshal(u.result, &said), json.Unmarshal(u.params["messages"], &messages)) != nil ||
		len(uses) == 0 {
		return false
	}
	results := make([]any, len(uses))
	for i, use := range uses {
		results[i] = r.Results[min(i, len(r.Results)-1)].Block(use.ID)
	}
	if r.Reverse {
		slices.Reverse(results)
	}
	u.params = maps.Clone(u.params)
	maps.Copy(u.params, r.Params)
	u.params["messages"] = story.JSON(append(messages, story.JSON(server.SamplingMessage{Role: "assistant",
		Content: said.Content}), story.JSON(server.SamplingMessage{Role: "user", Content: results})))
	return true
}

// rules answer each round of each exchange.
func (p *play) rules() []*llm.Rule {
	var rules []*llm.Rule
	nth := 0
	for _, step := range p.conversation.Steps {
		for i := range step {
			nth++
			rules = append(rules, p.rule(position{nth, 0}, step[i].Answer))
			for round := range step[i].Rounds {
				rules = append(rules, p.rule(position{nth, round + 1}, step[i].Rounds[round].Answer))
			}
		}
	}
	return rules
}

// rule answers an exchange in one round. What the client left of the history does not matter.
func (p *play) rule(at position, a *conversation.Answer) *llm.Rule {
	r := llm.When(llm.MatcherFunc(func(req *llm.Request) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for name, now := range p.now {
			if now == at && names(req.Body, name) {
				return nil
			}
		}
		return fmt.Errorf("the request is not that of exchange %d, round %d", at.exchange, at.round+1)
	})).Optional()
	if a == nil {
		return r.Reply(llm.Text(conversation.DefaultText))
	}
	if a.Status != 0 {
		return r.Fail(&llm.Error{Status: a.Status, Message: "The provider cannot answer this now."})
	}
	blocks := make([]llm.Block, len(a.Content))
	for i, b := range a.Content {
		blocks[i] = llm.Text(b.Text)
		if b.Type == "tool_use" {
			blocks[i] = llm.Call(b.Name, string(b.Input))
		}
	}
	r.Reply(blocks...).StopReason(dialect.StopReason(a.StopReason))
	switch a.Split {
	case "bytes":
		r.Fault(llm.SplitEveryByte())
	case "random":
		r.Fault(llm.SplitAtRandom(int64(at.exchange)))
	}
	return r
}

// names reports whether a request names the conversation.
func names(body []byte, name string) bool {
	for {
		i := bytes.Index(body, []byte(name))
		if i < 0 {
			return false
		}
		body = body[i+len(name):]
		if len(body) == 0 || body[0] < '0' || body[0] > '9' {
			return true
		}
	}
}

// addressed returns the params with the name of the conversation in the system prompt, if there is one, and in the
// first text of the last of the user's messages with a text. Without a text it adds a system prompt. Blanks around a
// text stay around it.
func addressed(params json.RawMessage, name string) (map[string]json.RawMessage, error) {
	var p map[string]json.RawMessage
	var messages []map[string]any
	var prompt string
	if err := errors.Join(json.Unmarshal(params, &p), decode(p["messages"], &messages)); err != nil {
		return nil, fmt.Errorf("reading the params: %w", err)
	}
	named := false
	for i := len(messages) - 1; i >= 0 && !named; i-- {
		named = messages[i]["role"] == "user" && nameText(messages[i]["content"], name)
	}
	p["messages"] = story.JSON(messages)
	if _ = json.Unmarshal(p["systemPrompt"], &prompt); prompt != "" || !named { // Without one it stays empty.
		p["systemPrompt"] = story.JSON(withName(prompt, name))
	}
	return p, nil
}

// decode decodes JSON without a change of its numbers.
func decode(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v)
}

// nameText adds the name to the first text of a message's content, and reports whether there is one.
func nameText(content any, name string) bool {
	blocks, ok := content.([]any)
	if !ok {
		blocks = []any{content}
	}
	for _, b := range blocks {
		o, _ := b.(map[string]any)
		if text, ok := o["text"].(string); ok && o["type"] == "text" {
			o["text"] = withName(text, name)
			return true
		}
	}
	return false
}

// withName returns the text with the name after its leading blanks.
func withName(text, name string) string {
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	named := text[:len(text)-len(rest)] + "(conversation " + name + ")"
	if rest == "" {
		return named
	}
	return named + " " + rest
}
