package mutants

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// translation describes the requests of one dialect, as the client writes them: where they have what.
type translation struct {
	dialect, name string
	// lists is the path to the arrays with tool results.
	lists []string
	// result returns the tool result in an item of such an array; nil for another item.
	result func(item map[string]any) map[string]any
	// content is the member with the content of a result, and worked makes an error a success.
	content string
	worked  func(result map[string]any)
	// misattributed gives results another role; nil if a mutant of its own does.
	misattributed func(body map[string]any)
	// choice is the member with the tool choice; "" if the dialect has none.
	choice string
	// limit is the path to the token limit.
	limit []string
	// images is the path to the arrays with images, and isImage finds them there.
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

// having finds results by a member.
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

// unsaid removes from a text that it is an error.
func unsaid(name string) func(map[string]any) {
	return func(result map[string]any) {
		if said, ok := result[name].(string); ok {
			result[name] = strings.TrimPrefix(said, "Error:\n")
		}
	}
}

// editLists edits each array at a path.
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

// eachRun calls f with the indexes of results that follow each other.
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

// swapsFirst swaps the contents of the first two of several results.
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

// forgetsErrors makes the results of failed tools successes.
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

// dropsImages drops images.
func (t *translation) dropsImages(body map[string]any) {
	editLists(body, t.images, func(list []any) []any {
		return slices.DeleteFunc(list, func(item any) bool {
			o, _ := item.(map[string]any)
			return t.isImage(o)
		})
	})
}

// raisesLimit raises the token limit.
func (t *translation) raisesLimit(body map[string]any) {
	for _, name := range t.limit[:len(t.limit)-1] {
		body = member(body, name)
	}
	body[t.limit[len(t.limit)-1]] = 4096
}

// translationMutants are common bugs of hosts, each in the translation to one provider alone.
var translationMutants = func() []Mutant {
	var all []Mutant
	for _, t := range translations {
		add := func(name, doc string, edit func(*Wire) Edit, kills string, also ...string) {
			all = append(all, Mutant{Name: t.name + "-" + name, Doc: doc + ", only in the translation to " + t.dialect,
				Kills: strings.Fields(kills), Also: also, Dialects: []string{t.dialect}, Once: true, edit: edit})
		}
		add("drops-second-result", "drops the second of several tool results", request(t.dropsSecond),
			"parallel/results-reach-model")
		add("swaps-ids", "swaps the ids of tool results", request(t.swapsFirst), "parallel/results-order")
		if t.worked != nil {
			add("drops-is-error", "passes the result of a failed tool to the model as a success", request(t.forgetsErrors),
				"parallel/error-result")
		}
		if t.misattributed != nil {
			add("wrong-role", "sends tool results to the model with another role", request(t.misattributed),
				"parallel/results-reach-model", "parallel/results-order", "parallel/result-content")
		}
		if t.choice == "" {
			add("offers-anyway", "offers tools if the choice is none, and returns the tool uses", ignoresNone,
				"tool-use/choice-none-holds", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use")
		} else {
			add("ignores-choice", "drops the tool choice", request(func(body map[string]any) { delete(body, t.choice) }),
				"tool-use/choice-required tool-use/choice-none")
		}
		add("more-tokens", "raises the token limit to a minimum of its own", request(t.raisesLimit), "basic/max-tokens")
		add("drops-images", "drops images", request(t.dropsImages), "basic/media", "parallel/result-content")
		add("drops-text-beside-use", "drops the model's text beside a tool use", result(dropTextBesideUse),
			"tool-use/text-and-tool")
		if t.dialect != dialect.Anthropic { // which has a mutant of its own for it
			add("length-as-end", "reports an answer that was cut at the limit as complete", result(lengthAsEnd),
				"basic/stop-reason-true", "basic/stop-reason")
		}
	}
	return all
}()

func lengthAsEnd(result map[string]any) {
	if result["stopReason"] == "maxTokens" {
		result["stopReason"] = "endTurn"
	}
}
