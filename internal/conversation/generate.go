package conversation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Generate returns the nth conversation of a seed, from 0, for a revision. Equal arguments give equal conversations,
// and all revisions with tools get the same steps. It is valid (see [Conversation.Validate]).
func Generate(revision string, seed int64, n int) *Conversation {
	c, _ := Generated(revision, seed, n)
	return c
}

// Generated is [Generate] with the choices that made the conversation, as JSON. [Chosen] makes it of them again, and a
// simpler one of simpler JSON.
func Generated(revision string, seed int64, n int) (c *Conversation, chosen []byte) {
	g := &generator{choices{rand.New(rand.NewPCG(uint64(seed), uint64(n))), &jsonvalue.Node{Kind: '{'}},
		server.Revision(revision).HasSamplingTools(), 0}
	c = &Conversation{Revision: revision, Source: fmt.Sprintf("seed %d, conversation %d", seed, n+1), Steps: g.steps()}
	return c, g.at.Bytes()
}

// Chosen returns the conversation of choices in JSON. Any JSON makes a valid one: a missing or an impossible choice is
// the simplest.
func Chosen(revision string, chosen []byte) *Conversation {
	tree, err := jsonvalue.Parse(chosen)
	if err != nil {
		tree = &jsonvalue.Node{Kind: '{'}
	}
	g := &generator{choices{nil, tree}, server.Revision(revision).HasSamplingTools(), 0}
	return &Conversation{Revision: revision, Steps: g.steps()}
}

type generator struct {
	choices
	withTools bool
	ids       int // of tool uses
}

// steps are the steps of a conversation; at least one.
func (g *generator) steps() []Step {
	steps := []Step{}
	count := g.count("steps", g.among(1, 1, 2, 2, 3))
	g.each("steps", func(i int) bool {
		steps = append(steps, g.step(i == count-1))
		return true
	})
	if len(steps) == 0 {
		g.in(nil, func() { steps = append(steps, g.step(true)) })
	}
	return steps
}

// step is an exchange, or several at once. A client of 2026-07-28 whose model fails never continues the call, so that
// nothing may follow an error.
func (g *generator) step(last bool) Step {
	s := Step{}
	count := g.count("exchanges", func() int {
		if g.random.IntN(100) < 20 {
			return 2 + g.random.IntN(3)
		}
		return 1
	})
	g.each("exchanges", func(int) bool {
		s = append(s, g.exchange(last && count == 1))
		return true
	})
	if len(s) == 0 {
		g.in(nil, func() { s = append(s, g.exchange(last)) })
	}
	return s
}

// exchange returns a request with the answers to it and to the rounds after it.
func (g *generator) exchange(mayFail bool) Exchange {
	var tools []tool
	params := object{"maxTokens": oneOf(&g.choices, "maxTokens", 1, 1000, 16, 4096, 100)}
	if g.withTools {
		g.maybe("offers", 60, func() {
			tools = g.tools()
			wire := make([]any, len(tools))
			for i, t := range tools {
				wire[i] = t.wire
			}
			params["tools"] = wire
			g.maybe("toolChoice", 40, func() {
				params["toolChoice"] = oneOf(&g.choices, "mode", object{}, object{"mode": "auto"}, object{"mode": "required"},
					object{"mode": "none"}, object{})
			})
		})
	}
	g.part("messages", func() { params["messages"] = g.messages(tools) })
	maps.Copy(params, g.settings())
	x := Exchange{Params: raw(params)}
	answers := func(a *Answer) {
		if n := len(x.Rounds); n > 0 {
			x.Rounds[n-1].Answer = a
		} else {
			x.Answer = a
		}
	}
	ended := false
	rounds := g.count("rounds", g.among(0, 0, 1, 1, 2, 3))
	g.each("rounds", func(i int) bool { // A part has an answer and the results for it, so that it can be left out.
		a := g.answer(params, tools, true, mayFail)
		answers(a)
		if ended = len(a.Uses()) == 0; ended {
			return false
		}
		r := g.round(params, a, i < rounds-1)
		merged := maps.Clone(params)
		for name, value := range r.Params {
			var v any
			_ = json.Unmarshal(value, &v) // It was written by round.
			merged[name] = v
		}
		x.Rounds, params = append(x.Rounds, r), merged
		return true
	})
	if !ended {
		answers(g.answer(params, tools, false, mayFail))
	}
	return x
}

// settings are the optional members of a request.
func (g *generator) settings() object {
	all := object{}
	c := &g.choices
	for _, o := range []struct {
		name  string
		often int
		value func() any
	}{
		{"systemPrompt", 50, func() any { return c.text("text") }},
		{"temperature", 30, func() any { return oneOf[any](c, "value", 0, 0, 0.5, 1, 0.25) }},
		{"stopSequences", 20, func() any {
			return oneOf(c, "value", []string{}, []string{"END"}, []string{"\n\nHuman:", "###"}, []string{})
		}},
		{"includeContext", 10, func() any { return "none" }},
		{"metadata", 15, func() any {
			return oneOf(c, "value", object{}, object{}, object{"user": "someone", "trace": "t-1"})
		}},
		{"_meta", 15, func() any { return object{"com.example/trace": c.value("value", 1)} }},
		{"modelPreferences", 20, func() any {
			return oneOf(c, "value", object{}, object{},
				object{"costPriority": 0, "speedPriority": 1, "intelligencePriority": 0.5},
				object{"hints": []any{object{"name": "no-such-model"}, object{}}})
		}},
	} {
		g.maybe(o.name, o.often, func() { all[o.name] = o.value() })
	}
	return all
}

// messages are a history and a question. The history may use the tools.
func (g *generator) messages(tools []tool) []any {
	var all []any
	say := func(name, role string, blocks []any) {
		var content any = blocks
		if len(blocks) == 1 && (!g.withTools || g.rather(name+" in an array", 70)) {
			content = blocks[0]
		}
		all = append(all, object{"role": role, "content": content})
	}
	ended := false // with results, which are the question
	g.count("turns", g.among(0, 0, 0, 1, 1, 2, 4))
	g.each("turns", func(int) bool {
		say("question", "user", g.question())
		g.count("calls", g.among(0, 1, 2))
		g.each("calls", func(int) bool {
			if tools == nil {
				return false
			}
			if uses, results := g.calls(tools); len(results) > 0 {
				say("uses", "assistant", uses)
				say("results", "user", results)
			}
			return true
		})
		if !g.rather("goes on", 85) && tools != nil {
			if ended = g.chance("ends", 50) && len(all) > 1; ended {
				return false
			}
		}
		say("answer", "assistant", g.saying())
		return true
	})
	if !ended {
		g.part("question", func() { say("question", "user", g.question()) })
	}
	return all
}

// question is what a user's message holds.
func (g *generator) question() []any {
	blocks := []any{said(g.text("text"))}
	if !g.withTools {
		g.maybe("image", 10, func() { blocks = []any{g.image()} })
		return blocks
	}
	var more func()
	more = func() {
		g.maybe("more", 20, func() {
			blocks = append(blocks, said(g.text("text")))
			more()
		})
	}
	more()
	g.maybe("image first", 15, func() { blocks = append([]any{g.image()}, blocks...) })
	g.maybe("image last", 5, func() { blocks = append(blocks, g.image()) })
	if g.chance("audio", 2) {
		blocks = append(blocks, object{"type": "audio", "data": wav, "mimeType": "audio/wav"})
	}
	if g.chance("meta", 10) {
		if b, ok := blocks[0].(object); ok {
			b["_meta"] = object{"com.example/part": 1}
		}
	}
	return blocks
}

func (g *generator) saying() []any {
	blocks := []any{said(g.text("answer"))}
	if g.withTools {
		g.maybe("second", 15, func() { blocks = append(blocks, said(g.text("text"))) })
	}
	return blocks
}

// calls are tool uses of the model, perhaps beside a text, and their results in any order.
func (g *generator) calls(tools []tool) (uses, results []any) {
	g.maybe("beside", 30, func() { uses = append(uses, said(g.text("text"))) })
	g.list("uses", g.among(1, 1, 1, 2, 2, 3, 5), func(int) {
		g.ids++
		id := fmt.Sprintf(oneOf(&g.choices, "id", "u%d", "call_%d", "toolu-%d", "u%d"), g.ids)
		t := &tools[g.index("tool", len(tools))]
		uses = append(uses, object{"type": "tool_use", "id": id, "name": t.name, "input": g.use(t)})
		result := g.result()
		results = append(results, result.Block(id))
	})
	g.maybe("mixed", 25, func() {
		g.shuffle("result", len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	})
	return uses, results
}

// result is what a tool returns.
func (g *generator) result() Result {
	r := Result{Content: []json.RawMessage{}}
	g.list("pieces", g.among(1, 1, 1, 1, 0, 2, 3), func(int) { r.Content = append(r.Content, raw(g.piece())) })
	g.maybe("structured", 15, func() {
		structured := raw(object{"value": g.value("value", 2)})
		r.StructuredContent = structured
		r.Content = []json.RawMessage{raw(said(string(structured)))}
	})
	g.maybe("flagged", 25, func() {
		failed := g.chance("failed", 60)
		r.IsError = &failed
	})
	if g.chance("meta", 8) {
		r.Meta = raw(object{"com.example/took": 0.5})
	}
	return r
}

// piece is a block of a tool result.
func (g *generator) piece() object {
	switch g.number("kind", 20) {
	case 0, 1:
		return g.image()
	case 2:
		return object{"type": "resource", "resource": object{"uri": "file:///notes.txt", "mimeType": "text/plain",
			"text": g.text("text")}}
	case 3:
		return object{"type": "resource_link", "uri": "https://example.com/a?b=c&d", "name": "a page"}
	case 4:
		return said(oneOf(&g.choices, "blank", "", "", " ", "\n"))
	}
	return said(g.text("text"))
}

// answer is what the model says to a request; nil is the simplest.
func (g *generator) answer(params object, tools []tool, mayUse, mayFail bool) *Answer {
	choice := choiceOf(params)
	if g.random == nil && g.at.Member("answer") == nil && choice != "required" {
		return nil
	}
	var a *Answer
	g.part("answer", func() { a = g.saysOrUses(params, tools, choice == "required", choice == "auto" && mayUse, mayFail) })
	return a
}

func (g *generator) saysOrUses(params object, tools []tool, mustUse, mayUse, mayFail bool) *Answer {
	a := &Answer{}
	g.maybe("split", 15, func() { a.Split = oneOf(&g.choices, "how", "random", "random", "random", "random", "bytes") })
	switch {
	case mayFail && g.maybe("fails", 10, func() {
		a = &Answer{Status: oneOf(&g.choices, "status", 400, 400, 429, 500)}
	}):
		return a
	case tools != nil && (mustUse || mayUse && g.calling()):
		g.maybe("beside", 30, func() { a.Content = append(a.Content, Block{Type: "text", Text: g.text("text")}) })
		use := func(int) {
			t := &tools[g.index("tool", len(tools))]
			a.Content = append(a.Content, Block{Type: "tool_use", Name: t.name, Input: raw(g.use(t))})
		}
		if g.list("uses", g.among(1, 1, 2, 3), use); len(a.Uses()) == 0 {
			g.in(nil, func() { use(0) })
		}
		return a
	case g.chance("empty", 4):
		return a
	}
	a.Content = []Block{{Type: "text", Text: g.text("text")}}
	reasons := []string{"", "", "", "", "", "", "maxTokens", "refusal", "contentFilter"}
	if list, _ := params["stopSequences"].([]string); len(list) > 0 {
		reasons = append(reasons, "stopSequence", "stopSequence")
	}
	a.StopReason = oneOf(&g.choices, "reason", "", reasons...)
	return a
}

// calling chooses whether an answer has tool uses. The tree says so by their list.
func (g *generator) calling() bool {
	if g.random == nil {
		return g.at.Member("uses") != nil
	}
	return g.random.IntN(100) < 70
}

// round answers the tool uses of an answer, and may change the request.
func (g *generator) round(params object, before *Answer, more bool) Round {
	r := Round{Reverse: g.chance("reverse", 20)}
	for i := range before.Uses() {
		g.part(fmt.Sprint("result", i), func() { r.Results = append(r.Results, g.result()) })
	}
	change := map[string]json.RawMessage{}
	choose := func(mode string) { change["toolChoice"] = raw(object{"mode": mode}) }
	switch choice := choiceOf(params); {
	case choice == "required" && (!more || g.chance("changes", 70)):
		choose(oneOf(&g.choices, "mode", "auto", "auto", "none"))
	case choice == "auto" && !more && g.chance("none", 20):
		choose("none")
	case choice == "auto" && g.chance("required", 8):
		choose("required")
	}
	g.maybe("maxTokens", 15, func() { change["maxTokens"] = raw(oneOf(&g.choices, "value", 1, 50, 2000)) })
	if len(change) > 0 {
		r.Params = change
	}
	return r
}
