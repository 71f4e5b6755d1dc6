package model

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// modelName chooses between three models of a provider (2025-11-25, schema#modelpreferences). The first hint that is
// part of a name wins. Without one the priorities decide, and then the client.
func modelName(params map[string]any, own, small, clever string) string {
	preferences, _ := params["modelPreferences"].(map[string]any)
	hints, _ := preferences["hints"].([]any)
	for _, item := range hints {
		hint, _ := item.(map[string]any)
		name := jsonvalue.TextIn(hint, "name")
		for _, known := range []string{own, small, clever} {
			if name != "" && strings.Contains(known, name) {
				return known
			}
		}
	}
	intelligence := priority(preferences, "intelligencePriority")
	cheap := max(priority(preferences, "costPriority"), priority(preferences, "speedPriority"))
	switch {
	case intelligence > cheap:
		return clever
	case cheap > intelligence:
		return small
	}
	return own
}

func priority(preferences map[string]any, name string) float64 {
	n, _ := preferences[name].(json.Number)
	f, _ := n.Float64()
	return f
}
