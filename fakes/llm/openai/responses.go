package openai

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Responses speaks OpenAI Responses. It keeps nothing: a request that builds on a response, a conversation, an item or a prompt that
// the provider is to have kept is refused as the provider refuses one that it has not, and one that is to run in the background too.
//
// A refusal, and reasoning, have items and parts of their own here. There are no stop sequences.
var Responses dialect.Codec = responses{models{&openAI}}

type responses struct{ models }

func (responses) Name() string       { return dialect.OpenAIResponses }
func (responses) Patterns() []string { return []string{"POST /v1/responses"} }

// outcome is a stop reason in the provider's words: the response's status, and what makes it incomplete. A word of the provider's
// own is the status, if it is one, and otherwise what makes it incomplete.
func outcome(reason dialect.StopReason) (status, incomplete string) {
	switch reason {
	case dialect.EndTurn, dialect.StopForTool, dialect.StopStopSequence, dialect.StopRefusal:
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

// EncodeErrorEvent writes an error event and then response.failed, of the same response and with the numbers that follow.
func (responses) EncodeErrorEvent(req *dialect.Request, reply *dialect.Reply, sent int, e *dialect.Error) []byte {
	details := errorBody(e)["error"]
	if details.Code == nil {
		details.Code = &details.Type
	}
	r := newResponse(req, &dialect.Reply{StopReason: "failed", Model: reply.Model, Serial: reply.Serial})
	r.failure = dialect.Marshal(map[string]string{"code": *details.Code, "message": details.Message})
	r.sequence = sent
	r.say(event{Type: "error", Error: dialect.Marshal(details)})
	r.say(event{Type: "response.failed", Response: r.object("failed")})
	return append(r.events[0], r.events[1]...)
}

// models lists models: what hosts ask for before they start, and the same for both ways of asking.
type models struct{ *style }

// listed are the models that are listed. The fake answers for every other, too.
var listed = []string{"gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o4-mini"}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// SideRequestPatterns are the list of models, and each of them.
func (m models) SideRequestPatterns() []string {
	return []string{"GET " + m.path(), "GET " + m.path() + "/{model...}"}
}

func (m models) path() string { return m.base + "/models" }

// Claims leaves to Anthropic, which has the same paths, what its SDKs ask.
func (models) Claims(r *http.Request) bool { return r.Header.Get("Anthropic-Version") == "" }

// AnswerSideRequest answers. Every model that is asked for by name is there.
func (m models) AnswerSideRequest(r *http.Request, _ []byte) dialect.Answer {
	describe := func(id string) model { return model{ID: id, Object: "model", Created: 1715367049, OwnedBy: "system"} }
	h := m.header("application/json", dialect.MintID("req_", 32, 0, len(r.URL.Path)))
	if len(r.URL.Path) > len(m.path())+1 {
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(describe(r.URL.Path[len(m.path())+1:]))}}
	}
	all := make([]model, len(listed))
	for i, id := range listed {
		all[i] = describe(id)
	}
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(map[string]any{"object": "list", "data": all})}}
}
