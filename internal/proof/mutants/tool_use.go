package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var toolEdits = edits{
	"strict-open-schemas": request(eachTool(func(tool object) {
		if function, isChat := tool["function"].(object); isChat {
			function["strict"] = true
		}
	})),
	"end-turn-beside-use": result(func(r object) {
		eachUse(func(int, object) { r["stopReason"] = "endTurn" })(r)
	}),
	"input-as-text":   result(eachUse(func(_ int, use object) { use["input"] = string(marshal(use["input"])) })),
	"input-via-float": result(eachUse(func(_ int, use object) { use["input"] = viaFloat64(use["input"]) })),
	"cuts-long-input": result(eachUse(func(_ int, use object) {
		if input := member(use, "input"); len(text(input, "notes")) > 1000 {
			input["notes"] = text(input, "notes")[:1000] + "…"
		}
	})),
	"null-for-empty-input": result(eachUse(func(_ int, use object) {
		if input, ok := use["input"].(object); ok && len(input) == 0 {
			use["input"] = nil
		}
	})),
	"adds-text-beside-use": result(func(r object) {
		if blocks, ok := r["content"].([]any); ok {
			r["content"] = append([]any{object{"type": "text", "text": "Let me see."}}, blocks...)
		}
	}),
	"keeps-mapped-names": result(eachUse(func(_ int, use object) {
		use["name"] = strings.ReplaceAll(text(use, "name"), ".", "_")
	})),
	"drops-falsy-input": result(eachUse(func(_ int, use object) { use["input"] = without(isFalsy, use["input"]) })),
	"drops-null-arguments": result(eachUse(func(_ int, use object) {
		maps.DeleteFunc(member(use, "input"), func(_ string, v any) bool { return v == nil })
	})),
	"parses-texts-in-input":   parsesInput(func(any) bool { return true }),
	"parses-objects-in-input": parsesInput(func(v any) bool { _, is := v.(object); return is }),
	"revives-dates": result(eachUse(func(_ int, use object) {
		extras := member(member(use, "input"), "extras")
		if at, err := time.Parse(time.RFC3339, text(extras, "until")); err == nil {
			extras["until"] = at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	})),
	"drops-text-beside-use": result(dropTextBesideUse),
	"drops-use-beside-text": result(func(r object) {
		if len(ofType(r["content"], "text")) > 0 {
			keep(r, "tool_use", 0)
		}
	}),
	"ids-anew-each-turn":  result(eachUse(func(i int, use object) { use["id"] = fmt.Sprintf("call_%d", i+1) })),
	"drops-use-at-finish": reply(withoutAtFinish("tool_calls")),
	"drops-tools":         request(withoutTools),
	"drops-descriptions":  params(eachTool(unset("description"))),
	"simplifies-schemas":  params(eachTool(simplifySchema)),
	"at-most-40-tools":    params(atMostTools(40)),
	"at-most-64-tools":    params(atMostTools(64)),
	"adds-own-tools":      params(addsOwnTool),
	"refuses-over-40-tools": refuses(func(s *Sample) bool {
		tools, _ := s.Asked["tools"].([]any)
		return len(tools) > 40
	}),
	"choice-of-anthropic": just(Edit{ModelRequest: func(body object) {
		if body["tool_choice"] == "required" {
			body["tool_choice"] = "any"
		}
	}}),
	"refuses-calls-beside-stop": refusesCallsBesideStop,
	"runs-tools":                runsTools(true),
	"runs-unoffered-tools":      runsTools(false),
	"auto-as-required":          params(choosing("auto", "required")),
	"required-as-auto":          params(choosing("required", "auto")),
	"none-as-auto": just(Edit{Params: choosing("none", "auto"), Answered: func(s *Sample) {
		choice := member(s.Asked, "toolChoice")
		if choice["mode"] != "none" || len(ofType(s.Result["content"], "tool_use")) == 0 {
			return
		}
		keep(s.Result, "tool_use", 0)
		delete(s.Result, "stopReason")
		if said(s.Result) == "" {
			s.Refuse(codeInternal, "the model used a tool")
		}
	}}),
	"ignores-none":         ignoresNone,
	"empty-choice-as-none": params(choosing("", "none")),
	"trusts-the-model":     trustsModel,
	"invents-tool-uses": answered(func(s *Sample) {
		choice := member(s.Asked, "toolChoice")
		if s.Result != nil && choice["mode"] == "required" && len(ofType(s.Result["content"], "tool_use")) == 0 {
			s.Result["content"] = []any{object{"type": "tool_use", "id": "call_0", "name": "book_flight",
				"input": object{}}}
			s.Result["stopReason"] = "toolUse"
		}
	}),
	"believes-stop": reply(func(chunks []object) []object {
		for _, c := range chunks {
			if c["stopReason"] == "endTurn" {
				keep(c, "tool_use", 0)
			}
		}
		if finish(chunks) == "stop" {
			eachDelta(chunks, unset("tool_calls"))
		}
		return chunks
	}),
	"empties-bad-arguments": reply(emptyBadArguments),
}

// runsTools calls the tools that the model wants on the server: all of them, or only those that nobody offered.
func runsTools(all bool) func(*Wire) Edit {
	return answered(func(s *Sample) {
		tools, _ := s.Asked["tools"].([]any)
		for _, use := range ofType(s.Result["content"], "tool_use") {
			offered := slices.ContainsFunc(tools, func(t any) bool {
				tool, _ := t.(object)
				return tool["name"] == use["name"]
			})
			if all || !offered {
				call := object{"name": use["name"], "arguments": use["input"]}
				if c := s.Wire.Call(); c != nil {
					call["_meta"] = c.Params["_meta"]
				}
				s.Wire.Request("tools/call", call)
			}
		}
	})
}

// refusesCallsBesideStop returns an error in place of tool uses that come with the finish reason stop.
func refusesCallsBesideStop(*Wire) Edit {
	var stopped atomic.Bool
	return Edit{
		ModelReply: func(chunks []object) []object {
			stopped.Store(finish(chunks) == "stop")
			return chunks
		},
		Answered: func(s *Sample) {
			if len(ofType(s.Result["content"], "tool_use")) > 0 && stopped.Load() {
				s.Refuse(codeInternal, "broken on purpose: unexpected tool calls")
			}
		},
	}
}

// without returns a value without the members that are unwanted, anywhere in it.
func without(unwanted func(any) bool, v any) any {
	if list, ok := v.([]any); ok {
		for i, item := range list {
			list[i] = without(unwanted, item)
		}
	}
	if o, ok := v.(object); ok {
		maps.DeleteFunc(o, func(_ string, v any) bool { return unwanted(v) })
		for name, inner := range o {
			o[name] = without(unwanted, inner)
		}
	}
	return v
}

func isFalsy(v any) bool { return v == nil || v == false || v == "" || v == json.Number("0") }

func isEmptyObject(v any) bool {
	o, ok := v.(object)
	return ok && len(o) == 0
}

// simplifySchema keeps the names and types of properties, and which are required.
func simplifySchema(t object) {
	schema := member(t, "inputSchema")
	simple := object{}
	for name, property := range member(schema, "properties") {
		if p, ok := property.(object); ok && p["type"] != nil {
			simple[name] = object{"type": p["type"]}
		}
	}
	t["inputSchema"] = object{"type": "object", "properties": simple}
	if required := schema["required"]; required != nil {
		t["inputSchema"].(object)["required"] = required
	}
}

func addsOwnTool(p object) {
	if tools, ok := p["tools"].([]any); ok {
		p["tools"] = append(tools, object{"name": "host_search", "description": "the host's own",
			"inputSchema": object{"type": "object", "properties": object{}}})
	}
}

// atMostTools drops the tools of the params after the first n.
func atMostTools(n int) func(object) {
	return func(p object) {
		if tools, _ := p["tools"].([]any); len(tools) > n {
			p["tools"] = tools[:n]
		}
	}
}

// markerTool is a tool that the wire offers to the client and removes from the request to the model: the client then
// accepts tool uses that are not allowed.
const markerTool = "mutant_allows_tools"

// trustsModel offers the client a tool where the request allows none. The model gets the request as it was.
func trustsModel(w *Wire) Edit {
	marker := object{"name": markerTool, "inputSchema": object{"type": "object"}}
	return Edit{
		Params: func(p object) {
			tools, _ := p["tools"].([]any)
			if !w.Declares(object{"tools": tools}) {
				return
			}
			if member(p, "toolChoice")["mode"] == "none" {
				p["toolChoice"] = object{"mode": "required"} // which every provider with a choice has a word for
				p["tools"] = append(slices.Clip(tools), marker)
			} else if len(tools) == 0 {
				p["tools"] = []any{marker}
			}
		},
		ModelRequest: restoreNone,
	}
}

// ignoresNone changes the tool choice none to auto, and trusts the model too.
func ignoresNone(w *Wire) Edit {
	e := trustsModel(w)
	trusts := e.Params
	e.Params = func(p object) {
		choosing("none", "auto")(p)
		trusts(p)
	}
	return e
}

func withoutTools(body object) {
	for _, name := range []string{"tools", "tool_choice", "toolChoice", "toolConfig"} {
		delete(body, name)
	}
}

// restoreNone removes the marker from a request to the model. If other tools are left, the tool choice was none.
func restoreNone(body object) {
	holder, member := body, "tools"
	tools, _ := body["tools"].([]any)
	if outer, ok := first(tools)["functionDeclarations"].([]any); ok { // Gemini
		holder, member, tools = first(tools), "functionDeclarations", outer
	}
	kept := slices.DeleteFunc(slices.Clone(tools), func(item any) bool {
		return bytes.Contains(marshal(item), []byte(markerTool))
	})
	if len(kept) == len(tools) {
		return
	}
	holder[member] = kept
	_, isOllama := body["options"] // which has no tool choice: no tools are offered
	if len(kept) == 0 || isOllama {
		withoutTools(body)
		return
	}
	none := object{ // by the member with the tool choice
		"toolConfig":  object{"functionCallingConfig": object{"mode": "NONE"}},
		"toolChoice":  object{"mode": "none"},
		"tool_choice": "none",
	}
	switch choice := body["tool_choice"].(type) {
	case object: // Anthropic
		none["tool_choice"] = object{"type": "none"}
	case string:
		if choice == "REQUIRED" { // Cohere
			none["tool_choice"] = "NONE"
		}
	}
	for name, choice := range none {
		if body[name] != nil {
			body[name] = choice
		}
	}
}

// first returns the first item of an array as an object; an empty one if it is not.
func first(list []any) object {
	if len(list) > 0 {
		if o, ok := list[0].(object); ok {
			return o
		}
	}
	return object{}
}

// eachDelta calls f with each message or delta in the chunks of a chat completion.
func eachDelta(chunks []object, f func(d object)) {
	for _, c := range chunks {
		eachItem(c["choices"], func(choice object) {
			for _, name := range []string{"message", "delta"} {
				if d, ok := choice[name].(object); ok {
					f(d)
				}
			}
		})
	}
}

// finish is the finish reason of a chat completion; "" for none.
func finish(chunks []object) string {
	reason := ""
	for _, c := range chunks {
		eachItem(c["choices"], func(choice object) {
			if r := text(choice, "finish_reason"); r != "" {
				reason = r
			}
		})
	}
	return reason
}

// emptyBadArguments replaces the arguments of tool calls that are not a JSON object with {}.
func emptyBadArguments(chunks []object) []object {
	joined, begun := map[string]string{}, map[string]object{}
	each := func(f func(index string, function object)) {
		eachDelta(chunks, func(d object) {
			calls, _ := d["tool_calls"].([]any)
			for i, item := range calls {
				call, _ := item.(object)
				index := fmt.Sprint(i)
				if call["index"] != nil {
					index = fmt.Sprint(call["index"])
				}
				f(index, member(call, "function"))
			}
		})
	}
	each(func(index string, function object) {
		joined[index] += text(function, "arguments")
		if begun[index] == nil {
			begun[index] = function
		}
	})
	each(func(index string, function object) {
		if _, err := jsonvalue.ReadObject([]byte(joined[index])); err != nil && joined[index] != "" {
			delete(function, "arguments")
			begun[index]["arguments"] = "{}"
		}
	})
	for _, c := range chunks {
		for _, use := range ofType(c["content"], "tool_use") {
			if _, ok := use["input"].(object); !ok {
				use["input"] = object{}
			}
		}
	}
	return chunks
}

// parsesInput reads arguments that are texts of JSON.
func parsesInput(which func(parsed any) bool) func(*Wire) Edit {
	return result(eachUse(func(_ int, use object) {
		for name, v := range member(use, "input") {
			var parsed any
			if s, isText := v.(string); isText && json.Unmarshal([]byte(s), &parsed) == nil && which(parsed) {
				member(use, "input")[name] = parsed
			}
		}
	}))
}
