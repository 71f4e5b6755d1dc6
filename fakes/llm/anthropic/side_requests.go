package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const modelsPath, countPath = "/v1/models", "/v1/messages/count_tokens"

// SideRequestPatterns returns the routes of the model list, one model, and the token count.
func (messages) SideRequestPatterns() []string {
	return []string{"GET " + modelsPath, "GET " + modelsPath + "/{id}", "POST " + countPath}
}

// Claims takes requests with an API version header: OpenAI lists models at the same path. Only Anthropic counts tokens
// there.
func (messages) Claims(r *http.Request) bool {
	return r.URL.Path == countPath || r.Header.Get("Anthropic-Version") != ""
}

// AnswerSideRequest answers with the API's strictness about headers and about the request whose tokens it counts.
func (m messages) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	content, err := sideAnswer(r, body)
	if err != nil {
		return m.EncodeError(err)
	}
	h := header("application/json", requestID(int64(len(r.URL.Path)), len(content)))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{content}}
}

func sideAnswer(r *http.Request, body []byte) ([]byte, *dialect.Error) {
	if err := checkHeader(r.Header); err != nil {
		return nil, err
	}
	if r.URL.Path == countPath {
		err := checkCount(body, isBeta(r.Header, r.URL))
		return jsonvalue.Ordered("input_tokens", countTokens(body)), err
	}
	id, single := strings.CutPrefix(r.URL.Path, modelsPath+"/")
	switch {
	case single && !strings.HasPrefix(id, "claude-"):
		return nil, &dialect.Error{Status: http.StatusNotFound, Message: fmt.Sprintf(
			"model: there is no %q: expected one whose name begins with claude-", id)}
	case single:
		return describe(id).object(), nil
	}
	var list []any
	for _, m := range listedModels {
		list = append(list, m.object())
	}
	return jsonvalue.Ordered("data", list, "has_more", false,
		"first_id", listedModels[0].id, "last_id", listedModels[len(listedModels)-1].id), nil
}

func checkCount(body []byte, isBeta bool) *dialect.Error {
	q, err := parse(body)
	if err != nil {
		return err
	}
	q.beta = isBeta
	if err := q.checkMembers("count"); err != nil {
		return err
	}
	return check(q)
}

type model struct{ id, name, created string }

// listedModels is the model list, newest first. Any other name that begins with claude- also exists.
var listedModels = []model{
	{"claude-haiku-4-5-20251001", "Claude Haiku 4.5", "2025-10-15T00:00:00Z"},
	{"claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", "2025-09-29T00:00:00Z"},
	{"claude-sonnet-4-20250514", "Claude Sonnet 4", "2025-05-22T00:00:00Z"},
}

func describe(id string) model {
	for _, m := range listedModels {
		if m.id == id {
			return m
		}
	}
	return model{id, id, "1970-01-01T00:00:00Z"} // the API's value for an unknown date
}

func (m model) object() json.RawMessage {
	return jsonvalue.Ordered("type", "model", "id", m.id, "display_name", m.name, "created_at", m.created)
}
