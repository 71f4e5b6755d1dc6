// Package malformed generates sampling requests that break the protocol. The ways to break a request belong here, as
// edits of a JSON tree. Sending, judging and shrinking them does not.
package malformed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type (
	node  = jsonvalue.Node
	place = jsonvalue.Place
)

var (
	parse  = jsonvalue.Parse
	must   = jsonvalue.Must
	quoted = jsonvalue.Quote
	places = jsonvalue.Places
)

// Frame is one generated request.
type Frame struct {
	// Params are the params of sampling/createMessage. All bytes but [Conversation] are sent unchanged.
	Params json.RawMessage
	// Broken says where and how the request is broken.
	Broken string
	// Tools is true if the request needs a client that declares sampling.tools.
	Tools bool
}

// MarkPlaceholder is replaced with the word by which the model tells conversations apart.
const MarkPlaceholder = "CONVERSATION"

// Generate returns the n-th frame of a seed for a revision. Equal arguments give equal frames.
func Generate(revision string, seed int64, n int) Frame {
	r := seeded(seed, n)
	for {
		request := request(r, server.Revision(revision).HasSamplingTools())
		broken := r.breakOne(request)
		if r.IntN(4) == 0 {
			broken += ", and " + r.breakOne(request)
		}
		if raw := request.Bytes(); json.Valid(raw) {
			f := frame(request, raw)
			f.Broken = broken
			return f
		}
	}
}

// NewFrame returns the frame with these params. It returns an error if they are not JSON.
func NewFrame(params []byte) (Frame, error) {
	n, err := parse(params)
	if err != nil {
		return Frame{}, fmt.Errorf("params: %w", err)
	}
	return frame(n, params), nil
}

func frame(n *node, raw []byte) Frame {
	f := Frame{Params: raw}
	for _, name := range n.Names {
		f.Tools = f.Tools || name == "tools" || name == "toolChoice"
	}
	return f
}

// request returns a valid request with a random choice of members.
func request(r *random, tools bool) *node {
	p := must(`{"messages":[],"maxTokens":1000}`)
	messages := p.Items[0]
	say := func(role string, blocks ...*node) {
		m := must(`{"role":"` + role + `"}`)
		content := &node{Kind: '[', Items: blocks}
		if !tools || len(blocks) == 1 && r.half() {
			content = blocks[len(blocks)-1]
		}
		m.Add("content", content)
		messages.Items = append(messages.Items, m)
	}
	if tools && r.half() {
		say("user", must(`{"type":"text","text":"Is it warm in Oslo?"}`))
		say("assistant", must(`{"type":"tool_use","id":"use-1","name":"get_weather","input":{"city":"Oslo"}}`))
		say("user", must(`{"type":"tool_result","toolUseId":"use-1","content":[{"type":"text","text":"windy"}],`+
			`"isError":false}`))
		say("assistant", must(`{"type":"text","text":"It is windy."}`))
	} else if r.half() {
		say("user", must(`{"type":"text","text":"Good day."}`))
		say("assistant", must(`{"type":"text","text":"Good day to you."}`))
	}
	blocks := []*node{must(`{"type":"text","text":"Which colour is the sky? (conversation ` + MarkPlaceholder + `)"}`)}
	if r.half() {
		blocks = append([]*node{must(r.one(
			`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}`,
			`{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}`))}, blocks...)
	}
	say("user", blocks...)
	p.Add("systemPrompt", must(quoted("You are a helpful assistant. (conversation "+MarkPlaceholder+")")))
	type member struct{ name, value string }
	optional := []member{
		{"temperature", "0.5"}, {"stopSequences", `["END"]`}, {"includeContext", `"none"`},
		{"metadata", `{"user":"nobody"}`}, {"_meta", `{"com.example/trace":"t"}`},
		{"modelPreferences", `{"hints":[{"name":"small"}],"costPriority":0.5,"speedPriority":0.2,` +
			`"intelligencePriority":0.1}`},
	}
	if tools {
		optional = append(optional, member{"tools", `[{"name":"get_weather","description":"Current weather in a city",` +
			`"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`},
			member{"toolChoice", `{"mode":"auto"}`})
	}
	for _, o := range optional {
		if r.half() {
			p.Add(o.name, must(o.value))
		}
	}
	return p
}

// random is a source of random choices.
type random struct{ *rand.Rand }

func seeded(seed int64, n int) *random {
	return &random{rand.New(rand.NewPCG(uint64(seed), uint64(n)))}
}

func (r *random) half() bool                   { return r.IntN(2) == 0 }
func (r *random) one(choices ...string) string { return choices[r.IntN(len(choices))] }

// breakOne breaks one value and says how. It first chooses the way, then a place where it is possible.
func (r *random) breakOne(request *node) string {
	for {
		way := ways[r.IntN(len(ways))]
		all := slices.DeleteFunc(places(request, ""), func(p place) bool {
			return strings.Count(p.Path, "[") > 8 // inside of what deepen has added
		})
		if len(all) == 0 {
			return "the request is empty"
		}
		for _, i := range r.Perm(len(all)) {
			path := all[i].Path
			if how := way(r, &all[i]); how != "" {
				return path + " " + how
			}
		}
	}
}

// ways change a value and say how; "" if the change is not possible there.
var ways = []func(*random, *place) string{
	drop, wrongType, null, unknownWord, nest, deepen, badBase64, oddNumber, twice, oddText, empty, repeat, stranger,
}

func drop(_ *random, p *place) string {
	p.Holder.Remove(p.I)
	return "is missing"
}

func wrongType(r *random, p *place) string {
	raw := WrongType(r.Rand, p.Value().Type())
	p.Replace(must(raw))
	return "is " + raw
}

// WrongType returns a JSON value that has none of the types and is not null.
func WrongType(r *rand.Rand, types ...string) string {
	for {
		raw := (&random{r}).one(`7`, `"seven"`, `true`, `{"seven":7}`, `["seven"]`)
		if !slices.Contains(types, must(raw).Type()) {
			return raw
		}
	}
}

func null(_ *random, p *place) string {
	p.Replace(must("null"))
	return "is null"
}

// words are the members whose values are from a short list.
var words = []string{"role", "type", "mode", "includeContext", "mimeType"}

func unknownWord(r *random, p *place) string {
	if !slices.Contains(words, p.Name()) || p.Value().Type() != "string" {
		return ""
	}
	word := quoted(r.one("system", "tool", "video", "USER", "Text", "toString", "__proto__", " "))
	p.Replace(must(word))
	return "is " + word
}

func nest(r *random, p *place) string {
	if r.half() {
		p.Replace(&node{Kind: '[', Items: []*node{p.Value()}})
		return "is in an array"
	}
	p.Replace(&node{Kind: '{', Names: []string{"value"}, Items: []*node{p.Value()}})
	return "is in an object"
}

func deepen(r *random, p *place) string {
	depth := 20 << r.IntN(6) // 640 at most
	n := p.Value()
	for range depth {
		n = &node{Kind: '[', Items: []*node{n}}
	}
	p.Replace(n)
	return fmt.Sprintf("is in %d arrays", depth)
}

func badBase64(r *random, p *place) string {
	if p.Name() != "data" {
		return ""
	}
	data := quoted(r.one("not base64!", "====", "iVBOR", "aGVsbG8", "{}", "data:image/png;base64,iVBORw0KGgo="))
	p.Replace(must(data))
	return "is " + data
}

func oddNumber(r *random, p *place) string {
	if p.Value().Type() != "number" {
		return ""
	}
	number := r.one("-1", "0", "-0", "0.5", "1e3", "1e400", "-1e400", "1e999999", "9007199254740993", "2147483648",
		"18446744073709551616", strings.Repeat("9", 400))
	p.Replace(must(number))
	return "is " + clip(number)
}

func twice(r *random, p *place) string {
	if p.Holder.Kind != '{' {
		return ""
	}
	second := must(WrongType(r.Rand, "none"))
	if r.half() {
		second = p.Value().Clone()
	}
	p.Holder.Add(p.Name(), second)
	return "occurs twice, the second time as " + clip(string(second.Bytes()))
}

func oddText(r *random, p *place) string {
	if p.Value().Type() != "string" {
		return ""
	}
	text := r.one(`"\ud800"`, `"\udc00\ud800"`, `"a\u0000b"`, `"\u2028\u2029"`, `"\ufeff"`, `"`+strings.Repeat(`\ud83d`,
		50)+`"`, quoted(strings.Repeat("x", 32<<10)), quoted("%s%n%x ${7*7} '; --"))
	p.Replace(&node{Text: text})
	return "is " + clip(text)
}

func empty(_ *random, p *place) string {
	raw, ok := map[string]string{"string": `""`, "array": "[]", "object": "{}"}[p.Value().Type()]
	if !ok {
		return ""
	}
	p.Replace(must(raw))
	return "is " + raw
}

func repeat(r *random, p *place) string {
	if p.Holder.Kind != '[' {
		return ""
	}
	times := 2 + r.IntN(200)
	for range times {
		p.Holder.Items = append(p.Holder.Items, p.Value().Clone())
	}
	return fmt.Sprintf("is repeated %d times", times)
}

func stranger(r *random, p *place) string {
	if p.Value().Kind != '{' {
		return ""
	}
	name := r.one("__proto__", "constructor", "", "jsonrpc", "type ", "\u0000")
	p.Value().Add(name, must(`{"toString":null}`))
	return fmt.Sprintf("has a member %q", name)
}

// clip shortens a quoted text to 60 characters.
func clip(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
