package gemini

import (
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// SideRequestPatterns returns the routes of model lists, models, and token counts, which share a conversation's path.
func (codec) SideRequestPatterns() []string {
	var patterns []string
	for _, path := range collections {
		patterns = append(patterns, "GET "+path, "GET "+path+"/{model}", "POST "+path+"/{model}")
	}
	return patterns
}

// Claims takes a GET below /v1 only with a Google key, because OpenAI has the same paths, and a POST only for a token
// count.
func (codec) Claims(r *http.Request) bool {
	to := targetOf(r.URL)
	if r.Method == http.MethodPost {
		return to.method == countTokens
	}
	return to.vertex || strings.HasPrefix(r.URL.Path, "/v1beta") || r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Get("key") != ""
}

// listed are the listed models. Other names exist too.
var listed = []string{"gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3-pro-preview"}

type model struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	Description string   `json:"description"`
	Input       int      `json:"inputTokenLimit"`
	Output      int      `json:"outputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"topP"`
	TopK        int      `json:"topK"`
	Max         float64  `json:"maxTemperature"`
	Thinking    bool     `json:"thinking,omitempty"`
}

func describe(name, prefix string) model {
	return model{
		Name: prefix + name, Version: "001", DisplayName: name, Description: "Scripted: answers what a test says", Input: 1 << 20, Output: 1 << 16,
		Methods: []string{generate, countTokens}, Temperature: 1, TopP: 0.95, TopK: 64, Max: 2, Thinking: thinks(name),
	}
}

// AnswerSideRequest answers with the models, one model, or a token count (about four bytes a token).
func (c codec) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	to := targetOf(r.URL)
	if refused := checkCredentials(&dialect.Request{Header: r.Header, URL: r.URL}, to); refused != nil {
		return c.EncodeError(refused)
	}
	prefix := "models/"
	if to.vertex {
		prefix = "publishers/google/models/"
	}
	var said any
	switch {
	case r.Method == http.MethodPost:
		tokens, refused := countOf(body, to)
		if refused != nil {
			return c.EncodeError(refused)
		}
		said = tokens
	case to.model == "models":
		list := make([]model, len(listed))
		for i, name := range listed {
			list[i] = describe(name, prefix)
		}
		said = map[string]any{map[bool]string{false: "models", true: "publisherModels"}[to.vertex]: list}
	default:
		said = describe(to.model, prefix)
	}
	return dialect.Answer{Status: http.StatusOK, Header: header(jsonType), Chunks: [][]byte{append(indented(said), '\n')}}
}

type tokenCount struct {
	Total   int        `json:"totalTokens"`
	Details []modality `json:"promptTokensDetails"`
}

// countOf counts the tokens of the contents, or of the request in generateContentRequest.
func countOf(body []byte, to target) (tokenCount, *dialect.Error) {
	asked, err := dialect.ReadMembers(body)
	if err != nil {
		return tokenCount{}, invalid("", "the body could not be read as a JSON object: %v", err)
	}
	whole := body
	for _, name := range []string{"generateContentRequest", "generate_content_request"} {
		if asked.Has(name) {
			whole = asked.Raw(name)
		}
	}
	q, reader := parse(whole, to.vertex)
	if reader.err != nil {
		return tokenCount{}, reader.err
	}
	if err := checkContents(q); err != nil {
		return tokenCount{}, err
	}
	size := len(q.at("contents").raw)
	if system := q.at("systemInstruction"); system != nil {
		size += len(system.raw)
	}
	tokens := 1 + size/4
	return tokenCount{tokens, []modality{{"TEXT", tokens}}}, nil
}
