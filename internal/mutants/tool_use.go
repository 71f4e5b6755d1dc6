package mutants

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

var toolMutants = []Mutant{
	{Name: "end-turn-beside-use", Doc: "reports a tool use with the stop reason endTurn",
		Kills: []string{"tool-use/stop-reason-tooluse"}, edit: result(func(r map[string]any) {
			eachUse(func(int, map[string]any) { r["stopReason"] = "endTurn" })(r)
		})},
	{Name: "input-as-text", Doc: "returns the input of a tool use as a string of JSON",
		Kills: []string{"tool-use/tool-use-block"},
		edit:  result(eachUse(func(_ int, use map[string]any) { use["input"] = string(marshal(use["input"])) }))},
	{Name: "input-via-float", Doc: "rounds big integers in the input of a tool use",
		Kills: []string{"tool-use/input-intact"}, Except: geminiOnly,
		edit: result(eachUse(func(_ int, use map[string]any) { use["input"] = viaFloat64(use["input"]) }))},
	{Name: "cuts-long-input", Doc: "cuts long texts in the input of a tool use", Kills: []string{"tool-use/input-intact"},
		edit: result(eachUse(func(_ int, use map[string]any) {
			if input := member(use, "input"); len(text(input, "notes")) > 1000 {
				input["notes"] = text(input, "notes")[:1000] + "…"
			}
		}))},
	{Name: "null-for-empty-input", Doc: "returns a tool use without arguments with the input null",
		Kills: []string{"tool-use/tool-use-block"}, Also: []string{"tool-use/input-intact"},
		edit: result(eachUse(func(_ int, use map[string]any) {
			if input, ok := use["input"].(map[string]any); ok && len(input) == 0 {
				use["input"] = nil
			}
		}))},
	{Name: "drops-text-beside-use", Doc: "drops the model's text beside a tool use",
		Kills: []string{"tool-use/text-and-tool"}, edit: result(dropTextBesideUse)},
	{Name: "drops-use-beside-text", Doc: "drops a tool use beside the model's text",
		Kills: []string{"tool-use/text-and-tool"}, edit: result(func(r map[string]any) {
			if len(ofType(r["content"], "text")) > 0 {
				keep(r, "tool_use", 0)
			}
		})},
	{Name: "ids-anew-each-turn", Doc: "numbers the tool uses of each turn from 1 and uses the number as the id",
		Kills: []string{"tool-use/fresh-ids"}, Also: []string{"tool-use/id-minted", "tool-use/thought-signature"},
		edit: result(eachUse(func(i int, use map[string]any) { use["id"] = fmt.Sprintf("call_%d", i+1) }))},
	{Name: "drops-tools", Doc: "does not pass the tools to the model", Kills: []string{"tool-use/tools-reach-model"},
		Also: []string{"tool-use/many-tools"},
		edit: request(withoutTools)},
	{Name: "drops-descriptions", Doc: "passes the tools to the model without their descriptions",
		Kills: []string{"tool-use/tools-reach-model"},
		edit:  params(eachTool(func(t map[string]any) { delete(t, "description") }))},
	{Name: "simplifies-schemas", Doc: "keeps only the names and types of the properties of input schemas",
		Kills: []string{"tool-use/tools-reach-model"}, edit: params(eachTool(simplifySchema))},
	{Name: "at-most-40-tools", Doc: "offers the model 40 tools and silently drops the rest",
		Kills: []string{"tool-use/many-tools"}, edit: params(atMostTools(40))},
	{Name: "at-most-64-tools", Doc: "offers the model 64 tools and silently drops the rest",
		Kills: []string{"tool-use/many-tools"}, edit: params(atMostTools(64))},
	{Name: "adds-own-tools", Doc: "offers the model a tool of the host beside the tools of the request",
		Kills: []string{"tool-use/only-these-tools"}, edit: params(func(p map[string]any) {
			if tools, ok := p["tools"].([]any); ok {
				p["tools"] = append(tools, map[string]any{"name": "host_search", "description": "the host's own",
					"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}})
			}
		})},
	{Name: "runs-tools", Doc: "calls the tools that the model wants by itself",
		Kills: []string{"tool-use/not-executed", "tool-use/unoffered-tool"}, edit: runsTools(true)},
	{Name: "runs-unoffered-tools", Doc: "calls a tool that nobody offered, on any server that has it",
		Kills: []string{"tool-use/unoffered-tool"}, edit: runsTools(false)},
	{Name: "auto-as-required", Doc: "changes the tool choice auto to required", Kills: []string{"tool-use/choice-auto"},
		Except: ollamaOnly, edit: params(choosing("auto", "required"))},
	{Name: "required-as-auto", Doc: "changes the tool choice required to auto", Kills: []string{"tool-use/choice-required"},
		Except: ollamaOnly, edit: params(choosing("required", "auto"))},
	{Name: "none-as-auto", Doc: "changes the tool choice none to auto and drops the tool uses of the model",
		Kills: []string{"tool-use/choice-none"}, Except: ollamaOnly,
		edit: just(Edit{Params: choosing("none", "auto"), Answered: func(s *Sample) {
			if choice := member(s.Asked, "toolChoice"); choice["mode"] != "none" || len(ofType(s.Result["content"], "tool_use")) == 0 {
				return
			}
			keep(s.Result, "tool_use", 0)
			delete(s.Result, "stopReason")
			if said(s.Result) == "" {
				s.Refuse(codeInternal, "the model used a tool")
			}
		}})},
	{Name: "ignores-none", Doc: "changes the tool choice none to auto and returns the tool uses of the model",
		Kills: []string{"tool-use/choice-none", "tool-use/choice-none-holds", "loop/last-round-none"},
		Also:  []string{"tool-use/choice-none-filtered", "tool-use/no-tools-no-use"}, Except: ollamaOnly,
		edit: ignoresNone},
	{Name: "empty-choice-as-none", Doc: "reads a tool choice without a mode as none", Kills: []string{"tool-use/choice-empty"},
		Except: ollamaOnly, edit: params(choosing("", "none"))},
	{Name: "trusts-the-model", Doc: "returns tool uses that the request does not allow",
		Kills: []string{"tool-use/choice-none-filtered", "tool-use/no-tools-no-use"}, edit: trustsModel},
	{Name: "invents-tool-uses", Doc: "invents a tool use if one is required and the model makes none",
		Kills: []string{"tool-use/required-unmet"}, edit: answered(func(s *Sample) {
			choice := member(s.Asked, "toolChoice")
			if s.Result != nil && choice["mode"] == "required" && len(ofType(s.Result["content"], "tool_use")) == 0 {
				s.Result["content"] = []any{map[string]any{"type": "tool_use", "id": "call_0", "name": "book_flight",
					"input": map[string]any{}}}
				s.Result["stopReason"] = "toolUse"
			}
		})},
	{Name: "believes-stop", Doc: "ignores tool calls if the finish reason says that the model ended its turn",
		Kills: []string{"tool-use/stop-beside-calls"}, Dialects: []string{dialect.OpenAIChat, dialect.Native},
		edit: just(Edit{ModelReply: func(chunks []map[string]any) []map[string]any {
			for _, c := range chunks {
				if c["stopReason"] == "endTurn" {
					keep(c, "tool_use", 0)
				}
			}
			if finish(chunks) == "stop" {
				eachDelta(chunks, func(d map[string]any) { delete(d, "tool_calls") })
			}
			return chunks
		}})},
	{Name: "empties-bad-arguments", Doc: "replaces arguments that are not JSON with {}",
		Kills: []string{"tool-use/bad-arguments"}, Dialects: []string{dialect.OpenAIChat, dialect.Native},
		edit: just(Edit{ModelReply: emptyBadArguments})},
}

// runsTools calls the tools that the model wants on the server: all of them, or only those that nobody offered.
func runsTools(all bool) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Answered: func(s *Sample) {
			tools, _ := s.Asked["tools"].([]any)
			for _, use := range ofType(s.Result["content"], "tool_use") {
				offered := slices.ContainsFunc(tools, func(t any) bool {
					tool, _ := t.(map[string]any)
					return tool["name"] == use["name"]
				})
				if all || !offered {
					call := map[string]any{"name": use["name"], "arguments": use["input"]}
					if c := w.Call(); c != nil {
						call["_meta"] = c.Params["_meta"]
					}
					w.Request("tools/call", call)
				}
			}
		}}
	}
}

// simplifySchema keeps the names and types of properties, and which are required.
func simplifySchema(t map[string]any) {
	schema := member(t, "inputSchema")
	simple := map[string]any{}
	for name, property := range member(schema, "properties") {
		if p, ok := property.(map[string]any); ok && p["type"] != nil {
			simple[name] = map[string]any{"type": p["type"]}
		}
	}
	t["inputSchema"] = map[string]any{"type": "object", "properties": simple, "required": schema["required"]}
}

// atMostTools drops the tools of the params after the first n.
func atMostTools(n int) func(map[string]any) {
	return func(p map[string]any) {
		if tools, _ := p["tools"].([]any); len(tools) > n {
			p["tools"] = tools[:n]
		}
	}
}

// markerTool is a tool that the wire offers to the client and takes from the request to the model: the client then takes
// tool uses for allowed that are not.
const markerTool = "mutant_allows_tools"

// trustsModel offers the client a tool where the request allows none. The model gets the request as it was.
func trustsModel(w *Wire) Edit {
	marker := map[string]any{"name": markerTool, "inputSchema": map[string]any{"type": "object"}}
	return Edit{
		Params: func(p map[string]any) {
			tools, _ := p["tools"].([]any)
			if !w.Declares(map[string]any{"tools": tools}) {
				return
			}
			if member(p, "toolChoice")["mode"] == "none" {
				p["toolChoice"] = map[string]any{"mode": "auto"}
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
	e.Params = func(p map[string]any) {
		choosing("none", "auto")(p)
		trusts(p)
	}
	return e
}

// withoutTools removes the tools and the tool choice from a request to the model.
func withoutTools(body map[string]any) {
	for _, name := range []string{"tools", "tool_choice", "toolChoice", "toolConfig"} {
		delete(body, name)
	}
}

// restoreNone removes the marker from a request to the model. If other tools are left, the tool choice was none.
func restoreNone(body map[string]any) {
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
	none := map[string]any{ // by the member with the tool choice
		"toolConfig":  map[string]any{"functionCallingConfig": map[string]any{"mode": "NONE"}},
		"toolChoice":  map[string]any{"mode": "none"},
		"tool_choice": "none",
	}
	if _, isAnthropic := body["tool_choice"].(map[string]any); isAnthropic {
		none["tool_choice"] = map[string]any{"type": "none"}
	}
	for name, choice := range none {
		if body[name] != nil {
			body[name] = choice
		}
	}
}

// first returns the first item of an array as an object; an empty one if it is not.
func first(list []any) map[string]any {
	if len(list) > 0 {
		if o, ok := list[0].(map[string]any); ok {
			return o
		}
	}
	return map[string]any{}
}

// eachDelta calls f with each message or delta in the chunks of a chat completion.
func eachDelta(chunks []map[string]any, f func(d map[string]any)) {
	for _, c := range chunks {
		eachItem(c["choices"], func(choice map[string]any) {
			for _, name := range []string{"message", "delta"} {
				if d, ok := choice[name].(map[string]any); ok {
					f(d)
				}
			}
		})
	}
}

// finish is the finish reason of a chat completion; "" if there is none.
func finish(chunks []map[string]any) string {
	reason := ""
	for _, c := range chunks {
		eachItem(c["choices"], func(choice map[string]any) {
			if r := text(choice, "finish_reason"); r != "" {
				reason = r
			}
		})
	}
	return reason
}

// emptyBadArguments replaces the arguments of tool calls that are not a JSON object with {}.
func emptyBadArguments(chunks []map[string]any) []map[string]any {
	joined, begun := map[string]string{}, map[string]map[string]any{}
	each := func(f func(index string, function map[string]any)) {
		eachDelta(chunks, func(d map[string]any) {
			calls, _ := d["tool_calls"].([]any)
			for i, item := range calls {
				call, _ := item.(map[string]any)
				index := fmt.Sprint(i)
				if call["index"] != nil {
					index = fmt.Sprint(call["index"])
				}
				f(index, member(call, "function"))
			}
		})
	}
	each(func(index string, function map[string]any) {
		joined[index] += text(function, "arguments")
		if begun[index] == nil {
			begun[index] = function
		}
	})
	each(func(index string, function map[string]any) {
		if _, err := mcpjson.Object([]byte(joined[index])); err != nil && joined[index] != "" {
			delete(function, "arguments")
			begun[index]["arguments"] = "{}"
		}
	})
	for _, c := range chunks {
		for _, use := range ofType(c["content"], "tool_use") {
			if _, ok := use["input"].(map[string]any); !ok {
				use["input"] = map[string]any{}
			}
		}
	}
	return chunks
}
