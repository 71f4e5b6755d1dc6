package reference

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Mutant is the reference client, broken in one way.
type Mutant struct {
	// Name is how the mutant is asked for, as in --client builtin:mutant/NAME.
	Name string
	// Doc says in a sentence what is wrong with it, and who does that in the wild.
	Doc string
	// Kills are the checks that must fail it, as scenario/check.
	Kills []string
	// Also are checks that may fail it too, because they look at the same thing. No other may.
	Also []string
	// Dialects are those in which the fault shows; nil for all.
	Dialects []string
	// Except are dialects in which the fault does not show.
	Except []string
	// Model is the model with which the fault shows, where those of one dialect differ; "" for all.
	Model string
	// Streamed is true for a fault that only a streaming client has.
	Streamed bool
	// Once is true for a fault that is the same in all settings of its dialects. It is played in the first of them.
	Once bool
	// Wire is true for a fault on the wire to the server, which is the same however the model is asked.
	Wire bool
	// In are the revisions in which the fault shows; nil for the newest of each era.
	In []server.Revision
	// Era is "legacy" or "modern" for a fault that only one era has; "" for both.
	Era string
	// Stdio is true for a fault that only a client over stdio can have.
	Stdio bool
	// Hangs is true for a mutant that does not come to its end by itself in the first era.
	Hangs bool

	broken faults
}

// Config returns the mutant as a configuration of the client.
func (m *Mutant) Config(c Config) Config {
	c.broken = m.broken
	return c
}

// ShowsIn reports whether the fault shows in a client that asks the model as the configuration says.
func (m *Mutant) ShowsIn(c Config) bool {
	c = c.complete()
	return !(m.Streamed && c.Plain) && (m.Dialects == nil || slices.Contains(m.Dialects, c.Dialect)) &&
		!slices.Contains(m.Except, c.Dialect) && (m.Model == "" || m.Model == c.Model)
}

// Concerns reports whether the check, as scenario/check, must or may fail the mutant.
func (m *Mutant) Concerns(id string) bool {
	return slices.Contains(m.Kills, id) || slices.Contains(m.Also, id)
}

// Revisions returns those of its own in which the fault shows, or else the newest ones.
func (m *Mutant) Revisions(newest []server.Revision) []server.Revision {
	if m.In != nil {
		return m.In
	}
	return newest
}

// Find returns the mutant of that name; nil where there is none.
func Find(name string) *Mutant {
	mutants := Mutants()
	if i := slices.IndexFunc(mutants, func(m Mutant) bool { return m.Name == name }); i >= 0 {
		return &mutants[i]
	}
	return nil
}

// Mutants returns every mutant, in the order of the catalogue.
func Mutants() []Mutant {
	return slices.Concat(clientMutants, stdioMutants, declareMutants, basicMutants, toolMutants, parallelMutants, loopMutants, balanceMutants, malformedMutants, cancelMutants, timeMutants, providerMutants, consentMutants, mrtrMutants, transportMutants, versionMutants, taskMutants,
		anthropicMutants, ollamaMutants, responsesMutants, geminiMutants, translationMutants)
}

var clientMutants = []Mutant{
	{Name: "never-connects", Doc: "exits with success without having connected", Kills: []string{"client/connects"},
		broken: faults{neverConnects: true}},
	{Name: "fails-at-the-end", Doc: "answers everything and then reports a failure", Kills: []string{"client/ends-cleanly"},
		broken: faults{failsAtTheEnd: true}},
	{Name: "declares-nothing", Doc: "does not declare sampling, so that nothing is asked of it", Kills: []string{"client/sampled"},
		broken: faults{declaresNothing: true}},
}

var toolMutants = []Mutant{
	{Name: "end-turn-beside-use", Doc: "reports a tool use as the end of the turn", Kills: []string{"tool-use/stop-reason-tooluse"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(int, map[string]any) { r["stopReason"] = "endTurn" })
		}}},
	{Name: "input-as-text", Doc: "passes a tool use's input on as the JSON text that the provider sent", Kills: []string{"tool-use/tool-use-block"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(_ int, use map[string]any) { use["input"] = string(marshal(use["input"])) })
		}}},
	{Name: "input-via-float", Doc: "rounds big integers in a tool use's input", Kills: []string{"tool-use/input-intact"},
		Except: geminiOnly, broken: faults{result: func(r map[string]any) {
			eachUse(r, func(_ int, use map[string]any) { use["input"] = viaFloat64(use["input"]) })
		}}},
	{Name: "cuts-long-input", Doc: "cuts long texts in a tool use's input", Kills: []string{"tool-use/input-intact"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(_ int, use map[string]any) {
				if input, ok := use["input"].(map[string]any); ok && len(text(input, "notes")) > 1000 {
					input["notes"] = text(input, "notes")[:1000] + "…"
				}
			})
		}}},
	{Name: "null-for-empty-input", Doc: "gives a tool use without arguments the input null", Kills: []string{"tool-use/tool-use-block"}, Also: []string{"tool-use/input-intact"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(_ int, use map[string]any) {
				if input, ok := use["input"].(map[string]any); ok && len(input) == 0 {
					use["input"] = nil
				}
			})
		}}},
	{Name: "drops-text-beside-use", Doc: "drops what the model says beside a tool use", Kills: []string{"tool-use/text-and-tool"},
		broken: faults{result: dropTextBesideUse}},
	{Name: "drops-use-beside-text", Doc: "drops a tool use where the model says something, too", Kills: []string{"tool-use/text-and-tool"},
		broken: faults{result: func(r map[string]any) {
			if len(ofType(r["content"], "text")) > 0 {
				keep(r, "tool_use", 0)
			}
		}}},
	{Name: "ids-anew-each-turn", Doc: "counts tool uses anew in each turn, and takes the count for their id", Kills: []string{"tool-use/fresh-ids"}, Also: []string{"tool-use/id-minted", "tool-use/thought-signature"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(i int, use map[string]any) { use["id"] = fmt.Sprintf("call_%d", i+1) })
		}}},
	{Name: "drops-tools", Doc: "does not pass the tools on to the model", Kills: []string{"tool-use/tools-reach-model"}, Also: []string{"tool-use/many-tools"},
		broken: faults{params: func(p map[string]any) { delete(p, "tools"); delete(p, "toolChoice") }}},
	{Name: "drops-descriptions", Doc: "passes tools on without their descriptions", Kills: []string{"tool-use/tools-reach-model"},
		broken: faults{params: eachTool(func(t map[string]any) { delete(t, "description") })}},
	{Name: "simplifies-schemas", Doc: "keeps of input schemas the types and names of properties", Kills: []string{"tool-use/tools-reach-model"},
		broken: faults{params: eachTool(func(t map[string]any) {
			schema, _ := t["inputSchema"].(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			simple := map[string]any{}
			for name, property := range properties {
				if p, ok := property.(map[string]any); ok && p["type"] != nil {
					simple[name] = map[string]any{"type": p["type"]}
				}
			}
			t["inputSchema"] = map[string]any{"type": "object", "properties": simple, "required": schema["required"]}
		})}},
	{Name: "at-most-40-tools", Doc: "offers the model 40 tools and drops the rest silently", Kills: []string{"tool-use/many-tools"},
		broken: faults{params: atMostTools(40)}},
	{Name: "at-most-64-tools", Doc: "offers the model 64 tools and drops the rest silently", Kills: []string{"tool-use/many-tools"},
		broken: faults{params: atMostTools(64)}},
	{Name: "adds-own-tools", Doc: "offers the model a tool of the host beside those of the request", Kills: []string{"tool-use/only-these-tools"},
		broken: faults{params: func(p map[string]any) {
			if tools, ok := p["tools"].([]any); ok {
				p["tools"] = append(tools, map[string]any{"name": "host_search", "description": "the host's own", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}})
			}
		}}},
	{Name: "runs-tools", Doc: "calls the tools itself that the model wants", Kills: []string{"tool-use/not-executed", "tool-use/unoffered-tool"},
		broken: faults{runsTools: true}},
	{Name: "runs-unoffered-tools", Doc: "calls a tool itself that nobody offered, on whoever may have it", Kills: []string{"tool-use/unoffered-tool"},
		broken: faults{runsUnoffered: true}},
	{Name: "auto-as-required", Doc: "makes the tool choice auto required", Kills: []string{"tool-use/choice-auto"},
		Except: ollamaOnly, broken: faults{params: choosing("auto", "required")}},
	{Name: "required-as-auto", Doc: "makes the tool choice required auto", Kills: []string{"tool-use/choice-required"},
		Except: ollamaOnly, broken: faults{params: choosing("required", "auto")}},
	{Name: "none-as-auto", Doc: "makes the tool choice none auto, and drops the tool uses that the model then makes", Kills: []string{"tool-use/choice-none"},
		Except: ollamaOnly, broken: faults{params: choosing("none", "auto")}},
	{Name: "ignores-none", Doc: "makes the tool choice none auto, and passes on the tool uses that the model then makes", Kills: []string{"tool-use/choice-none", "tool-use/choice-none-holds", "loop/last-round-none"},
		Also: []string{"tool-use/choice-none-filtered", "tool-use/no-tools-no-use"}, Except: ollamaOnly, broken: faults{params: choosing("none", "auto"), trustsModel: true}},
	{Name: "empty-choice-as-none", Doc: "reads a tool choice without a mode as none", Kills: []string{"tool-use/choice-empty"},
		Except: ollamaOnly, broken: faults{params: choosing("", "none")}},
	{Name: "trusts-the-model", Doc: "passes on tool uses that the request does not allow", Kills: []string{"tool-use/choice-none-filtered", "tool-use/no-tools-no-use"},
		broken: faults{trustsModel: true}},
	{Name: "invents-tool-uses", Doc: "makes up a tool use where one is required and the model makes none", Kills: []string{"tool-use/required-unmet"},
		broken: faults{inventsUses: true}},
	{Name: "believes-stop", Doc: "looks for no tool calls where the provider says that the model came to its end", Kills: []string{"tool-use/stop-beside-calls"},
		Dialects: []string{dialect.OpenAIChat, dialect.Native}, broken: faults{believesStop: true}},
	{Name: "empties-bad-arguments", Doc: "makes {} of arguments that are not JSON", Kills: []string{"tool-use/bad-arguments"},
		Dialects: []string{dialect.OpenAIChat, dialect.Native}, broken: faults{emptiesBadArguments: true}},
}

var parallelMutants = []Mutant{
	{Name: "one-id-for-all", Doc: "gives all tool uses of a turn one id", Kills: []string{"parallel/unique-ids"},
		Also: []string{"tool-use/fresh-ids", "tool-use/id-minted", "tool-use/thought-signature"},
		broken: faults{result: func(r map[string]any) {
			eachUse(r, func(_ int, use map[string]any) { use["id"] = "call_1" })
		}}},
	{Name: "first-use-only", Doc: "passes on the first tool use of a turn and drops the others", Kills: []string{"parallel/all-uses"}, Also: []string{"parallel/streamed-uses", "parallel/late-delta", "parallel/over-32-calls"},
		broken: faults{result: func(r map[string]any) { keep(r, "tool_use", 1) }}},
	{Name: "uses-reversed", Doc: "passes tool uses on in reverse", Kills: []string{"parallel/all-uses"}, Also: []string{"parallel/streamed-uses", "tool-use/text-and-tool"},
		broken: faults{result: func(r map[string]any) {
			if blocks, ok := r["content"].([]any); ok {
				slices.Reverse(blocks)
			}
		}}},
	{Name: "keeps-last-streamed", Doc: "keeps one of several streamed tool calls", Kills: []string{"parallel/streamed-uses"}, Also: []string{"parallel/all-uses", "parallel/over-32-calls"},
		Dialects: []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Ollama}, Streamed: true, broken: faults{keepsLastStreamed: true}},
	{Name: "stops-at-finish", Doc: "stops reading a stream at the finish reason", Kills: []string{"parallel/late-delta"},
		Dialects: []string{dialect.OpenAIChat, dialect.Ollama}, Streamed: true, broken: faults{stopsAtFinish: true}},
	{Name: "first-result-only", Doc: "stops after the first tool result of a message when it converts the history", Kills: []string{"parallel/results-reach-model"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if len(ofType(m["content"], "tool_result")) > 0 {
					keep(m, "tool_result", 1)
				}
			})
		}}},
	{Name: "results-collapsed", Doc: "puts all results of a message under the first one's id", Kills: []string{"parallel/results-reach-model"},
		Also: []string{"parallel/result-content"}, // where the provider takes such a history, which others refuse
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				results := ofType(m["content"], "tool_result")
				for _, b := range results[min(1, len(results)):] {
					first, _ := results[0]["content"].([]any)
					more, _ := b["content"].([]any)
					results[0]["content"] = append(first, more...)
				}
				if len(results) > 0 {
					keep(m, "tool_result", 1)
				}
			})
		}}},
	{Name: "results-by-position", Doc: "pairs results with tool uses by their place, not by id", Kills: []string{"parallel/results-order"},
		broken: faults{params: func(p map[string]any) {
			var ids []any
			eachMessage(p, func(m map[string]any) {
				for _, use := range ofType(m["content"], "tool_use") {
					ids = append(ids, use["id"])
				}
				for _, b := range ofType(m["content"], "tool_result") {
					if len(ids) > 0 {
						b["toolUseId"], ids = ids[0], ids[1:]
					}
				}
			})
		}}},
	{Name: "forgets-arguments", Doc: "restates the assistant's tool uses without their arguments", Kills: []string{"parallel/uses-restated"}, Also: []string{"loop/three-rounds"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				for _, use := range ofType(m["content"], "tool_use") {
					use["input"] = map[string]any{}
				}
			})
		}}},
	{Name: "drops-is-error", Doc: "passes a failed tool's result on as if it had worked", Kills: []string{"parallel/error-result"},
		broken: faults{params: func(p map[string]any) { eachResult(p, func(b map[string]any) { delete(b, "isError") }) }}},
	{Name: "text-results-only", Doc: "blanks what is not text in tool results", Kills: []string{"parallel/result-content"},
		broken: faults{params: func(p map[string]any) {
			eachResult(p, func(b map[string]any) {
				b["content"] = anySlice(ofType(b["content"], "text"))
				delete(b, "structuredContent")
			})
		}}},
	{Name: "first-image-only", Doc: "keeps the first image of a tool result", Kills: []string{"parallel/result-content"},
		broken: faults{params: func(p map[string]any) { eachResult(p, func(b map[string]any) { keep(b, "image", 1) }) }}},
	{Name: "audio-as-placeholder", Doc: "puts a word in the place of audio", Kills: []string{"parallel/result-content"},
		broken: faults{params: func(p map[string]any) {
			eachResult(p, func(b map[string]any) {
				for _, block := range ofType(b["content"], "audio") {
					clear(block)
					block["type"], block["text"] = "text", "[audio]"
				}
			})
		}}},
	{Name: "first-text-only", Doc: "keeps the first text of a tool result", Kills: []string{"parallel/result-content"},
		broken: faults{params: func(p map[string]any) { eachResult(p, func(b map[string]any) { keep(b, "text", 1) }) }}},
	{Name: "at-most-32-calls", Doc: "passes on 32 tool uses and drops the rest silently", Kills: []string{"parallel/over-32-calls"},
		broken: faults{result: func(r map[string]any) { keep(r, "tool_use", 32) }}},
}

// eachTool edits each tool of the params.
func eachTool(f func(t map[string]any)) func(map[string]any) {
	return func(p map[string]any) {
		tools, _ := p["tools"].([]any)
		for _, item := range tools {
			if t, ok := item.(map[string]any); ok {
				f(t)
			}
		}
	}
}

// atMostTools drops the tools of the params after the first n.
func atMostTools(n int) func(map[string]any) {
	return func(p map[string]any) {
		if tools, _ := p["tools"].([]any); len(tools) > n {
			p["tools"] = tools[:n]
		}
	}
}

// choosing makes one mode of the tool choice another; "" is a choice without a mode.
func choosing(from, to string) func(map[string]any) {
	return func(p map[string]any) {
		if choice, ok := p["toolChoice"].(map[string]any); ok && text(choice, "mode") == from {
			choice["mode"] = to
		}
	}
}

func anySlice(blocks []map[string]any) []any {
	list := make([]any, len(blocks))
	for i, b := range blocks {
		list[i] = b
	}
	return list
}
