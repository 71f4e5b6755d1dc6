package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// FromEnvironment reads which model to ask from the environment, given as a function such as [os.Getenv]:
// SAMPLING_PROVIDER is a dialect or a provider, such as openai-responses or anthropic; SAMPLING_API_KEY is its key,
// SAMPLING_ENDPOINT its base URL, by default the provider's own, and SAMPLING_MODEL the model. Without
// SAMPLING_PROVIDER, found is false.
func FromEnvironment(getenv func(string) string) (o Options, found bool, err error) {
	provider := strings.ToLower(getenv("SAMPLING_PROVIDER"))
	if provider == "" {
		return Options{}, false, nil
	}
	o = Options{Dialect: provider, URL: getenv("SAMPLING_ENDPOINT"), Key: getenv("SAMPLING_API_KEY"),
		Model: getenv("SAMPLING_MODEL")}
	var known []string
	for _, name := range dialects.APIs() {
		facts := dialects.FactsOf(name)
		switch {
		case facts.Address == "":
		case name == provider, facts.Provider == provider:
			o.Dialect, o.URL = name, cmp.Or(o.URL, facts.Address+facts.Base)
			return o, true, nil
		default:
			known = append(known, name)
		}
	}
	return o, true, fmt.Errorf("SAMPLING_PROVIDER: expected openai or one of %s, found %q", strings.Join(known, ", "),
		provider)
}
