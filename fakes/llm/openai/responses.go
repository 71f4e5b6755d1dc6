package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Responses speaks OpenAI Responses. A server keeps its answers for previous_response_id and item references: see
// [dialect.Stateful]. It refuses references to conversations and prompts like the provider refuses unknown ones, and
// background requests too.
//
// Refusals and reasoning have their own parts and items. There are no stop sequences.
var Responses dialect.Codec = responses{models{openAI}}

// XAIResponses and CompatibleResponses speak Responses like xAI and like others, such as DeepSeek, OpenRouter and
// GPUStack: they accept unknown members and ids of every form.
var (
	XAIResponses        dialect.Codec = responses{models{xAI}}
	CompatibleResponses dialect.Codec = responses{models{compatible}}
)

type responses struct{ models }

func (o responses) Name() string {
	if o.isOpenAI {
		return dialect.OpenAIResponses
	}
	return o.name + "-responses"
}

func (o responses) Patterns() []string { return o.on("/responses") }

// SideRequestPatterns adds the count of tokens and the compaction of a conversation.
func (o responses) SideRequestPatterns() []string {
	return slices.Concat(o.models.SideRequestPatterns(), o.on(countTokens), o.on(compact))
}

// AnswerSideRequest implements [dialect.SideRequests].
func (o responses) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	switch {
	case strings.HasSuffix(r.URL.Path, countTokens):
		return o.countTokens(r, body)
	case strings.HasSuffix(r.URL.Path, compact):
		return o.compact(r, body)
	}
	return o.models.AnswerSideRequest(r, body)
}

// outcome returns the status of a response, and why it is incomplete. An unknown reason makes it incomplete.
func outcome(reason dialect.StopReason) (status, incomplete string) {
	switch reason {
	case dialect.EndTurn, dialect.StopToolUse, dialect.StopStopSequence, dialect.StopRefusal:
		return "completed", ""
	case dialect.StopMaxTokens:
		return "incomplete", "max_output_tokens"
	case dialect.StopContentFilter:
		return "incomplete", "content_filter"
	case "completed", "failed", "cancelled":
		return string(reason), ""
	}
	return "incomplete", string(reason)
}

// EncodeErrorEvent writes an error event and response.failed, with the stream's id and the next sequence numbers.
func (o responses) EncodeErrorEvent(req *dialect.Request, reply *dialect.Reply, sent int, e *dialect.Error) []byte {
	kind, code := o.words(e)
	code = cmp.Or(code, kind)
	r := newResponse(req, &dialect.Reply{StopReason: "failed", Model: reply.Model, Serial: reply.Serial})
	r.failure = jsonvalue.Ordered("code", code, "message", e.Message)
	r.sequence = sent
	r.emit(responseEvent{Type: "error", Error: errorObject(e, kind, code)})
	r.emit(responseEvent{Type: "response.failed", Response: r.object("failed")})
	return r.events.text.Bytes()
}

type models struct{ *style }

// listed are the listed models. Other names exist too.
var listed = []string{"gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o4-mini"}

// azure is the base of the paths on Azure: the deployment's name in the path is the model. The other base there is /v1
// of OpenAI's SDKs below azure.
const azure = "/openai"

// on returns the route for this server and, for OpenAI, the routes on Azure.
func (s *style) on(path string) []string {
	all := []string{"POST " + s.base + path}
	if s.isOpenAI {
		all = append(all, "POST "+azure+"/v1"+path, "POST "+azure+path, "POST "+azure+"/deployments/{deployment}"+path)
	}
	return all
}

// deployment returns the deployment in a path on Azure; "" for other paths.
func deployment(u *url.URL) string {
	if u == nil {
		return ""
	}
	rest, isAzure := strings.CutPrefix(u.Path, azure+"/deployments/")
	if !isAzure {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// SideRequestPatterns returns the routes of the model list, of one model, and of embeddings.
func (m models) SideRequestPatterns() []string {
	return append(m.on("/embeddings"), "GET "+m.path(), "GET "+m.path()+"/{model...}")
}

func (m models) path() string { return m.base + "/models" }

// Claims leaves requests of Anthropic's SDKs to Anthropic, which has the same paths.
func (models) Claims(r *http.Request) bool { return r.Header.Get("Anthropic-Version") == "" }

// AnswerSideRequest answers with the list, a model or embeddings. Every model exists.
func (m models) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	if strings.HasSuffix(r.URL.Path, "/embeddings") {
		return m.embeddings(body)
	}
	describe := func(id string) json.RawMessage {
		return jsonvalue.Ordered("id", id, "object", "model", "created", 1715367049, "owned_by", "system")
	}
	var answer json.RawMessage
	if len(r.URL.Path) > len(m.path())+1 {
		answer = describe(r.URL.Path[len(m.path())+1:])
	} else {
		var list []json.RawMessage
		for _, id := range listed {
			list = append(list, describe(id))
		}
		answer = jsonvalue.Ordered("data", list, "object", "list")
	}
	h := m.header("application/json", dialect.GenerateID("req_", 32, 0, len(r.URL.Path)))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(answer)}}
}
