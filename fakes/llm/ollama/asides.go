package ollama

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// models are the listed models. Other names exist too.
var models = []string{"llama3.2:latest", "qwen3:8b", "gpt-oss:20b", "llama3.2:" + NoIDs}

// version is the Ollama version that the answers follow.
const version = "0.17.4"

// loaded is the modification time of every model.
var loaded = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// SideRequestPatterns returns what hosts request before a chat: a greeting, models and their capabilities, loaded
// models, the version.
func (chat) SideRequestPatterns() []string {
	return []string{"GET /api/tags", "GET /api/ps", "GET /api/version", "POST /api/show", "GET /{$}", "HEAD /{$}"}
}

// Claims takes every request: no other codec serves these paths.
func (chat) Claims(*http.Request) bool { return true }

// AnswerSideRequest answers that no model is loaded, and that every model has all capabilities.
func (c chat) AnswerSideRequest(r *http.Request, body []byte) dialect.Answer {
	switch r.URL.Path {
	case "/api/tags":
		list := []listed{}
		for _, name := range models {
			list = append(list, describe(name))
		}
		return plain(map[string]any{"models": list})
	case "/api/ps":
		return plain(map[string]any{"models": []listed{}})
	case "/":
		h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{[]byte("Ollama is running")}}
	case "/api/version":
		return plain(map[string]string{"version": version})
	}
	var asked struct{ Model, Name string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return c.EncodeError(refuse("the body cannot be read: %v", err))
	}
	if asked.Model == "" {
		asked.Model = asked.Name
	}
	if !modelName.MatchString(asked.Model) {
		return c.EncodeError(refuse("the model %q is no name: set model", asked.Model))
	}
	return plain(shown{
		Details: family, Capabilities: []string{"completion", "tools", "vision", "thinking"}, ModifiedAt: loaded,
		ModelInfo: map[string]any{"general.architecture": family.Family, family.Family + ".context_length": 131072},
	})
}

type listed struct {
	Name       string    `json:"name"`
	Model      string    `json:"model"`
	ModifiedAt time.Time `json:"modified_at"`
	Size       int64     `json:"size"`
	Digest     string    `json:"digest"`
	Details    details   `json:"details"`
}

type shown struct {
	Details      details        `json:"details"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
	ModifiedAt   time.Time      `json:"modified_at"`
}

type details struct {
	ParentModel       string   `json:"parent_model"`
	Format            string   `json:"format"`
	Family            string   `json:"family"`
	Families          []string `json:"families"`
	ParameterSize     string   `json:"parameter_size"`
	QuantizationLevel string   `json:"quantization_level"`
}

var family = details{Format: "gguf", Family: "llama", Families: []string{"llama"}, ParameterSize: "3.2B",
	QuantizationLevel: "Q4_K_M"}

func describe(name string) listed {
	digest := sha256.Sum256([]byte(name))
	return listed{Name: name, Model: name, ModifiedAt: loaded, Size: 2019393189, Digest: hex.EncodeToString(digest[:]),
		Details: family}
}
