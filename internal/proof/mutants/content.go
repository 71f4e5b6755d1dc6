package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var (
	text    = jsonvalue.TextIn
	ofType  = jsonvalue.OfType
	marshal = jsonvalue.Marshal
)

// just returns an edit that is the same on every wire. It is not inlined: each of its 350 calls would get a closure and
// an empty Edit of its own, 240 KB in the command.
//
//go:noinline
func just(e Edit) func(*Wire) Edit { return func(*Wire) Edit { return e } }

func params(f func(object)) func(*Wire) Edit           { return just(Edit{Params: f}) }
func result(f func(object)) func(*Wire) Edit           { return just(Edit{Result: f}) }
func response(f func(object)) func(*Wire) Edit         { return just(Edit{Response: f}) }
func request(f func(object)) func(*Wire) Edit          { return just(Edit{ModelRequest: f}) }
func reply(f func([]object) []object) func(*Wire) Edit { return just(Edit{ModelReply: f}) }
func asked(f func(*Sample)) func(*Wire) Edit           { return just(Edit{Asked: f}) }
func answered(f func(*Sample)) func(*Wire) Edit        { return just(Edit{Answered: f}) }
func out(f func(*Message)) func(*Wire) Edit            { return just(Edit{Out: f}) }
func in(f func(*Message)) func(*Wire) Edit             { return just(Edit{In: f}) }

func eachItem(list any, f func(object)) {
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			f(o)
		}
	}
}

func eachMessage(f func(m object)) func(object) {
	return func(params object) { eachItem(params["messages"], f) }
}

// eachBlock edits each block of a type, in the messages of the params.
func eachBlock(kind string, f func(b object)) func(object) {
	return eachMessage(func(m object) {
		for _, b := range ofType(m["content"], kind) {
			f(b)
		}
	})
}

func eachTool(f func(tool object)) func(object) {
	return func(p object) { eachItem(p["tools"], f) }
}

func eachText(f func(b object)) func(object) {
	return func(r object) {
		for _, b := range ofType(r["content"], "text") {
			f(b)
		}
	}
}

func eachUse(f func(i int, use object)) func(object) {
	return func(r object) {
		for i, use := range ofType(r["content"], "tool_use") {
			f(i, use)
		}
	}
}

// keep leaves at most n blocks of a type in the content of a message or a result.
func keep(holder object, kind string, n int) {
	drop(holder, func(b object) bool {
		if b["type"] == kind {
			n--
		}
		return b["type"] == kind && n < 0
	})
}

// drop removes blocks from the content of a message or a result.
func drop(holder object, unwanted func(b object) bool) {
	blocks, err := jsonvalue.Blocks(holder["content"])
	if err != nil {
		return
	}
	kept := []any{}
	for _, b := range blocks {
		if !unwanted(b) {
			kept = append(kept, b)
		}
	}
	if len(kept) < len(blocks) {
		holder["content"] = kept
	}
}

// keepLast leaves the last item of an array that meets a condition, and all that do not.
func keepLast(list []any, is func(o object) bool) []any {
	last := -1
	for i, item := range list {
		if o, ok := item.(object); ok && is(o) {
			last = i
		}
	}
	kept := []any{}
	for i, item := range list {
		if o, ok := item.(object); i == last || !ok || !is(o) {
			kept = append(kept, item)
		}
	}
	return kept
}

// said joins the texts of a result or a message.
func said(holder object) string {
	joined := ""
	for _, b := range ofType(holder["content"], "text") {
		joined += text(b, "text")
	}
	return joined
}

func ids(message object, kind, member string) []string {
	var all []string
	for _, b := range ofType(message["content"], kind) {
		all = append(all, text(b, member))
	}
	return all
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// viaFloat64 reads every number as a float64, as careless JSON code does: 9007199254740993 becomes …992.
func viaFloat64(v any) any {
	var careless any
	if err := json.Unmarshal(marshal(v), &careless); err != nil {
		panic(fmt.Sprintf("mutants: %v", err))
	}
	return careless
}

func dropTextBesideUse(r object) {
	if len(ofType(r["content"], "tool_use")) > 0 {
		keep(r, "text", 0)
	}
}

// choosing changes one mode of the tool choice to another; "" is a choice without a mode.
func choosing(from, to string) func(object) {
	return func(p object) {
		if choice, ok := p["toolChoice"].(object); ok && text(choice, "mode") == from {
			choice["mode"] = to
		}
	}
}

// history edits the params between the client's own check and the model. It is for an edit that a correct client would
// refuse, since it leaves a tool use without its result.
func history(f func(object)) func(*Wire) Edit {
	return sampling(func(w *Wire, next client.Handler) client.Handler {
		return func(ctx context.Context, params object) (object, error) {
			edited := copyOf(params)
			if f(edited); !reflect.DeepEqual(edited, params) {
				w.Fire()
			}
			return next(ctx, edited)
		}
	})
}

func sampling(f func(w *Wire, next client.Handler) client.Handler) func(*Wire) Edit {
	return just(Edit{Options: func(w *Wire, o *client.Options, _ *model.Options) { o.Sampling = f(w, o.Sampling) }})
}

func withholds(which func(s *Sample) bool) func(*Wire) Edit {
	return asked(func(s *Sample) {
		if which(s) {
			s.Withhold()
		}
	})
}

// refuses answers requests with an internal error that the client would have passed to the model.
func refuses(which func(s *Sample) bool) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Asked: func(s *Sample) {
			if which(s) && w.Serves(s.Asked) {
				s.Refuse(codeInternal, "broken on purpose: refuses this")
			}
		}}
	}
}

// set and unset edit members of an object.
func set(name string, value any) func(object) { return func(o object) { o[name] = value } }

func unset(names ...string) func(object) {
	return func(o object) {
		for _, name := range names {
			delete(o, name)
		}
	}
}
