// Package gemini speaks Google's Gemini: generateContent and streamGenerateContent on the paths of the Gemini API and
// of Vertex AI, both stream formats, errors, model lists and token counts. It is as strict as the API is known to be
// from recorded traffic and public reports of refused requests.
//
// The generation in the model's name decides the answer's format. Up to 2.x a call has no id, and all calls of a turn
// share a chunk. From 3 on each call has an id and a chunk, and a turn's history must contain the thoughtSignature of
// each step's first call. A name without a generation counts as 2.
//
// Numbers in args are sent unchanged. The real API rounds them to float64, because its args are a protobuf Struct.
package gemini

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// GenerateContent speaks generateContent and streamGenerateContent. It also implements [dialect.SideRequests].
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

// collections are the paths above the models: Gemini API, then Vertex AI with and without a project.
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
	embed          = "embedContent"
	batchEmbed     = "batchEmbedContents"
)

// target holds the parameters in a request's URL.
type target struct {
	model, method string
	vertex        bool
	events        bool // the stream is SSE, not one JSON array
}

// targetOf reads a URL; nil gives the zero target.
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

// generation returns the model's generation, at least 2.
func generation(model string) int {
	if m := generationOf.FindStringSubmatch(model); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return max(n, 2)
		}
	}
	return 2
}

func thinks(model string) bool {
	return generation(model) > 2 || strings.Contains(model, "gemini-2.5")
}

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

// plainAnswer writes indented JSON, like the API outside events.
func plainAnswer(status int, v any) dialect.Answer {
	body := append(jsonvalue.Indented(v), '\n')
	return dialect.Answer{Status: status, Header: header("application/json; charset=UTF-8"), Chunks: [][]byte{body}}
}

// ours refuses in our own words, where the API's are not known.
func ours(format string, args ...any) *dialect.Error {
	return invalid("", format+dialect.OwnWords, args...)
}

// violation refuses a value as the API does after it has read the request: without the field in the details.
func violation(at *node, why string) *dialect.Error {
	return invalid("", "%s: %s\n", at.inRequest(), why)
}

// invalid refuses a request; field is named in the details of a value that cannot be read.
func invalid(field, format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "INVALID_ARGUMENT", Param: field, Message: fmt.Sprintf(format, args...),
	}
}
