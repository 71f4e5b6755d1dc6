package anthropic

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
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
	if err := checkHeader(r.Header); err != nil {
		return m.EncodeError(err)
	}
	if r.URL.Path == countPath {
		return m.count(r, body)
	}
	id, single := strings.CutPrefix(r.URL.Path, modelsPath+"/")
	if !single {
		return aside(r, modelList())
	}
	if !strings.HasPrefix(id, "claude-") {
		return m.EncodeError(&dialect.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("model: there is no %q: want one whose name begins with claude-", id)})
	}
	return aside(r, describe(id))
}

func (m messages) count(r *http.Request, body []byte) dialect.Answer {
	q, err := parse(body)
	if err == nil {
		err = checkMembers(q.Members, "", counted, isBeta(r.Header))
	}
	if err == nil {
		err = check(q, isBeta(r.Header))
	}
	if err != nil {
		return m.EncodeError(err)
	}
	return aside(r, struct {
		Input int `json:"input_tokens"`
	}{countTokens(body)})
}

func aside(r *http.Request, v any) dialect.Answer {
	body := dialect.Marshal(v)
	return dialect.Answer{
		Status: http.StatusOK, Header: header("application/json", requestID(int64(len(r.URL.Path)), len(body))), Chunks: [][]byte{body},
	}
}

// listed is the model list, newest first. Any other name that begins with claude- also exists.
var listed = []struct{ id, name, created string }{
	{"claude-haiku-4-5-20251001", "Claude Haiku 4.5", "2025-10-15T00:00:00Z"},
	{"claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", "2025-09-29T00:00:00Z"},
	{"claude-sonnet-4-20250514", "Claude Sonnet 4", "2025-05-22T00:00:00Z"},
}

type model struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Name    string `json:"display_name"`
	Created string `json:"created_at"`
}

func describe(id string) model {
	for _, l := range listed {
		if l.id == id {
			return model{"model", l.id, l.name, l.created}
		}
	}
	return model{"model", id, id, "1970-01-01T00:00:00Z"} // the API's value for an unknown date
}

func modelList() any {
	list := struct {
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
		First   string  `json:"first_id"`
		Last    string  `json:"last_id"`
	}{First: listed[0].id, Last: listed[len(listed)-1].id}
	for _, l := range listed {
		list.Data = append(list.Data, describe(l.id))
	}
	return list
}
