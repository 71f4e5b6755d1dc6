package openai

import (
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
	return string(body.Object("stream_options").Raw("include_usage")) == "true"
}

// delta is a delta. The role may be its last member; finishes adds the finish reason beside it.
type delta struct {
	*said
	roleLast, finishes bool
}

// filterResults is the chunk in which Azure says what its filter found in the prompt.
const filterResults = `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":` +
	`[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}` + "\n\n"

// stream returns the events, each with a blank line. late sends the last call delta after the finish reason.
func (c *completion) stream(withUsage, late bool) [][]byte {
	deltas := c.deltas(late)
	var all events
	all.text.Grow(300 * len(deltas))
	if c.style.isRouter {
		all.add(": OPENROUTER PROCESSING\n\n")
		all.add(": OPENROUTER PROCESSING\n\n")
	}
	if c.form&dialect.FilterFirst != 0 {
		all.add(filterResults)
	}
	answer := c.head()
	for i, d := range deltas {
		if c.form&dialect.KeptAlive != 0 {
			all.add(": keep-alive\n\n")
		}
		c.fill(&answer, d, i == 0, withUsage)
		all.addJSON("data: ", &answer)
	}
	if withUsage && !c.style.joinedFinish {
		all.addJSON("data: ", c.usageChunk())
	}
	if c.form&dialect.WithoutDone == 0 {
		all.add("data: [DONE]\n\n")
	}
	return all.each()
}

// head returns the members that all chunks have.
func (c *completion) head() chunk {
	head := chunk{ID: c.id, Object: "chat.completion.chunk", Created: c.created, Model: c.model,
		Fingerprint: c.fingerprint()}
	switch {
	case c.style.isOpenAI:
		head.Tier = "default"
	case c.style.isRouter:
		head.Provider = providerName
	}
	return head
}

// fill makes a chunk that of a delta.
func (c *completion) fill(answer *chunk, d delta, first, withUsage bool) {
	var wire any = d.said
	if d.roleLast {
		wire = struct {
			*said
			Role string `json:"role"`
		}{d.said, "assistant"}
	}
	answer.Choices = []choice{c.choice(nil, wire, d.finishes)}
	answer.Groq, answer.Usage = nil, nil
	switch s := c.style; {
	case d.finishes && s.joinedFinish:
		answer.Usage = c.usage
	case d.finishes && s.isGroq:
		answer.Groq, answer.Usage = &groq{ID: c.requestID, Usage: c.usage}, c.usage
	case s.isGroq && first:
		answer.Groq = &groq{ID: c.requestID, Seed: 1}
	case withUsage && s.isOpenAI:
		answer.Usage = null
	}
}

// usageChunk returns the event with the usage. OpenRouter finishes again in it, and Groq has its tier at the end.
func (c *completion) usageChunk() any {
	answer := c.head()
	answer.Choices, answer.Usage = []choice{}, c.usage
	switch {
	case c.style.isRouter:
		answer.Choices = append(answer.Choices, c.choice(nil, said{Role: "assistant", Content: ""}, true))
	case c.style.isGroq:
		return struct {
			chunk
			Tier string `json:"service_tier"`
		}{answer, "on_demand"}
	}
	return answer
}

// deltas returns the deltas. late holds the last one of a call back until after the finish reason.
func (c *completion) deltas(late bool) []delta {
	s, calls := c.style, c.callDeltas()
	deltas := slices.Concat(c.thoughtDeltas(), c.textDeltas(), calls)
	switch {
	case c.opensWithCall(late):
		deltas[0].Role, deltas[0].Content, deltas[0].Refusal = "assistant", null, null
	case s.joinedRole && len(deltas) > 0:
		deltas[0].roleLast = true
	default:
		deltas = slices.Insert(deltas, 0, delta{said: c.opening()})
	}
	var held []delta
	if late && len(calls) > 0 {
		last := len(deltas) - 1
		deltas, held = deltas[:last:last], deltas[last:]
	}
	switch {
	case (s.joinedFinish || c.endsBeside()) && len(calls) > 0 && len(held) == 0,
		c.endsBeside() && len(calls) == 0 && c.text != "":
		deltas[len(deltas)-1].finishes = true
	case s.joinedFinish || s.isRouter:
		deltas = append(deltas, delta{said: &said{Content: ""}, finishes: true})
	default:
		deltas = append(deltas, delta{said: &said{}, finishes: true})
	}
	return append(deltas, held...)
}

// thoughtDeltas are the thinking, before the text, in the member that the server has for it.
func (c *completion) thoughtDeltas() (all []delta) {
	for _, fragment := range dialect.Fragments(c.thought) {
		d := &said{}
		if c.style.reasoningIn == inContent {
			d.Content = []thinkingPart{mistralThinking(fragment, false)}
		} else {
			c.think(d, fragment)
		}
		all = append(all, delta{said: d})
	}
	return all
}

func (c *completion) endsBeside() bool { return c.form&dialect.EndBesideFinish != 0 }

func (c *completion) textDeltas() (all []delta) {
	for _, fragment := range dialect.Fragments(c.text + c.refusal) {
		d := &said{Content: fragment}
		if c.refuses {
			d = &said{Refusal: fragment}
		}
		all = append(all, delta{said: d})
	}
	return all
}

// opensWithCall reports whether the first chunk opens a call, as OpenAI does for a single call without text.
func (c *completion) opensWithCall(late bool) bool {
	return c.style.isOpenAI && c.text == "" && !c.refuses && len(c.calls) == 1 && !late
}

func (c *completion) opening() *said {
	opening := &said{Role: "assistant", Content: ""}
	switch {
	case c.style.bareRole:
		opening.Content = nil
	case !c.style.isOpenAI:
	case c.refuses:
		opening.Content, opening.Refusal = null, ""
	case c.silent():
		opening.Content = null
	default:
		opening.Refusal = null
	}
	return opening
}

// callDeltas opens each call with id and name, and continues with its arguments, one call after the other unless they
// are [dialect.Interleaved]. Servers with whole calls use one delta for each call, or one for all.
func (c *completion) callDeltas() (deltas []delta) {
	if c.legacy {
		return c.functionCallDeltas()
	}
	pieces := make([][]call, len(c.calls))
	for i, whole := range c.calls {
		pieces[i] = c.callPieces(i+c.style.firstIndex, whole)
	}
	all := slices.Concat(pieces...)
	if c.form&dialect.Interleaved != 0 {
		all = inTurn(pieces)
	}
	if (c.style.joinedFinish || c.endsBeside()) && len(all) > 0 {
		return []delta{{said: &said{ToolCalls: all}}}
	}
	for i := range all {
		deltas = append(deltas, delta{said: &said{ToolCalls: all[i : i+1]}})
	}
	return deltas
}

func (c *completion) callPieces(index int, whole call) []call {
	s, opening := c.style, whole
	opening.Index = &index
	if s.untypedCalls {
		opening.Type = ""
	}
	if s.wholeCalls || c.endsBeside() {
		return []call{opening}
	}
	opening.Function.Arguments = ""
	pieces := []call{opening}
	var name *string
	if c.form&dialect.RepeatedNames != 0 {
		name = whole.Function.Name
	}
	fragments := dialect.Fragments(whole.Function.Arguments)
	if s.emptyArguments {
		fragments = slices.Insert(fragments, 0, "")
	}
	for _, fragment := range fragments {
		pieces = append(pieces, call{Index: &index, Function: called{name, fragment}})
	}
	return pieces
}

// functionCallDeltas are the deltas of the only legacy call.
func (c *completion) functionCallDeltas() (deltas []delta) {
	if len(c.calls) == 0 {
		return nil
	}
	whole := c.calls[0].Function
	deltas = []delta{{said: &said{FunctionCall: &called{Name: whole.Name}}}}
	for _, fragment := range dialect.Fragments(whole.Arguments) {
		deltas = append(deltas, delta{said: &said{FunctionCall: &called{Arguments: fragment}}})
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
