package reference

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// translation is what a fault in the translation to one provider's wire has to know of it: where a body, as the client made it, has what.
type translation struct {
	dialect, name string
	// lists are the members, one inside of the other, that lead to the arrays in which results stand.
	lists []string
	// result returns what an item of such an array holds of a tool result; nil for another item.
	result func(item map[string]any) map[string]any
	// content is the member with what the result says, and worked makes an error one that worked.
	content string
	worked  func(result map[string]any)
	// misattributed gives results to somebody else; nil where there is a mutant of its own for it.
	misattributed func(body map[string]any)
	// choice is the member with the tool choice; "" where the wire has none.
	choice string
	// limit are the members that lead to the limit of tokens.
	limit []string
	// images are the members that lead to the arrays in which images stand, and isImage finds them there.
	images  []string
	isImage func(item map[string]any) bool
}

var translations = []translation{
	{
		dialect: dialect.OpenAIChat, name: "openai",
		lists: []string{"messages"}, result: having("role", "tool"), content: "content", worked: unsaid("content"),
		misattributed: func(body map[string]any) {
			eachItem(body["messages"], func(m map[string]any) {
				if m["role"] == "tool" {
					m["role"] = "user"
					delete(m, "tool_call_id")
				}
			})
		},
		choice: "tool_choice", limit: []string{"max_tokens"},
		images: []string{"messages", "content"}, isImage: ofKind("image_url"),
	},
	{
		dialect: dialect.OpenAIResponses, name: "responses",
		lists: []string{"input"}, result: having("type", "function_call_output"), content: "output", worked: unsaid("output"),
		choice: "tool_choice", limit: []string{"max_output_tokens"},
		images: []string{"input", "content"}, isImage: ofKind("input_image"),
	},
	{
		dialect: dialect.Anthropic, name: "anthropic",
		lists: []string{"messages", "content"}, result: having("type", "tool_result"), content: "content",
		choice: "tool_choice", limit: []string{"max_tokens"},
		images: []string{"messages", "content"}, isImage: ofKind("image"),
	},
	{
		dialect: dialect.Gemini, name: "gemini",
		lists: []string{"contents", "parts"}, content: "response",
		result: func(item map[string]any) map[string]any {
			response, _ := item["functionResponse"].(map[string]any)
			return response
		},
		worked: func(result map[string]any) {
			if said, ok := result["response"].(map[string]any); ok && said["error"] != nil {
				result["response"] = map[string]any{"output": said["error"]}
			}
		},
		misattributed: func(body map[string]any) {
			eachItem(body["contents"], func(content map[string]any) {
				eachItem(content["parts"], func(part map[string]any) {
					if part["functionResponse"] != nil {
						content["role"] = "model"
					}
				})
			})
		},
		choice: "toolConfig", limit: []string{"generationConfig", "maxOutputTokens"},
		images: []string{"contents", "parts"}, isImage: func(item map[string]any) bool {
			data, _ := item["inlineData"].(map[string]any)
			return strings.HasPrefix(text(data, "mimeType"), "image/")
		},
	},
	{
		dialect: dialect.Ollama, name: "ollama",
		lists: []string{"messages"}, result: having("role", "tool"), content: "content", worked: unsaid("content"),
		misattributed: func(body map[string]any) {
			eachItem(body["messages"], func(m map[string]any) {
				if m["role"] == "tool" {
					m["role"] = "user"
				}
			})
		},
		limit:  []string{"options", "num_predict"},
		images: []string{"messages", "images"}, isImage: func(map[string]any) bool { return true },
	},
}

// having finds items by a member, and takes them for results.
func having(name string, value any) func(map[string]any) map[string]any {
	return func(item map[string]any) map[string]any {
		if item[name] == value {
			return item
		}
		return nil
	}
}

func ofKind(kind string) func(map[string]any) bool {
	return func(item map[string]any) bool { return item["type"] == kind }
}

// unsaid takes out of a text that it is an error.
func unsaid(name string) func(map[string]any) {
	return func(result map[string]any) {
		if said, ok := result[name].(string); ok {
			result[name] = strings.TrimPrefix(said, "Error:\n")
		}
	}
}

// editLists edits each array to which the members lead, through the items of those before it.
func editLists(in map[string]any, names []string, edit func([]any) []any) {
	list, ok := in[names[0]].([]any)
	switch {
	case !ok:
	case len(names) == 1:
		in[names[0]] = edit(list)
	default:
		eachItem(list, func(item map[string]any) { editLists(item, names[1:], edit) })
	}
}

// eachRun calls f with the places of results that follow each other.
func (t *translation) eachRun(list []any, f func(run []int)) {
	var run []int
	for i, item := range append(list, nil) {
		if o, ok := item.(map[string]any); ok && t.result(o) != nil {
			run = append(run, i)
			continue
		}
		f(run)
		run = nil
	}
}

// dropsSecond drops the second of several results.
func (t *translation) dropsSecond(body map[string]any) {
	editLists(body, t.lists, func(list []any) []any {
		var dropped []int
		t.eachRun(list, func(run []int) {
			if len(run) > 1 {
				dropped = append(dropped, run[1])
			}
		})
		kept := []any{}
		for i, item := range list {
			if !slices.Contains(dropped, i) {
				kept = append(kept, item)
			}
		}
		return kept
	})
}

// swapsFirst gives what the first of several results says to the second, and the other way round: their ids are swapped.
func (t *translation) swapsFirst(body map[string]any) {
	editLists(body, t.lists, func(list []any) []any {
		t.eachRun(list, func(run []int) {
			if len(run) > 1 {
				a, b := t.result(list[run[0]].(map[string]any)), t.result(list[run[1]].(map[string]any))
				a[t.content], b[t.content] = b[t.content], a[t.content]
			}
		})
		return list
	})
}

// forgetsErrors makes results that are errors ones that worked.
func (t *translation) forgetsErrors(body map[string]any) {
	editLists(body, t.lists, func(list []any) []any {
		eachItem(list, func(item map[string]any) {
			if result := t.result(item); result != nil {
				t.worked(result)
			}
		})
		return list
	})
}

// dropsImages leaves images out.
func (t *translation) dropsImages(body map[string]any) {
	editLists(body, t.images, func(list []any) []any {
		return slices.DeleteFunc(list, func(item any) bool {
			o, _ := item.(map[string]any)
			return t.isImage(o)
		})
	})
}

// raisesLimit asks for more tokens than it was told.
func (t *translation) raisesLimit(body map[string]any) {
	for _, name := range t.limit[:len(t.limit)-1] {
		body = body[name].(map[string]any)
	}
	body[t.limit[len(t.limit)-1]] = 4096
}

// translationMutants are the faults of which hosts are full, each in the translation to one provider alone. The client speaks to all others as
// it should.
var translationMutants = func() []Mutant {
	var all []Mutant
	for _, t := range translations {
		add := func(name, doc string, broken faults, kills string, also ...string) {
			all = append(all, Mutant{Name: t.name + "-" + name, Doc: doc + ", in the translation to " + t.dialect + " alone", Kills: strings.Fields(kills), Also: also,
				Dialects: []string{t.dialect}, Once: true, broken: broken})
		}
		add("drops-second-result", "drops the second of several tool results", faults{body: t.dropsSecond}, "parallel/results-reach-model")
		add("swaps-ids", "gives tool results to the model under each other's ids", faults{body: t.swapsFirst}, "parallel/results-order")
		if t.worked != nil {
			add("drops-is-error", "passes a failed tool's result on as if it had worked", faults{body: t.forgetsErrors}, "parallel/error-result")
		}
		if t.misattributed != nil {
			add("wrong-role", "gives tool results to the model as somebody else's words", faults{body: t.misattributed},
				"parallel/results-reach-model", "parallel/results-order", "parallel/result-content")
		}
		if t.choice == "" {
			add("offers-anyway", "offers tools where the choice is none, and passes on their use", faults{offersAnyway: true, trustsModel: true},
				"tool-use/choice-none-holds", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use")
		} else {
			add("ignores-choice", "leaves the tool choice out", faults{body: func(body map[string]any) { delete(body, t.choice) }}, "tool-use/choice-required tool-use/choice-none")
		}
		add("more-tokens", "raises the limit of tokens to a minimum of its own", faults{body: t.raisesLimit}, "basic/max-tokens")
		add("drops-images", "leaves images out", faults{body: t.dropsImages}, "basic/media", "parallel/result-content")
		add("drops-text-beside-use", "drops what the model says beside a tool use", faults{result: dropTextBesideUse}, "tool-use/text-and-tool")
		if t.dialect != dialect.Anthropic { // which has a mutant of its own for it
			add("length-as-end", "takes an answer that was cut at the limit for a whole one", faults{result: lengthAsEnd}, "basic/stop-reason-true", "basic/stop-reason")
		}
	}
	return all
}()

func dropTextBesideUse(result map[string]any) {
	if len(ofType(result["content"], "tool_use")) > 0 {
		keep(result, "text", 0)
	}
}

func lengthAsEnd(result map[string]any) {
	if result["stopReason"] == "maxTokens" {
		result["stopReason"] = "endTurn"
	}
}
