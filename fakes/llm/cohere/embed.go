package cohere

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const embedPath = "/v2/embed"

// SideRequestPatterns returns the route of embeddings.
func (chat) SideRequestPatterns() []string { return []string{"POST " + embedPath} }

// Claims implements [dialect.SideRequests].
func (chat) Claims(*http.Request) bool { return true }

// AnswerSideRequest answers with embeddings of texts as floats, of 1536 dimensions if the request wants no others.
func (c chat) AnswerSideRequest(_ *http.Request, body []byte) dialect.Answer {
	var q struct {
		Model      string   `json:"model"`
		InputType  string   `json:"input_type"`
		Texts      []string `json:"texts"`
		Types      []string `json:"embedding_types"`
		Dimensions int      `json:"output_dimension"`
	}
	const most = 1536
	size := 0
	err := json.Unmarshal(body, &q)
	if err == nil {
		size = cmp.Or(q.Dimensions, most)
	}
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{err != nil, "invalid request: the body does not have the documented form"},
		{q.Model == "", "invalid request: model is required"},
		{len(q.Texts) == 0, "invalid request: texts is required, the only input that this model server embeds"},
		{q.InputType == "", "invalid request: input_type is required"},
		{len(q.Types) > 1 || len(q.Types) == 1 && q.Types[0] != "float",
			"invalid request: embedding_types must be float, the only type that this model server has"},
		{size < 0 || size > most, "invalid request: output_dimension must be at most 1536"},
	} {
		if wrong.is {
			return c.EncodeError(&dialect.Error{Status: http.StatusBadRequest, Message: wrong.why + dialect.OwnWords})
		}
	}
	all, tokens := [][]float32{}, 0
	for _, text := range q.Texts {
		all = append(all, dialect.Embedding(text, size))
		tokens += 1 + len(text)/4
	}
	answer := jsonvalue.Ordered("id", uuid(int64(len(body))), "embeddings", jsonvalue.Ordered("float", all),
		"texts", q.Texts, "meta", jsonvalue.Ordered("api_version", jsonvalue.Ordered("version", "2"),
			"billed_units", jsonvalue.Ordered("input_tokens", tokens)), "response_type", "embeddings_by_type")
	return dialect.Answer{Status: http.StatusOK, Header: header("application/json", int64(len(body))),
		Chunks: [][]byte{answer}}
}
