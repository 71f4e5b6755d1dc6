package reference

import (
	"encoding/json"
	"strings"
)

// modelName chooses one of the models that the client has of a provider: its own choice, a small one, and a clever one (2025-11-25,
// schema#modelpreferences). The first hint that is part of a name decides. Where none is, what the server cares for most does, and else the
// client itself.
func modelName(params map[string]any, own, small, clever string) string {
	preferences, _ := params["modelPreferences"].(map[string]any)
	hints, _ := preferences["hints"].([]any)
	for _, item := range hints {
		hint, _ := item.(map[string]any)
		name := text(hint, "name")
		for _, known := range []string{own, small, clever} {
			if name != "" && strings.Contains(known, name) {
				return known
			}
		}
	}
	intelligence, cheap := priority(preferences, "intelligencePriority"), max(priority(preferences, "costPriority"), priority(preferences, "speedPriority"))
	switch {
	case intelligence > cheap:
		return clever
	case cheap > intelligence:
		return small
	}
	return own
}

// priority is a number of the preferences, 0 where it is not given.
func priority(preferences map[string]any, name string) float64 {
	n, _ := preferences[name].(json.Number)
	f, _ := n.Float64() // no number: nothing is cared for
	return f
}
