package openai

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// includeUsage reports whether a last chunk has the usage: on request, or always for some servers.
func (c *chat) includeUsage(req *dialect.Request) bool {
	if c.isRouter {
		return true
	}
	body, refused := dialect.Parsed(req, parse)
	if refused != nil {
		return false // a hand-made request
	}
	var options dialect.Members
	var include bool
	_ = body.Read("stream_options", &options)
	_ = options.Read("include_usage", &include)
	return include
}

// delta is the members of a delta; finishes adds the finish reason beside it.
type delta struct {
	members  []any
	finishes bool
}

// stream returns the events, each with a blank line. late sends the last call delta after the finish reason.
func (c *completion) stream(withUsage, late bool) [][]byte {
	s := c.style
	deltas, held := c.deltas(late)
	w := c.writer(withUsage)
	w.text = make([]byte, 0, (len(w.head)+128)*(len(deltas)+len(held)+1))
	w.events = make([][]byte, 0, len(deltas)+len(held)+4)
	if s.isRouter {
		w.raw(": OPENROUTER PROCESSING\n\n")
		w.raw(": OPENROUTER PROCESSING\n\n")
	}
	for _, d := range slices.Concat(deltas, held) {
		w.choice(d)
	}
	if withUsage && !s.joinedFinish {
		w.usage()
	}
	if c.form&dialect.WithoutDone == 0 {
		w.raw("data: [DONE]\n\n")
	}
	return w.events
}

// deltas returns the deltas up to the finish reason, and those after it.
func (c *completion) deltas(late bool) (deltas, held []delta) {
	s, calls := c.style, c.callDeltas()
	all := slices.Concat(c.thoughtDeltas(), c.textDeltas(), calls)
	switch {
	case c.opensWithCall(late):
		all[0] = slices.Concat([]any{"role", "assistant", "content", nil}, calls[0], []any{"refusal", nil})
	case s.joinedRole && len(all) > 0:
		all[0] = append(all[0], "role", "assistant")
	default:
		all = slices.Insert(all, 0, c.opening())
	}
	for _, members := range all {
		deltas = append(deltas, delta{members: members})
	}
	if late && len(calls) > 0 {
		last := len(deltas) - 1
		deltas, held = deltas[:last:last], deltas[last:]
	}
	switch {
	case s.joinedFinish && len(calls) > 0 && len(held) == 0:
		deltas[len(deltas)-1].finishes = true
	case c.form&dialect.TextBesideFinish != 0 && len(calls) == 0 && c.text != "":
		deltas[len(deltas)-1].finishes = true
	case s.joinedFinish || s.isRouter:
		deltas = append(deltas, delta{[]any{"content", ""}, true})
	default:
		deltas = append(deltas, delta{nil, true})
	}
	return deltas, held
}

// thoughtDeltas are the thinking, before the text, in the member that the server has for it.
func (c *completion) thoughtDeltas() (all [][]any) {
	for _, fragment := range dialect.Fragments(c.thought) {
		if c.style.reasoningIn == inContent {
			all = append(all, []any{"content", []json.RawMessage{thinkingPart(fragment, false)}})
			continue
		}
		all = append(all, c.thinking(fragment))
	}
	return all
}

func (c *completion) textDeltas() (all [][]any) {
	member := "content"
	if c.refuses {
		member = "refusal"
	}
	for _, fragment := range dialect.Fragments(c.text + c.refusal) {
		all = append(all, []any{member, fragment})
	}
	return all
}

// opensWithCall reports whether the first chunk opens a call, as OpenAI does for a single call without text.
func (c *completion) opensWithCall(late bool) bool {
	return c.style.isOpenAI && c.text == "" && !c.refuses && len(c.calls) == 1 && !late
}

func (c *completion) opening() []any {
	role := []any{"role", "assistant"}
	switch {
	case c.style.bareRole:
		return role
	case !c.style.isOpenAI:
		return append(role, "content", "")
	case c.refuses:
		return append(role, "content", nil, "refusal", "")
	case c.silent():
		return append(role, "content", nil)
	}
	return append(role, "content", "", "refusal", nil)
}

// callDeltas opens each call with id and name, and continues with its arguments, one call after the other unless they
// are [dialect.Interleaved]. Servers with whole calls use one delta for each call, or one for all.
func (c *completion) callDeltas() (deltas [][]any) {
	if c.legacy {
		return c.functionCallDeltas()
	}
	pieces := make([][]dialect.Pairs, len(c.calls))
	for i, call := range c.calls {
		pieces[i] = c.callPieces(i, call)
	}
	all := slices.Concat(pieces...)
	if c.form&dialect.Interleaved != 0 {
		all = inTurn(pieces)
	}
	if c.style.joinedFinish && len(all) > 0 {
		return [][]any{{"tool_calls", all}}
	}
	for _, piece := range all {
		deltas = append(deltas, []any{"tool_calls", []dialect.Pairs{piece}})
	}
	return deltas
}

func (c *completion) callPieces(i int, call call) []dialect.Pairs {
	s := c.style
	index := i + s.firstIndex
	var kind any = "function"
	if s.untypedCalls {
		kind = dialect.Absent
	}
	opening := func(arguments string) dialect.Pairs {
		return dialect.Pairs{"index", index, "id", call.id, "type", kind,
			"function", dialect.Pairs{"name", call.name, "arguments", arguments}}
	}
	if s.wholeCalls {
		return []dialect.Pairs{opening(call.arguments)}
	}
	pieces := []dialect.Pairs{opening("")}
	var name any = dialect.Absent
	if c.form&dialect.RepeatedNames != 0 {
		name = call.name
	}
	fragments := dialect.Fragments(call.arguments)
	if s.emptyArguments {
		fragments = slices.Insert(fragments, 0, "")
	}
	for _, fragment := range fragments {
		pieces = append(pieces, dialect.Pairs{"index", index,
			"function", dialect.Pairs{"name", name, "arguments", fragment}})
	}
	return pieces
}

// functionCallDeltas are the deltas of the only legacy call.
func (c *completion) functionCallDeltas() (deltas [][]any) {
	if len(c.calls) == 0 {
		return nil
	}
	deltas = [][]any{{"function_call", dialect.Pairs{"name", c.calls[0].name, "arguments", ""}}}
	for _, fragment := range dialect.Fragments(c.calls[0].arguments) {
		deltas = append(deltas, []any{"function_call", dialect.Pairs{"arguments", fragment}})
	}
	return deltas
}

// inTurn returns the first piece of each list, then the second of each, and so on.
func inTurn[T any](lists [][]T) []T {
	var pieces []T
	for n := 0; ; n++ {
		before := len(pieces)
		for _, list := range lists {
			if n < len(list) {
				pieces = append(pieces, list[n])
			}
		}
		if len(pieces) == before {
			return pieces
		}
	}
}
