package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// endpoints are the providers' own addresses, by the name of a dialect.
var endpoints = map[string]string{
	dialect.OpenAIChat: "https://api.openai.com/v1", dialect.OpenAIResponses: "https://api.openai.com/v1",
	dialect.Anthropic: "https://api.anthropic.com", dialect.Gemini: "https://generativelanguage.googleapis.com",
	dialect.Ollama: "http://localhost:11434",
}

// FromEnvironment reads which model to ask from the environment, given as a function such as [os.Getenv]:
// SAMPLING_PROVIDER is openai, openai-responses, anthropic, gemini or ollama; SAMPLING_API_KEY is its key,
// SAMPLING_ENDPOINT its base URL, by default the provider's own, and SAMPLING_MODEL the model. Without
// SAMPLING_PROVIDER, found is false.
func FromEnvironment(getenv func(string) string) (o Options, found bool, err error) {
	provider := strings.ToLower(getenv("SAMPLING_PROVIDER"))
	if provider == "" {
		return Options{}, false, nil
	}
	o = Options{Dialect: provider, URL: getenv("SAMPLING_ENDPOINT"), Key: getenv("SAMPLING_API_KEY"),
		Model: getenv("SAMPLING_MODEL")}
	if provider == "openai" {
		o.Dialect = dialect.OpenAIChat
	}
	if endpoints[o.Dialect] == "" {
		known := slices.Sorted(maps.Keys(endpoints))
		return o, true, fmt.Errorf("SAMPLING_PROVIDER: expected openai or one of %s, found %q", strings.Join(known, ", "),
			provider)
	}
	if o.URL == "" {
		o.URL = endpoints[o.Dialect]
	}
	return o, true, nil
}
