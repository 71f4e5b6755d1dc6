package ollama

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// modelName matches the model names that Ollama accepts: [[scheme://]host/][namespace/]model[:tag].
var modelName = regexp.MustCompile(
	`^(([a-z]+://)?\w[\w.:-]{0,349}/)?(\w[\w-]{0,79}/)?\w[\w.-]{0,79}(:\w[\w.-]{0,79})?$`)

// Check refuses what Ollama refuses in a readable request: see the package comment. It has no history rules.
func (chat) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parse)
	if refused != nil {
		return refused
	}
	switch {
	case !modelName.MatchString(q.Model):
		return refuse("the model %q is no name: want one such as llama3.2 or library/llama3.2:latest", q.Model)
	case q.TopLogprobs < 0 || q.TopLogprobs > 20:
		return refuse("top_logprobs is %d: want 0 to 20", q.TopLogprobs)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Options)) {
		if want := optionTypes[name]; want != "" && q.Options[name] != nil && !isType(want, q.Options[name]) {
			return fail("the option %s is %v: want %s", name, q.Options[name], want)
		}
	}
	if f := string(q.Format); f != "" && f != "null" && f != `""` && f != `"json"` && f[0] != '{' {
		return fail(`format is %s: want "json", or a JSON Schema`, f)
	}
	return nil
}

// fail is a refusal that Ollama reports as a server failure.
func fail(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf(format, args...)}
}

// The exact types of options. Unknown options are ignored.
const (
	aNumber = "a number"
	aBool   = "true or false"
	texts   = "an array of strings"
)

var optionTypes = map[string]string{
	"num_keep": aNumber, "seed": aNumber, "num_predict": aNumber, "top_k": aNumber, "top_p": aNumber, "min_p": aNumber,
	"typical_p":     aNumber,
	"repeat_last_n": aNumber, "temperature": aNumber, "repeat_penalty": aNumber, "presence_penalty": aNumber,
	"frequency_penalty": aNumber,
	"stop":              texts, "num_ctx": aNumber, "num_batch": aNumber, "num_gpu": aNumber, "main_gpu": aNumber,
	"use_mmap":   aBool,
	"num_thread": aNumber,
}

func isType(want string, v any) bool {
	switch v := v.(type) {
	case float64:
		return want == aNumber
	case bool:
		return want == aBool
	case []any:
		return want == texts && !slices.ContainsFunc(v, func(item any) bool { _, isText := item.(string); return !isText })
	}
	return false
}
