package mutants

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// givenEdits damage what the model is given only under a condition: in the history, in later rounds, in media.
var givenEdits = edits{
	"refuses-bare-uses":    refuses(asksWith(func(m object) bool { return isBare(m, "tool_use") })),
	"refuses-bare-results": refuses(asksWith(func(m object) bool { return isBare(m, "tool_result") })),
	"refuses-empty-results": refuses(asksWith(func(m object) bool {
		return slices.ContainsFunc(ofType(m["content"], "tool_result"), func(b object) bool {
			content, several := b["content"].([]any)
			return several && len(content) == 0
		})
	})),
	"refuses-text-after-uses": refuses(asksWith(func(m object) bool {
		content, _ := m["content"].([]any)
		if len(content) == 0 {
			return false
		}
		last, _ := content[len(content)-1].(object)
		return len(ofType(content, "tool_use")) > 0 && last["type"] == "text"
	})),
	"undefined-results": params(eachBlock("tool_result", func(b object) {
		if content, _ := b["content"].([]any); len(content) == 0 {
			b["content"] = []any{object{"type": "text", "text": "undefined"}}
		}
	})),
	"first-description-in-front": params(func(p object) {
		if tools, _ := p["tools"].([]any); len(tools) > 1 {
			first, _ := tools[0].(object)
			eachItem(tools[1:], func(t object) { t["description"] = text(first, "description") + "\n" + text(t, "description") })
		}
	}),
	"one-result-for-all": params(eachMessage(func(m object) {
		results := ofType(m["content"], "tool_result")
		for _, b := range results[min(1, len(results)):] {
			b["content"] = results[0]["content"]
		}
	})),
	"appends-to-results": params(eachBlock("tool_result", eachText(func(b object) {
		b["text"] = text(b, "text") + " (checked)"
	}))),
	"rounds-restated-inputs": params(eachBlock("tool_use", func(use object) { use["input"] = viaFloat64(use["input"]) })),
	"empties-restated-inputs": params(eachBlock("tool_use", func(use object) {
		use["input"] = without(isEmptyObject, use["input"])
	})),
	"ascii-history": params(func(p object) {
		messages := jsonvalue.Messages(p)
		for _, m := range messages[:max(len(messages)-1, 0)] {
			eachText(func(b object) { b["text"] = asciiOnly(text(b, "text")) })(m)
		}
	}),
	"describes-five-tools": params(func(p object) {
		if tools, _ := p["tools"].([]any); len(tools) > 5 {
			eachItem(tools[5:], unset("description"))
		}
	}),
	"cuts-descriptions": params(eachTool(func(t object) {
		if d := text(t, "description"); len(d) > 200 {
			t["description"] = d[:200]
		}
	})),
	"required-as-auto-with-many-tools": params(func(p object) {
		if tools, _ := p["tools"].([]any); len(tools) > 3 {
			choosing("required", "auto")(p)
		}
	}),
	"first-tool-only-later": later(atMostTools(1)),
	"adds-own-tools-later":  later(addsOwnTool),
	"forgets-none-later":    later(choosing("none", "auto")),
	"halves-images": params(eachImage(func(b object) {
		data, err := base64.StdEncoding.DecodeString(text(b, "data"))
		if err == nil {
			b["data"] = base64.StdEncoding.EncodeToString(data[:len(data)/2])
		}
	})),
	"replaces-images": params(eachImage(set("data", "iVBORw0KGgo="))),
	"sounds-as-wav":   params(eachBlock("audio", set("mimeType", "audio/wav"))),
	"relabels-images": params(eachImage(set("mimeType", "image/gif"))),
	"images-as-base64-text": params(eachImage(func(b object) {
		b["type"], b["text"] = "text", b["data"]
		delete(b, "data")
		delete(b, "mimeType")
	})),
	"equal-messages-once": params(func(p object) {
		messages, _ := p["messages"].([]any)
		p["messages"] = slices.CompactFunc(slices.Clone(messages), func(a, b any) bool { return Key(a) == Key(b) })
	}),
	"failures-with-data-as-success": params(eachBlock("tool_result", func(b object) {
		if b["structuredContent"] != nil {
			delete(b, "isError")
		}
	})),
	"renames-links": params(eachBlock("tool_result", func(b object) {
		for _, link := range ofType(b["content"], "resource_link") {
			link["name"] = "link"
		}
	})),
	"dashes-as-underscores": result(eachUse(func(_ int, use object) {
		use["name"] = strings.ReplaceAll(text(use, "name"), "-", "_")
	})),
	"flags-as-text": request(eachBlock("tool_result", func(b object) {
		if failed, ok := b["isError"].(bool); ok {
			b["isError"] = strconv.FormatBool(failed)
		}
	})),
	"data-as-text": request(eachBlock("tool_result", func(b object) {
		if b["structuredContent"] != nil {
			b["structuredContent"] = object{"text": string(jsonvalue.Marshal(b["structuredContent"]))}
		}
	})),
	"capital-detail": request(func(body object) {
		eachItem(body["messages"], func(m object) {
			eachItem(m["content"], func(part object) {
				if image, ok := part["image_url"].(object); ok {
					image["detail"] = "HIGH"
				}
			})
		})
	}),
	"repeats-the-talk": params(func(p object) {
		all := jsonvalue.Messages(p)
		var earlier []string
		for i, m := range all {
			if i == len(all)-1 && i > 0 && len(ofType(m["content"], "tool_result")) == 0 {
				eachText(func(b object) { b["text"] = strings.Join(append(earlier, text(b, "text")), "\n") })(m)
			}
			eachText(func(b object) { earlier = append(earlier, text(b, "text")) })(m)
		}
	}),
	"repeats-results-in-a-text": params(func(p object) {
		results := ""
		eachItem(p["messages"], func(m object) {
			if said := resultsIn(m); said != "" {
				results += said + "\n"
			} else if m["role"] == "user" && results != "" {
				eachText(func(b object) { b["text"] = results + text(b, "text") })(m)
			}
		})
	}),
	"results-as-texts-too": params(func(p object) {
		messages, _ := p["messages"].([]any)
		for i := len(messages) - 1; i >= 0; i-- {
			if said := resultsIn(messages[i].(object)); said != "" {
				messages = slices.Insert(messages, i+1, any(object{"role": "user", "content": textBlock(said)}))
			}
		}
		p["messages"] = messages
	}),
	"swaps-images-of-a-result": params(eachBlock("tool_result", func(b object) {
		if images := ofType(b["content"], "image"); len(images) > 1 {
			images[0]["data"], images[1]["data"] = images[1]["data"], images[0]["data"]
		}
	})),
	"own-word-beside-uses": result(func(r object) {
		if len(ofType(r["content"], "tool_use")) > 1 {
			r["stopReason"] = "finished"
		}
	}),
	"drops-links-beside-texts": params(eachBlock("tool_result", func(b object) {
		if content, _ := b["content"].([]any); len(ofType(content, "text")) > 0 {
			b["content"] = slices.DeleteFunc(content, func(block any) bool {
				o, _ := block.(object)
				return o["type"] == "resource_link"
			})
		}
	})),
	"equal-uses-once": result(func(r object) {
		content, several := r["content"].([]any)
		if !several {
			return
		}
		seen := map[string]bool{}
		r["content"] = slices.DeleteFunc(content, func(block any) bool {
			o, _ := block.(object)
			key := Key([]any{o["name"], o["input"]})
			again := o["type"] == "tool_use" && seen[key]
			seen[key] = true
			return again
		})
	}),
	"drops-a-greeting": params(func(p object) {
		if all := jsonvalue.Messages(p); len(all) > 1 && all[0]["role"] == "assistant" {
			p["messages"] = p["messages"].([]any)[1:]
		}
	}),
	"drops-a-prefill": params(func(p object) {
		if all := jsonvalue.Messages(p); len(all) > 1 && all[len(all)-1]["role"] == "assistant" {
			p["messages"] = p["messages"].([]any)[:len(all)-1]
		}
	}),
	"repeats-the-first-message": params(func(p object) {
		if messages, _ := p["messages"].([]any); len(messages) > 0 {
			p["messages"] = slices.Insert(slices.Clone(messages), 0, messages[0])
		}
	}),
	"drops-the-first-message": history(func(p object) {
		if messages, _ := p["messages"].([]any); len(messages) > 3 {
			p["messages"] = messages[1:]
		}
	}),
	"last-four-messages": history(func(p object) {
		if messages, _ := p["messages"].([]any); len(messages) > 4 {
			p["messages"] = messages[len(messages)-4:]
		}
	}),
}

// resultsIn returns the texts of the tool results in a message.
func resultsIn(m object) string {
	var all []string
	for _, result := range ofType(m["content"], "tool_result") {
		for _, b := range ofType(result["content"], "text") {
			all = append(all, text(b, "text"))
		}
	}
	return strings.Join(all, "\n")
}

// asksWith says which samples have such a message.
func asksWith(is func(m object) bool) func(*Sample) bool {
	return func(s *Sample) bool { return slices.ContainsFunc(jsonvalue.Messages(s.Asked), is) }
}

// isBare reports whether the content of a message is a single block of a type, and not an array.
func isBare(m object, kind string) bool { return member(m, "content")["type"] == kind }

func later(f func(object)) func(*Wire) Edit {
	return params(func(p object) {
		if slices.ContainsFunc(jsonvalue.Messages(p), func(m object) bool { return m["role"] == "assistant" }) {
			f(p)
		}
	})
}

// eachImage edits the images of messages and of tool results.
func eachImage(f func(b object)) func(object) {
	return func(p object) {
		eachBlock("image", f)(p)
		eachBlock("tool_result", func(b object) {
			for _, inner := range ofType(b["content"], "image") {
				f(inner)
			}
		})(p)
	}
}
