package openai

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Responses speaks OpenAI Responses. The server stores nothing: it refuses references to stored responses,
// conversations, items and prompts like the provider refuses unknown ones, and background requests too.
//
// Refusals and reasoning have their own parts and items. There are no stop sequences.
var Responses dialect.Codec = responses{models{&openAI}}

type responses struct{ models }

func (responses) Name() string       { return dialect.OpenAIResponses }
func (responses) Patterns() []string { return []string{"POST /v1/responses"} }

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
func (responses) EncodeErrorEvent(req *dialect.Request, reply *dialect.Reply, sent int, e *dialect.Error) []byte {
	kind, code := words(e)
	code = cmp.Or(code, kind)
	r := newResponse(req, &dialect.Reply{StopReason: "failed", Model: reply.Model, Serial: reply.Serial})
	r.failure = dialect.Ordered("code", code, "message", e.Message)
	r.sequence = sent
	r.emit("error", "error", errorObject(e, kind, code))
	r.emit("response.failed", "response", r.object("failed"))
	return append(r.events[0], r.events[1]...)
}

type models struct{ *style }

// listed are the listed models. Other names exist too.
var listed = []string{"gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o4-mini"}

// SideRequestPatterns returns the routes of the model list and of one model.
func (m models) SideRequestPatterns() []string {
	return []string{"GET " + m.path(), "GET " + m.path() + "/{model...}"}
}

func (m models) path() string { return m.base + "/models" }

// Claims leaves requests of Anthropic's SDKs to Anthropic, which has the same paths.
func (models) Claims(r *http.Request) bool { return r.Header.Get("Anthropic-Version") == "" }

// AnswerSideRequest answers with the list or a model. Every model exists.
func (m models) AnswerSideRequest(r *http.Request, _ []byte) dialect.Answer {
	describe := func(id string) json.RawMessage {
		return dialect.Ordered("id", id, "object", "model", "created", 1715367049, "owned_by", "system")
	}
	var body json.RawMessage
	if len(r.URL.Path) > len(m.path())+1 {
		body = describe(r.URL.Path[len(m.path())+1:])
	} else {
		var list []json.RawMessage
		for _, id := range listed {
			list = append(list, describe(id))
		}
		body = dialect.Ordered("data", list, "object", "list")
	}
	h := m.header("application/json", dialect.GenerateID("req_", 32, 0, len(r.URL.Path)))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(body)}}
}
