package openai

import (
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// includeUsage reports whether a last chunk has the usage: on request, or always for some servers.
func (c *chat) includeUsage(req *dialect.Request) bool {
	if c.usageAnyway {
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

// delta is the JSON of a delta; finishes adds the finish reason beside it.
type delta struct {
	json     string
	finishes bool
}

// stream returns the events, each with a blank line. late sends the last call delta after the finish reason.
func (c *completion) stream(withUsage, late bool) [][]byte {
	s := c.style
	deltas, held := c.deltas(late)
	w := c.writer(withUsage, len(deltas)+len(held)+2)
	if s.comments {
		w.raw(": OPENROUTER PROCESSING\n\n")
		w.raw(": OPENROUTER PROCESSING\n\n")
	}
	for _, d := range slices.Concat(deltas, held) {
		w.choice(d)
	}
	if withUsage && !s.joinedFinish {
		w.usage()
	}
	w.raw("data: [DONE]\n\n")
	return w.events()
}

// deltas returns the deltas up to the finish reason, and those after it.
func (c *completion) deltas(late bool) (deltas, held []delta) {
	s, calls := c.style, c.callDeltas()
	all := slices.Concat(c.textDeltas(), calls)
	switch {
	case c.opensWithCall(late):
		all[0] = `{"role":"assistant","content":null,` + calls[0][1:len(calls[0])-1] + `,"refusal":null}`
	case s.joinedRole && len(all) > 0:
		all[0] = all[0][:len(all[0])-1] + `,"role":"assistant"}`
	default:
		all = slices.Insert(all, 0, c.opening())
	}
	deltas = make([]delta, len(all), len(all)+1)
	for i, json := range all {
		deltas[i].json = json
	}
	if late && len(calls) > 0 {
		last := len(deltas) - 1
		deltas, held = deltas[:last:last], deltas[last:]
	}
	switch {
	case s.joinedFinish && len(calls) > 0 && len(held) == 0:
		deltas[len(deltas)-1].finishes = true
	case s.joinedFinish || s.repeatedFinish:
		deltas = append(deltas, delta{`{"content":""}`, true})
	default:
		deltas = append(deltas, delta{`{}`, true})
	}
	return deltas, held
}

func (c *completion) textDeltas() []string {
	member := `{"content":`
	if c.refuses {
		member = `{"refusal":`
	}
	fragments := dialect.Fragments(c.text + c.refusal)
	texts := make([]string, len(fragments))
	for i, fragment := range fragments {
		var buffer [128]byte
		texts[i] = string(append(dialect.AppendText(append(buffer[:0], member...), fragment), '}'))
	}
	return texts
}

// opensWithCall reports whether the first chunk opens a call, as OpenAI does for a single call without text.
func (c *completion) opensWithCall(late bool) bool {
	return c.style.isOpenAI && c.text == "" && !c.refuses && len(c.calls) == 1 && !late
}

func (c *completion) opening() string {
	switch {
	case c.style.bareRole:
		return `{"role":"assistant"}`
	case !c.style.isOpenAI:
		return `{"role":"assistant","content":""}`
	case c.refuses:
		return `{"role":"assistant","content":null,"refusal":""}`
	case c.silent():
		return `{"role":"assistant","content":null}`
	}
	return `{"role":"assistant","content":"","refusal":null}`
}

// callDeltas opens each call with id and name, and continues with its arguments, one call after the other. Servers with
// whole calls use one delta for each call, or one for all.
func (c *completion) callDeltas() []string {
	s := c.style
	var deltas []string
	for i, call := range c.calls {
		index := strconv.Itoa(i + s.firstIndex)
		head := `{"tool_calls":[{"index":` + index
		kind := `,"type":"function"`
		if s.untypedCalls {
			kind = ""
		}
		opening := head + `,"id":` + quote(call.id) + kind + `,"function":{"name":` + quote(call.name) + `,"arguments":`
		if s.wholeCalls {
			deltas = append(deltas, opening+quote(call.arguments)+`}}]}`)
			continue
		}
		deltas = append(deltas, opening+`""}}]}`)
		fragments := dialect.Fragments(call.arguments)
		if s.emptyArguments {
			fragments = slices.Insert(fragments, 0, "")
		}
		for _, fragment := range fragments {
			deltas = append(deltas, head+`,"function":{"arguments":`+quote(fragment)+`}}]}`)
		}
	}
	if s.joinedFinish && len(deltas) > 1 {
		all := deltas[0][:len(deltas[0])-len(`]}`)]
		for _, d := range deltas[1:] {
			all += "," + d[len(`{"tool_calls":[`):len(d)-len(`]}`)]
		}
		deltas = []string{all + `]}`}
	}
	return deltas
}

func quote(s string) string { return string(dialect.AppendText([]byte(nil), s)) }
