package ollama

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// modelName matches the model names that Ollama accepts: [[scheme://]host/][namespace/]model[:tag].
var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(([a-z]+://)?\w[\w.:-]{0,349}/)?(\w[\w-]{0,79}/)?\w[\w.-]{0,79}(:\w[\w.-]{0,79})?$`)
})

// Check refuses what Ollama refuses in a readable request: see the package comment. It has no history rules. The words
// are those of Ollama's source: server/routes.go, api/types.go (FromMap) and llm/server.go.
func (chat) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parse)
	if refused != nil {
		return refused
	}
	switch {
	case !modelName().MatchString(q.Model):
		return refuse(noModel)
	case q.TopLogprobs < 0 || q.TopLogprobs > 20:
		return refuse("top_logprobs must be between 0 and 20")
	}
	for _, name := range slices.Sorted(maps.Keys(q.Options)) {
		if why := mismatch(name, q.Options[name]); why != "" {
			return fail("option %q must be of %s", name, why)
		}
	}
	if f := string(q.Format); f != "" && f != "null" && f != `""` && f != `"json"` && f[0] != '{' {
		return fail(`invalid format: %q; expected "json" or a valid JSON Schema object`, f)
	}
	return nil
}

// noModel refuses a missing or invalid name.
const noModel = "model is required"

// fail is a refusal that Ollama reports as a server failure.
func fail(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf(format, args...)}
}

var (
	integerOptions = jsonvalue.Set(`num_keep seed num_predict top_k repeat_last_n num_ctx num_batch num_gpu main_gpu
		num_thread`)
	floatOptions = jsonvalue.Set(`top_p min_p typical_p temperature repeat_penalty presence_penalty frequency_penalty`)
)

// mismatch describes the type that an option should have; "" for its own type. Unknown options are ignored.
func mismatch(name string, v any) string {
	_, isNumber := v.(float64)
	_, isBool := v.(bool)
	items, isArray := v.([]any)
	isNoText := func(item any) bool { _, isText := item.(string); return !isText }
	switch {
	case v == nil:
	case integerOptions[name] && !isNumber:
		return "type integer"
	case floatOptions[name] && !isNumber:
		return "type float32"
	case name == "use_mmap" && !isBool:
		return "type boolean"
	case name == "stop" && !isArray:
		return "type array"
	case name == "stop" && slices.ContainsFunc(items, isNoText):
		return "an array of strings"
	}
	return ""
}
