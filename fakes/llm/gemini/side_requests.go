package gemini

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// SideRequestPatterns returns the routes of model lists, models, token counts and embeddings. The last two share a
// conversation's path.
func (codec) SideRequestPatterns() []string {
	var patterns []string
	for _, path := range collections {
		patterns = append(patterns, "GET "+path, "GET "+path+"/{model}", "POST "+path+"/{model}")
	}
	return patterns
}

// Claims takes a GET below /v1 only with a Google key, because OpenAI has the same paths, and a POST only for a token
// count and for embeddings.
func (codec) Claims(r *http.Request) bool {
	to := targetOf(r.URL)
	if r.Method == http.MethodPost {
		return to.method == countTokens || to.method == embed || to.method == batchEmbed
	}
	return to.vertex || strings.HasPrefix(r.URL.Path, "/v1beta") ||
		r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Get("key") != ""
}

// listed are the listed models. Other names exist too.
var listed = []string{"gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview",
	"gemini-3-pro-preview"}

func describe(name, prefix string) json.RawMessage {
	return jsonvalue.Ordered("name", prefix+name, "version", "001", "displayName", name,
		"description", "Scripted: answers what a test says", "inputTokenLimit", 1<<20, "outputTokenLimit", 1<<16,
		"supportedGenerationMethods", []string{generate, countTokens}, "temperature", 1, "topP", 0.95, "topK", 64,
		"maxTemperature", 2, "thinking", jsonvalue.OrAbsent(thinks(name)))
}

// AnswerSideRequest answers with the models, one model, embeddings, or a token count (about four bytes a token).
func (c codec) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	to := targetOf(r.URL)
	if refused := checkCredentials(&dialect.Request{Header: r.Header, URL: r.URL}, to); refused != nil {
		return c.EncodeError(refused)
	}
	prefix := "models/"
	if to.vertex {
		prefix = "publishers/google/models/"
	}
	switch {
	case to.method == embed, to.method == batchEmbed:
		return c.embed(to, body)
	case r.Method == http.MethodPost:
		tokens, refused := countOf(body, to)
		if refused != nil {
			return c.EncodeError(refused)
		}
		return plainAnswer(http.StatusOK, jsonvalue.Ordered("totalTokens", tokens, "promptTokensDetails", textTokens(tokens)))
	case to.model != "models":
		return plainAnswer(http.StatusOK, describe(to.model, prefix))
	}
	list := make([]json.RawMessage, len(listed))
	for i, name := range listed {
		list[i] = describe(name, prefix)
	}
	member := "models"
	if to.vertex {
		member = "publisherModels"
	}
	return plainAnswer(http.StatusOK, jsonvalue.Ordered(member, list))
}

// embed answers with the embedding of the content, or with one for each of several requests.
func (c codec) embed(to target, body []byte) dialect.Answer {
	type wanted struct {
		Content struct {
			Parts []struct{ Text string }
		}
		OutputDimensionality int
	}
	var q struct {
		wanted
		Requests []wanted
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return c.EncodeError(unreadable(body, err))
	}
	all := []wanted{q.wanted}
	if to.method == batchEmbed {
		all = q.Requests
	}
	const usual, most = 768, 3072
	embeddings := []json.RawMessage{}
	for _, one := range all {
		var texts []string
		for _, part := range one.Content.Parts {
			texts = append(texts, part.Text)
		}
		size := cmp.Or(one.OutputDimensionality, usual)
		switch {
		case texts == nil:
			return c.EncodeError(ours("content is empty: set its parts"))
		case size < 0 || size > most:
			return c.EncodeError(ours("output_dimensionality is %d: set one from 1 to %d", size, most))
		}
		values := dialect.Embedding(strings.Join(texts, " "), size)
		embeddings = append(embeddings, jsonvalue.Ordered("values", values))
	}
	switch {
	case len(embeddings) == 0:
		return c.EncodeError(ours("requests is empty: set at least one"))
	case to.method == embed:
		return plainAnswer(http.StatusOK, jsonvalue.Ordered("embedding", embeddings[0]))
	}
	return plainAnswer(http.StatusOK, jsonvalue.Ordered("embeddings", embeddings))
}

// countOf counts the tokens of the contents, or of the request in generateContentRequest.
func countOf(body []byte, to target) (int, *dialect.Error) {
	given, err := jsonvalue.ReadMembers(body)
	if err != nil {
		return 0, unreadable(body, err)
	}
	request := body
	for _, name := range []string{"generateContentRequest", "generate_content_request"} {
		if given.Has(name) {
			request = given.Raw(name)
		}
	}
	q, reader := parse(request, to.vertex)
	if reader.err != nil {
		return 0, reader.err
	}
	if err := checkContents(q); err != nil { // google-gemini/gemini-cli#5575
		err.Message = strings.Replace(err.Message, "* GenerateContent", "* CountTokens", 1)
		return 0, err
	}
	size := len(q.at("contents").raw)
	if system := q.at("systemInstruction"); system != nil {
		size += len(system.raw)
	}
	return 1 + size/4, nil
}
