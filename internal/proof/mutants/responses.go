package mutants

import (
	"slices"
)

// responsesMutants are wrong in the translation to OpenAI Responses.
var responsesEdits = edits{
	"responses-results-as-text": request(func(body object) {
		eachItem(body["input"], func(it object) {
			if it["type"] == "function_call_output" {
				it["type"], it["role"], it["content"] = "message", "user", it["output"]
				delete(it, "output")
				delete(it, "call_id")
			}
		})
	}),
	"responses-limit-of-chat": request(func(body object) {
		body["max_tokens"] = body["max_output_tokens"]
		delete(body, "max_output_tokens")
	}),
	"responses-tools-of-chat": request(func(body object) {
		eachItem(body["tools"], func(tool object) {
			function := object{}
			for name, value := range tool {
				if name != "type" {
					function[name] = value
					delete(tool, name)
				}
			}
			tool["function"] = function
		})
	}),
	"responses-strict-open-schemas": request(func(body object) {
		eachItem(body["tools"], func(tool object) { tool["strict"] = true })
	}),
	"responses-uses-dropped": request(func(body object) {
		input, _ := body["input"].([]any)
		body["input"] = slices.DeleteFunc(input, func(item any) bool {
			it, _ := item.(object)
			return it["type"] == "function_call"
		})
	}),
}
