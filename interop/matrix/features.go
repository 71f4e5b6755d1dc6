package matrix

import "slices"

// Feature is what the author of a server asks about, and the checks that tell.
type Feature struct {
	ID, Title string
	Checks    []string
	// Kinds limits checks of differences to these kinds; nil for all.
	Kinds []string
	// Revision limits the feature to a revision; "" for all.
	Revision string
	// Tools is true for a feature of sampling with tools: it says nothing of a client that does not declare them.
	Tools bool
}

func (f *Feature) concerns(r judged) bool {
	return slices.Contains(f.Checks, r.ID()) && (f.Revision == "" || f.Revision == r.Revision)
}

const (
	sampled = "client/sampled" // of a client that fails it, a check that passes says nothing
	given   = "always/model-was-given"
	answer  = "always/server-was-given"
)

// Features are the rows of the matrix.
var Features = []Feature{
	{ID: "2025-11-25", Title: "speaks 2025-11-25", Checks: []string{"client/connects"}, Revision: "2025-11-25"},
	{ID: "2026-07-28", Title: "speaks 2026-07-28", Checks: []string{"client/connects"}, Revision: "2026-07-28"},
	{ID: "declares", Title: "declares sampling", Checks: []string{sampled, "declare/sampling-declared"}},
	{ID: "declares-tools", Title: "declares sampling.tools", Checks: []string{"declare/tools-declared"}},
	{ID: "undeclared", Title: "refuses tools that it did not declare",
		Checks: []string{"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"}},
	{ID: "answers", Title: "answers every valid request, with a valid result",
		Checks: []string{"basic/answered", "always/answered", "always/valid-result", "always/has-model"}},
	{ID: "max-tokens", Title: "keeps maxTokens", Checks: []string{"always/max-tokens"}},
	{ID: "texts", Title: "passes texts unchanged, in order and roles", Checks: []string{given, answer},
		Kinds: []string{"lost-text", "changed-text", "broken-characters", "extra-text", "foreign-text", "changed-order",
			"changed-role"}},
	{ID: "tools", Tools: true, Title: "passes tools and their schemas", Checks: []string{given},
		Kinds: []string{"lost-tool", "extra-tool", "changed-schema", "changed-description", "changed-name"}},
	{ID: "tool-choice", Tools: true, Title: "passes the tool choice", Checks: []string{given},
		Kinds: []string{"lost-tool-choice"}},
	{ID: "none-holds", Tools: true, Title: "returns no tool use under the choice none",
		Checks: []string{"tool-use/choice-none-holds", "tool-use/choice-none-filtered"}},
	{ID: "arguments", Tools: true, Title: "passes the arguments of tool uses",
		Checks: []string{given, answer, "tool-use/bad-arguments"},
		Kinds:  []string{"changed-input", "rounded-number"}},
	{ID: "stop-reasons", Title: "says truly why the model stopped",
		Checks: []string{answer, "tool-use/stop-reason-tooluse", "tool-use/stop-beside-calls"},
		Kinds:  []string{"changed-stop-reason"}},
	{ID: "parallel-uses", Tools: true, Title: "passes several tool uses at once",
		Checks: []string{answer, "parallel/streamed-uses", "parallel/late-delta"},
		Kinds:  []string{"lost-tool-use", "extra-tool-use", "shared-id"}},
	{ID: "parallel-results", Tools: true, Title: "passes several tool results at once",
		Checks: []string{given, "parallel/results-reach-model"}, Kinds: []string{"lost-result", "misnamed-result"}},
	{ID: "error-results", Tools: true, Title: "tells the model that a tool failed", Checks: []string{given},
		Kinds: []string{"lost-error", "added-error"}},
	{ID: "rich-results", Tools: true, Title: "passes structured results, links and resources", Checks: []string{given},
		Kinds: []string{"changed-result"}},
	{ID: "media", Title: "passes images and audio, or refuses them clearly", Checks: []string{given, "basic/media"},
		Kinds: []string{"lost-media", "changed-media", "extra-media"}},
	{ID: "loops", Tools: true, Title: "goes through tool loops of many rounds, also several at once",
		Checks: []string{"loop/three-rounds", "loop/last-round-none", "loop/interleaved", "loop/concurrent"}},
	{ID: "histories", Tools: true, Title: "refuses histories that the specification forbids",
		Checks: []string{"balance/missing-result", "balance/no-result", "balance/late-result", "balance/trailing-use",
			"balance/mixed-content", "balance/orphan-result", "balance/duplicate-use-id"}},
	{
		ID:     "cancels",
		Title:  "ends the work of a cancelled request",
		Checks: []string{"cancel/stops-work", "cancel/no-answer"},
	},
	{ID: "odd-cancels", Title: "ignores cancels of nothing",
		Checks: []string{"cancel/unknown-id", "cancel/finished-id", "cancel/malformed-cancel"}},
	{ID: "failures", Title: "makes an error of a model's failure",
		Checks: []string{"provider-errors/is-error", "provider-errors/partial-not-whole", "provider-errors/refusal-told"}},
	{ID: "secrets", Title: "keeps keys and the provider's words to itself",
		Checks: []string{"always/no-secret", "always/no-internals", "provider-errors/no-upstream-body"}},
	{ID: "consent", Title: "lets the user decline", Checks: []string{"consent/declined", "consent/declined-code"}},
	{ID: "mrtr", Title: "retries with input and state (2026-07-28)",
		Checks: []string{"mrtr/retried", "mrtr/rounds", "always/state-echoed", "always/input-keys", "always/same-params"}},
	{ID: "sessions", Title: "resumes streams, and begins a new session after a lost one",
		Checks: []string{"transport/reconnects", "transport/session-lost", "transport/handlers-survive"}},
	{ID: "streams", Title: "reads event streams in every common style", Checks: []string{"transport/sse-details"}},
}
