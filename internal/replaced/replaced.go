// Package replaced knows the checks of earlier versions that are gone, because a rule for every case finds the same.
// Baselines and scripts of users may still name them.
package replaced

// Rules are the checks that replaced others, by the IDs of those.
var Rules = map[string]string{
	"basic/empty-answer":       "always/valid-result",
	"basic/include-context":    "always/answered",
	"basic/no-array-before-a":  "always/valid-result",
	"basic/no-foreign-context": "always/model-was-given",
	"basic/single-and-array":   "always/answered",
	"basic/unknown-extras":     "always/answered",
	"cancel/race":              "always/answered",
	"consent/declined-mrtr":    "always/input-keys",
	"tasks/ttl-told":           "always/valid-message",
	"time/progress-token":      "always/progress-tokens",
	"tool-use/choice-accepted": "always/model-was-given",
	"tool-use/choice-empty":    "always/model-was-given",
	"tool-use/many-tools":      "always/answered",
	"tool-use/tool-use-block":  "always/server-was-given",
	"tool-use/tools-accepted":  "always/model-was-given",
	"transport/answers-once":   "always/one-response",
	"transport/header-value":   "always/http-headers",
}
