package mutants

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// translation describes the requests of one dialect, as the client writes them: where they have what.
type translation struct {
	dialect, name string
	// lists is the path to the arrays with tool results.
	lists []string
	// result returns the tool result in an item of such an array; nil for another item.
	result func(item object) object
	// content is the member with the content of a result, and worked makes an error a success.
	content string
	worked  func(result object)
	// misattributed gives results another role; nil if a mutant of its own does.
	misattributed func(body object)
	// choice is the member with the tool choice; "" if the dialect has none.
	choice string
	// limit is the path to the token limit.
	limit []string
	// images is the path to the arrays with images, and isImage finds them there.
	images  []string
	isImage func(item object) bool
}

var translations = []translation{
	{
		dialect: dialect.OpenAIChat, name: "openai",
		lists: []string{"messages"}, result: having("role", "tool"), content: "content", worked: unsaid("content"),
		misattributed: resultsOfUser,
		choice:        "tool_choice", limit: []string{"max_tokens"},
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
		result: func(item object) object {
			response, _ := item["functionResponse"].(object)
			return response
		},
		worked: func(result object) {
			if said, ok := result["response"].(object); ok && said["error"] != nil {
				result["response"] = object{"output": said["error"]}
			}
		},
		misattributed: func(body object) {
			eachItem(body["contents"], func(content object) {
				eachItem(content["parts"], func(part object) {
					if part["functionResponse"] != nil {
						content["role"] = "model"
					}
				})
			})
		},
		choice: "toolConfig", limit: []string{"generationConfig", "maxOutputTokens"},
		images: []string{"contents", "parts"}, isImage: func(item object) bool {
			data, _ := item["inlineData"].(object)
			return strings.HasPrefix(text(data, "mimeType"), "image/")
		},
	},
	{
		dialect: dialect.Ollama, name: "ollama",
		lists: []string{"messages"}, result: having("role", "tool"), content: "content", worked: unsaid("content"),
		misattributed: func(body object) {
			eachItem(body["messages"], func(m object) {
				if m["role"] == "tool" {
					m["role"] = "user"
				}
			})
		},
		limit:  []string{"options", "num_predict"},
		images: []string{"messages", "images"}, isImage: func(object) bool { return true },
	},
	{
		dialect: dialect.CohereChat, name: "cohere",
		lists: []string{"messages"}, result: having("role", "tool"), content: "content", worked: unsaid("content"),
		misattributed: resultsOfUser, choice: "tool_choice", limit: []string{"max_tokens"},
		images: []string{"messages", "content"}, isImage: ofKind("image_url"),
	},
}

func resultsOfUser(body object) {
	eachItem(body["messages"], func(m object) {
		if m["role"] == "tool" {
			m["role"] = "user"
			delete(m, "tool_call_id")
		}
	})
}

// having finds results by a member.
func having(name string, value any) func(object) object {
	return func(item object) object {
		if item[name] == value {
			return item
		}
		return nil
	}
}

func ofKind(kind string) func(object) bool {
	return func(item object) bool { return item["type"] == kind }
}

func unsaid(name string) func(object) {
	return func(result object) {
		if said, ok := result[name].(string); ok {
			result[name] = strings.TrimPrefix(said, "Error:\n")
		}
	}
}

// editLists edits each array at a path.
func editLists(in object, names []string, edit func([]any) []any) {
	list, ok := in[names[0]].([]any)
	switch {
	case !ok:
	case len(names) == 1:
		in[names[0]] = edit(list)
	default:
		eachItem(list, func(item object) { editLists(item, names[1:], edit) })
	}
}

// eachRun calls f with the indexes of results that follow each other.
func (t *translation) eachRun(list []any, f func(run []int)) {
	var run []int
	for i, item := range append(list, nil) {
		if o, ok := item.(object); ok && t.result(o) != nil {
			run = append(run, i)
			continue
		}
		f(run)
		run = nil
	}
}

// dropsSecond drops the second of several results.
func (t *translation) dropsSecond(body object) {
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
func (t *translation) swapsFirst(body object) {
	editLists(body, t.lists, func(list []any) []any {
		t.eachRun(list, func(run []int) {
			if len(run) > 1 {
				a, b := t.result(list[run[0]].(object)), t.result(list[run[1]].(object))
				a[t.content], b[t.content] = b[t.content], a[t.content]
			}
		})
		return list
	})
}

// forgetsErrors makes the results of failed tools successes.
func (t *translation) forgetsErrors(body object) {
	editLists(body, t.lists, func(list []any) []any {
		eachItem(list, func(item object) {
			if result := t.result(item); result != nil {
				t.worked(result)
			}
		})
		return list
	})
}

func (t *translation) dropsImages(body object) {
	editLists(body, t.images, func(list []any) []any {
		return slices.DeleteFunc(list, func(item any) bool {
			o, _ := item.(object)
			return t.isImage(o)
		})
	})
}

func (t *translation) raisesLimit(body object) {
	for _, name := range t.limit[:len(t.limit)-1] {
		body = member(body, name)
	}
	body[t.limit[len(t.limit)-1]] = 4096
}

// translationEdits are common bugs of hosts, each in the translation to one provider alone.
func translationEdits() edits {
	all := edits{}
	for _, t := range translations {
		for name, edit := range t.edits() {
			all[t.name+"-"+name] = edit
		}
	}
	return all
}

// edits are the bugs in the translation to one provider.
func (t *translation) edits() edits {
	all := edits{
		"drops-second-result": request(t.dropsSecond),
		"swaps-ids":           request(t.swapsFirst),
		"more-tokens":         request(t.raisesLimit),
		"drops-images":        request(t.dropsImages),
	}
	if !dialects.FactsOf(t.dialect).Plans {
		all["drops-text-beside-use"] = result(dropTextBesideUse)
	}
	if t.worked != nil {
		all["drops-is-error"] = request(t.forgetsErrors)
	}
	if t.misattributed != nil {
		all["wrong-role"] = request(t.misattributed)
	}
	if t.choice == "" {
		all["offers-anyway"] = ignoresNone
	} else {
		all["ignores-choice"] = request(unset(t.choice))
	}
	if t.dialect != dialect.Anthropic { // which has a mutant of its own for it
		all["length-as-end"] = result(lengthAsEnd)
	}
	return all
}

func lengthAsEnd(result object) {
	if result["stopReason"] == "maxTokens" {
		result["stopReason"] = "endTurn"
	}
}
