package conversation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Generate returns the nth conversation of a seed, from 0, for a revision. Equal arguments give equal conversations,
// and all revisions with tools get the same steps. It is valid (see [Conversation.Validate]).
func Generate(revision string, seed int64, n int) *Conversation {
	g := &generator{random{rand.New(rand.NewPCG(uint64(seed), uint64(n)))}, server.Revision(revision).HasSamplingTools(), 0}
	c := &Conversation{Revision: revision, Source: fmt.Sprintf("seed %d, conversation %d", seed, n+1)}
	count := oneOf(&g.random, 1, 1, 2, 2, 3)
	for i := range count {
		several := 1
		if g.in(20) {
			several = 2 + g.IntN(3)
		}
		s := make(Step, several)
		for j := range s {
			// A client of 2026-07-28 whose model fails never continues the call, so that nothing follows an error.
			s[j] = g.exchange(i == count-1 && several == 1)
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

type generator struct {
	random
	withTools bool
	ids       int // of tool uses
}

// exchange returns a request with the answers to it and to the rounds after it.
func (g *generator) exchange(mayFail bool) Exchange {
	var tools []tool
	params := object{"maxTokens": oneOf(&g.random, 1000, 16, 4096, 100)}
	if g.withTools && g.in(60) {
		tools = g.tools()
		wire := make([]any, len(tools))
		for i, t := range tools {
			wire[i] = t.wire
		}
		params["tools"] = wire
		if g.in(40) {
			params["toolChoice"] = oneOf(&g.random, object{"mode": "auto"}, object{"mode": "required"}, object{"mode": "none"},
				object{})
		}
	}
	params["messages"] = g.messages(tools)
	maps.Copy(params, g.settings())
	x := Exchange{Params: raw(params)}
	rounds := oneOf(&g.random, 0, 0, 1, 1, 2, 3)
	x.Answer = g.answer(params, tools, rounds > 0, mayFail)
	for before := x.Answer; rounds > 0 && len(before.Uses()) > 0; rounds-- {
		r := g.round(params, before, rounds > 1)
		merged := maps.Clone(params)
		for name, value := range r.Params {
			var v any
			_ = json.Unmarshal(value, &v) // It was written by round.
			merged[name] = v
		}
		params = merged
		r.Answer = g.answer(params, tools, rounds > 1, mayFail)
		x.Rounds, before = append(x.Rounds, r), r.Answer
	}
	return x
}

// settings are the optional members of a request.
func (g *generator) settings() object {
	all := object{}
	for _, o := range []struct {
		name  string
		often int
		value func() any
	}{
		{"systemPrompt", 50, func() any { return g.text() }},
		{"temperature", 30, func() any { return oneOf[any](&g.random, 0, 0.5, 1, 0.25) }},
		{"stopSequences", 20, func() any {
			return oneOf(&g.random, []string{"END"}, []string{"\n\nHuman:", "###"}, []string{})
		}},
		{"includeContext", 10, func() any { return "none" }},
		{"metadata", 15, func() any { return oneOf(&g.random, object{}, object{"user": "someone", "trace": "t-1"}) }},
		{"_meta", 15, func() any { return object{"com.example/trace": g.value(1)} }},
		{"modelPreferences", 20, func() any {
			return oneOf(&g.random, object{}, object{"costPriority": 0, "speedPriority": 1, "intelligencePriority": 0.5},
				object{"hints": []any{object{"name": "no-such-model"}, object{}}})
		}},
	} {
		if g.in(o.often) {
			all[o.name] = o.value()
		}
	}
	return all
}

// messages are a history and a question. The history may use the tools.
func (g *generator) messages(tools []tool) []any {
	var all []any
	say := func(role string, blocks ...any) {
		var content any = blocks
		if len(blocks) == 1 && (!g.withTools || g.in(70)) {
			content = blocks[0]
		}
		all = append(all, object{"role": role, "content": content})
	}
	for range oneOf(&g.random, 0, 0, 0, 1, 1, 2, 4) {
		say("user", g.question()...)
		for range oneOf(&g.random, 0, 1, 2) {
			if tools == nil {
				break
			}
			uses, results := g.calls(tools)
			say("assistant", uses...)
			say("user", results...)
		}
		if g.in(85) || tools == nil {
			say("assistant", g.saying()...)
			continue
		}
		if last, _ := all[len(all)-1].(object); last != nil && g.in(50) && len(all) > 1 {
			return all // The results are the question.
		}
		say("assistant", g.saying()...)
	}
	say("user", g.question()...)
	return all
}

// question is what a user's message holds.
func (g *generator) question() []any {
	blocks := []any{said(g.text())}
	if !g.withTools {
		if g.in(10) {
			return []any{g.image()}
		}
		return blocks
	}
	for g.in(20) {
		blocks = append(blocks, said(g.text()))
	}
	if g.in(15) {
		blocks = append([]any{g.image()}, blocks...)
	}
	if g.in(5) {
		blocks = append(blocks, g.image())
	}
	if g.in(2) {
		blocks = append(blocks, object{"type": "audio", "data": wav, "mimeType": "audio/wav"})
	}
	if g.in(10) {
		if b, ok := blocks[0].(object); ok {
			b["_meta"] = object{"com.example/part": 1}
		}
	}
	return blocks
}

// saying is what an assistant's message holds.
func (g *generator) saying() []any {
	blocks := []any{said(g.text())}
	if g.withTools && g.in(15) {
		blocks = append(blocks, said(g.text()))
	}
	return blocks
}

// calls are tool uses of the model, perhaps beside a text, and their results in any order.
func (g *generator) calls(tools []tool) (uses, results []any) {
	if g.in(30) {
		uses = append(uses, said(g.text()))
	}
	for range oneOf(&g.random, 1, 1, 1, 2, 2, 3, 5) {
		g.ids++
		id := fmt.Sprintf(oneOf(&g.random, "call_%d", "toolu-%d", "u%d"), g.ids)
		t := &tools[g.IntN(len(tools))]
		uses = append(uses, object{"type": "tool_use", "id": id, "name": t.name, "input": t.use(&g.random)})
		result := g.result()
		results = append(results, result.Block(id))
	}
	if g.in(25) {
		g.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	}
	return uses, results
}

// result is what a tool returns.
func (g *generator) result() Result {
	r := Result{Content: []json.RawMessage{}}
	for range oneOf(&g.random, 1, 1, 1, 1, 0, 2, 3) {
		r.Content = append(r.Content, raw(g.piece()))
	}
	if g.in(15) {
		structured := raw(object{"value": g.value(2)})
		r.StructuredContent = structured
		r.Content = []json.RawMessage{raw(said(string(structured)))}
	}
	if g.in(25) {
		failed := g.in(60)
		r.IsError = &failed
	}
	if g.in(8) {
		r.Meta = raw(object{"com.example/took": 0.5})
	}
	return r
}

// piece is a block of a tool result.
func (g *generator) piece() object {
	switch g.IntN(20) {
	case 0, 1:
		return g.image()
	case 2:
		return object{"type": "resource", "resource": object{"uri": "file:///notes.txt", "mimeType": "text/plain",
			"text": g.text()}}
	case 3:
		return object{"type": "resource_link", "uri": "https://example.com/a?b=c&d", "name": "a page"}
	case 4:
		return said(oneOf(&g.random, "", " ", "\n"))
	}
	return said(g.text())
}

// answer is what the model says to a request.
func (g *generator) answer(params object, tools []tool, mayUse, mayFail bool) *Answer {
	a := &Answer{}
	if g.in(15) {
		a.Split = oneOf(&g.random, "random", "random", "random", "bytes")
	}
	choice := choiceOf(params)
	switch {
	case mayFail && g.in(10):
		return &Answer{Status: oneOf(&g.random, 400, 429, 500)}
	case tools != nil && (choice == "required" || choice == "auto" && mayUse && g.in(70)):
		if g.in(30) {
			a.Content = append(a.Content, Block{Type: "text", Text: g.text()})
		}
		for range oneOf(&g.random, 1, 1, 2, 3) {
			t := &tools[g.IntN(len(tools))]
			a.Content = append(a.Content, Block{Type: "tool_use", Name: t.name, Input: raw(t.use(&g.random))})
		}
		return a
	case g.in(4):
		return a // It says nothing.
	}
	a.Content = []Block{{Type: "text", Text: g.text()}}
	reasons := []string{"", "", "", "", "", "", "maxTokens", "refusal", "contentFilter"}
	if list, _ := params["stopSequences"].([]string); len(list) > 0 {
		reasons = append(reasons, "stopSequence", "stopSequence")
	}
	a.StopReason = oneOf(&g.random, reasons...)
	return a
}

// round answers the tool uses of an answer, and may change the request.
func (g *generator) round(params object, before *Answer, more bool) Round {
	r := Round{Reverse: g.in(20)}
	for range before.Uses() {
		r.Results = append(r.Results, g.result())
	}
	change := map[string]json.RawMessage{}
	switch choice := choiceOf(params); {
	case choice == "required" && (!more || g.in(70)):
		change["toolChoice"] = raw(object{"mode": oneOf(&g.random, "auto", "none")})
	case choice == "auto" && !more && g.in(20):
		change["toolChoice"] = raw(object{"mode": "none"})
	case choice == "auto" && g.in(8):
		change["toolChoice"] = raw(object{"mode": "required"})
	}
	if g.in(15) {
		change["maxTokens"] = raw(oneOf(&g.random, 50, 2000))
	}
	if len(change) > 0 {
		r.Params = change
	}
	return r
}
