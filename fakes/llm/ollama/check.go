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
		if want := optionType(name); want != "" && q.Options[name] != nil && !isType(want, q.Options[name]) {
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

var numberOptions = dialect.Set(`num_keep seed num_predict top_k top_p min_p typical_p repeat_last_n temperature
	repeat_penalty presence_penalty frequency_penalty num_ctx num_batch num_gpu main_gpu num_thread`)

func optionType(name string) string {
	switch {
	case numberOptions[name]:
		return aNumber
	case name == "use_mmap":
		return aBool
	case name == "stop":
		return texts
	}
	return ""
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
