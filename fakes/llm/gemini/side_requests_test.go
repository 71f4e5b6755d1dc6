package gemini

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var aside = GenerateContent.(dialect.SideRequests)

func TestModelsAreListedAndDescribed(t *testing.T) {
	get := func(to string) (int, map[string]any) {
		r := request(t, to)
		r.Method = http.MethodGet
		a := aside.AnswerSideRequest(r, nil)
		var got map[string]any
		require.NoError(t, json.Unmarshal(join(a), &got))
		return a.Status, got
	}
	status, list := get("/v1beta/models?pageSize=50")
	require.Equal(t, http.StatusOK, status)
	require.Len(t, list["models"], len(listed))
	require.Equal(t, "models/gemini-2.0-flash", list["models"].([]any)[0].(map[string]any)["name"])

	_, one := get("/v1beta/models/gemini-3-pro-preview")
	require.Equal(t, "models/gemini-3-pro-preview", one["name"])
	require.Equal(t, []any{"generateContent", "countTokens"}, one["supportedGenerationMethods"])
	require.Equal(t, true, one["thinking"])

	_, vertexOnes := get("/v1beta1/publishers/google/models")
	require.Equal(t, "publishers/google/models/gemini-2.0-flash",
		vertexOnes["publisherModels"].([]any)[0].(map[string]any)["name"])
}

func TestTokensAreCounted(t *testing.T) {
	count := func(to, text string) (int, string) {
		a := aside.AnswerSideRequest(request(t, to), []byte(text))
		return a.Status, string(join(a))
	}
	status, got := count(flash+countTokens, body(user, ""))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"totalTokens":11,"promptTokensDetails":[{"modality":"TEXT","tokenCount":11}]}`, got)
	_, wrapped := count(flash+countTokens,
		`{"generateContentRequest":{"model":"models/gemini-2.5-flash","systemInstruction":{"parts":[{"text":"be kind"}]},`+
			`"contents":[`+user+`]}}`)
	require.Contains(t, wrapped, `"totalTokens": 18`)
	for text, want := range map[string]string{
		`{`:                          "Invalid JSON payload received. Unexpected end of string",
		`{}`:                         "contents is not specified",
		`{"contents":"hi"}`:          "Invalid value",
		body(`{"role":"human"}`, ""): `Please use a valid role`,
	} {
		status, got := count(flash+countTokens, text)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, got, want)
	}
	r := request(t, flash+countTokens)
	r.Header = nil
	require.Equal(t, http.StatusForbidden, aside.AnswerSideRequest(r, []byte(body(user, ""))).Status)
}

func TestEmbeddingsAreEqualForEqualTexts(t *testing.T) {
	embed := func(method, text string) (int, string) {
		require.True(t, aside.Claims(request(t, flash+method)))
		a := aside.AnswerSideRequest(request(t, flash+method), []byte(text))
		return a.Status, string(join(a))
	}
	const content = `"content":{"parts":[{"text":"a cat"}]}`
	type embedding struct{ Values []float32 }
	var one struct{ Embedding embedding }
	status, got := embed("embedContent", `{`+content+`}`)
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, json.Unmarshal([]byte(got), &one))
	require.Len(t, one.Embedding.Values, 768)
	var several struct{ Embeddings []embedding }
	_, got = embed("batchEmbedContents", `{"requests":[{`+content+`},{`+content+`,"outputDimensionality":8}]}`)
	require.NoError(t, json.Unmarshal([]byte(got), &several))
	require.Equal(t, one.Embedding, several.Embeddings[0])
	require.Len(t, several.Embeddings[1].Values, 8)
	for _, c := range [][3]string{
		{"embedContent", `[`, "Invalid JSON payload received"},
		{"embedContent", `{}`, "content is empty"},
		{"embedContent", `{` + content + `,"outputDimensionality":-1}`, "output_dimensionality is -1"},
		{"batchEmbedContents", `{"requests":[]}`, "requests is empty"},
	} {
		status, got := embed(c[0], c[1])
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, got, c[2])
	}
}

func TestOtherProvidersRequestsAreNotClaimed(t *testing.T) {
	for _, c := range []struct {
		method, to string
		key        bool
		want       bool
	}{
		{"GET", "/v1beta/models", false, true},
		{"GET", "/v1/models", false, false},
		{"GET", "/v1/models", true, true},
		{"GET", "/v1/models/gpt-4o", false, false},
		{"GET", "/v1/models/gemini-2.5-flash?key=k", false, true},
		{"GET", "/v1/publishers/google/models", false, true},
		{"POST", flash + countTokens, true, true},
		{"POST", flash + generate, true, false},
	} {
		r := request(t, c.to)
		r.Method = c.method
		if !c.key {
			r.Header = http.Header{"Authorization": {"Bearer sk"}}
		}
		require.Equal(t, c.want, aside.Claims(r), "%s %s", c.method, c.to)
	}
	mux := http.NewServeMux() // as in the patterns
	for _, pattern := range aside.SideRequestPatterns() {
		mux.Handle(pattern, http.NotFoundHandler())
	}
}
