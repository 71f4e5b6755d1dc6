package reference

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// refusesAll are the checks that a client refuses a history.
var refusesAll = []string{"balance/missing-result", "balance/no-result", "balance/late-result", "balance/trailing-use", "balance/mixed-content",
	"balance/orphan-result", "balance/duplicate-use-id", "balance/duplicate-result", "balance/use-in-user", "balance/result-in-assistant"}

// callsModel are the checks that see it where a model without rules of its own takes such a history, and what a converter may lose on the way to it.
var callsModel = []string{"balance/no-model-call", "balance/not-dropped"}

// accepts is a client that does not know a rule of histories. Providers know most of them themselves, so that it shows where the model does not.
func accepts(rule, doc string) Mutant {
	return Mutant{Name: "accepts-" + rule, Doc: doc, Kills: []string{"balance/" + rule}, Also: callsModel, Dialects: []string{dialect.Native},
		broken: faults{overlooks: []string{rule}}}
}

var balanceMutants = []Mutant{
	accepts("missing-result", "is content with one result for several tool uses"),
	accepts("no-result", "takes a text in place of a tool's result"),
	accepts("late-result", "looks for results anywhere behind their tool use"),
	accepts("trailing-use", "does not look at the end of a history"),
	accepts("mixed-content", "takes tool results beside other content"),
	accepts("orphan-result", "takes a tool result that no tool use asked for"),
	accepts("duplicate-use-id", "takes two tool uses with one id"),
	accepts("duplicate-result", "takes two results for one tool use"),
	accepts("use-in-user", "takes a tool use under any role"),
	accepts("result-in-assistant", "takes a tool result under any role"),
	{Name: "hands-on-histories", Doc: "hands every history on to the model", Kills: append([]string{"balance/no-model-call"}, refusesAll...),
		Also: callsModel, Dialects: []string{dialect.Native}, broken: faults{overlooks: []string{"missing-result", "no-result", "late-result", "trailing-use", "mixed-content",
			"orphan-result", "duplicate-use-id", "duplicate-result", "use-in-user", "result-in-assistant"}}},
	{Name: "imbalance-is-internal", Wire: true, Era: "legacy", Doc: "refuses a request that cannot be right as if something had gone wrong inside", Kills: refusesAll,
		broken: faults{invalidCode: codeInternal}},
	{Name: "invents-results", Doc: "makes up a result for each tool use that has none, and answers", Kills: []string{"balance/missing-result", "balance/no-result", "balance/trailing-use"},
		Also: callsModel, broken: faults{repairs: inventResults}},
	{Name: "drops-orphans", Doc: "drops tool results that no tool use asked for, and answers", Kills: []string{"balance/orphan-result"},
		Also: callsModel, broken: faults{repairs: dropOrphans}},
	{Name: "drops-misplaced", Doc: "drops tool uses and results under the wrong role, and answers the rest",
		Kills: []string{"balance/use-in-user", "balance/result-in-assistant", "balance/not-dropped"}, Also: callsModel, broken: faults{repairs: dropMisplaced}},
	{Name: "asks-before-it-validates", Doc: "asks the model, and then looks at the history", Kills: []string{"balance/no-model-call"},
		broken: faults{asksInvalid: true}},
	{Name: "dies-of-imbalance", Wire: true, Doc: "refuses a history that cannot be right, and ends itself", Kills: []string{"balance/alive"}, Also: append([]string{"malformed/survives", "client/ends-cleanly"}, refusesAll...),
		broken: faults{diesOfImbalance: true}},
	{Name: "ignores-imbalance", Wire: true, Era: "legacy", Hangs: true, Doc: "throws at a history that cannot be right, and never answers", Kills: []string{"balance/alive"},
		Also: append([]string{"malformed/answered", "client/ends-cleanly"}, refusesAll...), broken: faults{ignoresImbalance: true}},
}

// idsOf are the ids of the blocks of a type in a message.
func idsOf(message any, kind, name string) []string {
	var ids []string
	m, _ := message.(map[string]any) // what is none has no blocks
	for _, b := range ofType(m["content"], kind) {
		ids = append(ids, text(b, name))
	}
	return ids
}

// inventResults adds a result for each tool use that has none in the message behind it.
func inventResults(params map[string]any) {
	messages, _ := params["messages"].([]any)
	var mended []any
	for i, item := range messages {
		mended = append(mended, item)
		m, _ := item.(map[string]any)
		uses := idsOf(item, "tool_use", "id")
		if len(uses) == 0 || m["role"] != "assistant" {
			continue
		}
		var next map[string]any
		if i+1 < len(messages) {
			next, _ = messages[i+1].(map[string]any)
		}
		given := idsOf(next, "tool_result", "toolUseId")
		var invented []any
		for _, id := range uses {
			if !slices.Contains(given, id) {
				invented = append(invented, map[string]any{"type": "tool_result", "toolUseId": id, "content": []any{map[string]any{"type": "text", "text": "cancelled"}}})
			}
		}
		switch blocks, _ := next["content"].([]any); {
		case invented == nil:
		case given == nil:
			mended = append(mended, map[string]any{"role": "user", "content": invented})
		default:
			next["content"] = append(slices.Clip(blocks), invented...)
		}
	}
	params["messages"] = mended
}

// dropOrphans drops the results that have no tool use in the message before them.
func dropOrphans(params map[string]any) {
	var uses []string
	eachMessage(params, func(m map[string]any) {
		drop(m, func(b map[string]any) bool {
			return b["type"] == "tool_result" && m["role"] == "user" && !slices.Contains(uses, text(b, "toolUseId"))
		})
		uses = idsOf(m, "tool_use", "id")
	})
	dropEmpty(params)
}

// dropMisplaced drops the tool uses of the user, the results of the assistant, and what belongs to them.
func dropMisplaced(params map[string]any) {
	var ids []string
	eachMessage(params, func(m map[string]any) {
		switch m["role"] {
		case "user":
			ids = append(ids, idsOf(m, "tool_use", "id")...)
		case "assistant":
			ids = append(ids, idsOf(m, "tool_result", "toolUseId")...)
		}
	})
	eachMessage(params, func(m map[string]any) {
		drop(m, func(b map[string]any) bool {
			return b["type"] == "tool_use" && slices.Contains(ids, text(b, "id")) || b["type"] == "tool_result" && slices.Contains(ids, text(b, "toolUseId"))
		})
	})
	dropEmpty(params)
}

// drop leaves blocks out of a message.
func drop(m map[string]any, unwanted func(b map[string]any) bool) {
	if blocks, ok := m["content"].([]any); ok {
		m["content"] = slices.DeleteFunc(blocks, func(item any) bool {
			b, _ := item.(map[string]any)
			return unwanted(b)
		})
	}
}

// dropEmpty drops messages that hold nothing any more.
func dropEmpty(params map[string]any) {
	if messages, ok := params["messages"].([]any); ok {
		params["messages"] = slices.DeleteFunc(messages, func(item any) bool {
			m, _ := item.(map[string]any)
			blocks, ok := m["content"].([]any)
			return ok && len(blocks) == 0
		})
	}
}
