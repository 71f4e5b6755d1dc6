package ollama

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// models are the listed models. Other names exist too.
var models = []string{"llama3.2:latest", "qwen3:8b", "gpt-oss:20b", "llama3.2:" + NoIDs}

// version is the Ollama version that the answers follow.
const version = "0.17.4"

// loaded is the modification time of every model.
var loaded = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// SideRequestPatterns returns what hosts request before a chat: a greeting, models and their capabilities, loaded
// models, the version, and embeddings, in their present form and the old one.
func (chat) SideRequestPatterns() []string {
	return []string{"GET /api/tags", "GET /api/ps", "GET /api/version", "POST /api/show", "GET /{$}", "HEAD /{$}",
		"POST /api/embed", "POST /api/embeddings"}
}

// Claims takes embeddings, and all others below Ollama's own base URL: a host that asks another server for its models
// here wants to know whether it is Ollama.
func (chat) Claims(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/embed") || dialect.IsApart(r)
}

// AnswerSideRequest answers that no model is loaded, and that every model has all capabilities.
func (c chat) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	switch r.URL.Path {
	case "/api/tags":
		list := []json.RawMessage{}
		for _, name := range models {
			list = append(list, describe(name))
		}
		return plain(map[string]any{"models": list})
	case "/api/ps":
		return plain(map[string]any{"models": []string{}})
	case "/":
		h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{[]byte("Ollama is running")}}
	case "/api/version":
		return plain(map[string]string{"version": version})
	}
	if strings.HasPrefix(r.URL.Path, "/api/embed") {
		return c.embed(r, body)
	}
	var wanted struct{ Model, Name string }
	if err := json.Unmarshal(body, &wanted); err != nil {
		return c.EncodeError(refuse("%v", err))
	}
	if wanted.Model == "" {
		wanted.Model = wanted.Name
	}
	if !modelName().MatchString(wanted.Model) {
		return c.EncodeError(refuse(noModel))
	}
	info := map[string]any{"general.architecture": family, family + ".context_length": 131072}
	return plain(jsonvalue.Ordered("details", details(), "model_info", info,
		"capabilities", []string{"completion", "tools", "vision", "thinking"}, "modified_at", loaded))
}

// embed answers with embeddings of 768 dimensions, as those of nomic-embed-text, if the request wants no others.
func (c chat) embed(r *http.Request, body []byte) dialect.Answer {
	var q struct {
		Model, Prompt string
		Input         json.RawMessage
		Dimensions    int
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return c.EncodeError(refuse("%v", err))
	}
	const usual, most = 768, 1 << 14
	size := cmp.Or(q.Dimensions, usual)
	var texts []string
	text, isText := jsonvalue.TextOf(q.Input)
	switch {
	case !modelName().MatchString(q.Model):
		return c.EncodeError(refuse(noModel))
	case size < 0 || size > most:
		return c.EncodeError(refuse("dimensions is %d: set one from 1 to %d"+dialect.OwnWords, size, most))
	case r.URL.Path == "/api/embeddings":
		return plain(jsonvalue.Ordered("embedding", dialect.Embedding(q.Prompt, usual)))
	case isText:
		texts = []string{text}
	case json.Unmarshal(q.Input, &texts) != nil:
		return c.EncodeError(refuse("invalid input type"))
	}
	embeddings, tokens := [][]float32{}, 0
	for _, text := range texts {
		embeddings = append(embeddings, dialect.Embedding(text, size))
		tokens += 1 + len(text)/4
	}
	return plain(jsonvalue.Ordered("model", q.Model, "embeddings", embeddings, "total_duration", 14143917,
		"load_duration", 1019500, "prompt_eval_count", tokens))
}

const family = "llama"

func details() json.RawMessage {
	return jsonvalue.Ordered("parent_model", "", "format", "gguf", "family", family, "families", []string{family},
		"parameter_size", "3.2B", "quantization_level", "Q4_K_M")
}

func describe(name string) json.RawMessage {
	digest := sha256.Sum256([]byte(name))
	return jsonvalue.Ordered("name", name, "model", name, "modified_at", loaded, "size", 2019393189,
		"digest", hex.EncodeToString(digest[:]), "details", details())
}
