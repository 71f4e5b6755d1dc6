// Package gemini speaks the wire format of Google's Gemini: generateContent and streamGenerateContent, by the paths of the Gemini API and
// of Vertex AI, with the two forms of its streams, errors, and the strictness of the real thing, as far as recorded traffic and public
// reports of refused requests show it.
//
// The generation of the model, which its name tells, decides what an answer looks like. Up to 2.x a call has no id, and all calls of a turn
// come at once; from 3 on each has an id and a chunk of its own, and the history of a turn has to hold the thoughtSignature of each step's
// first call. A name that tells no generation counts as 2.
//
// Numbers in a call's args are sent as the reply has them; the real API, whose args are a protobuf Struct, rounds them to a float64.
package gemini

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// GenerateContent speaks generateContent and streamGenerateContent. It is a [dialect.Asides], too: lists of models, and counts of tokens.
var GenerateContent dialect.Codec = codec{}

type codec struct{}

func (codec) Name() string { return dialect.Gemini }

func (codec) Patterns() []string {
	patterns := make([]string, len(collections))
	for i, path := range collections {
		patterns[i] = "POST " + path + "/{model}"
	}
	return patterns
}

// collections are the paths under which models are found: of the Gemini API, and of Vertex AI with a project and without one.
var collections = []string{
	"/v1beta/models",
	"/v1/models",
	"/v1/projects/{project}/locations/{location}/publishers/google/models",
	"/v1beta1/projects/{project}/locations/{location}/publishers/google/models",
	"/v1/publishers/google/models",
	"/v1beta1/publishers/google/models",
}

// Methods of a model.
const (
	generate       = "generateContent"
	streamGenerate = "streamGenerateContent"
	countTokens    = "countTokens"
)

// target is what a request's URL says of it.
type target struct {
	model, method string
	vertex        bool
	events        bool // a stream is of server-sent events, and not one JSON array
}

// targetOf reads a URL; of none it makes the zero target.
func targetOf(u *url.URL) target {
	if u == nil {
		return target{}
	}
	last := u.Path[strings.LastIndex(u.Path, "/")+1:]
	model, method := last, ""
	if i := strings.LastIndex(last, ":"); i >= 0 {
		model, method = last[:i], last[i+1:]
	}
	return target{model, method, strings.Contains(u.Path, "/publishers/"), u.Query().Get("alt") == "sse"}
}

var generationOf = regexp.MustCompile(`gemini-(\d+)`)

// generation is the model's generation: 2 for what is older, or says nothing of it.
func generation(model string) int {
	if m := generationOf.FindStringSubmatch(model); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return max(n, 2)
		}
	}
	return 2
}

// thinks reports whether a model's calls carry thoughtSignatures.
func thinks(model string) bool {
	return generation(model) > 2 || strings.Contains(model, "gemini-2.5")
}

// header returns the headers that every answer has.
func header(contentType string) http.Header {
	return http.Header{
		"Content-Type":           {contentType},
		"Server":                 {"scaffolding on HTTPServer2"},
		"Server-Timing":          {"gfet4t7; dur=250"},
		"Vary":                   {"Origin", "X-Origin", "Referer"},
		"X-Content-Type-Options": {"nosniff"},
		"X-Frame-Options":        {"SAMEORIGIN"},
		"X-Xss-Protection":       {"0"},
	}
}

const jsonType = "application/json; charset=UTF-8"

func invalid(field, format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Kind: "INVALID_ARGUMENT", Param: field, Message: fmt.Sprintf(format, args...)}
}
