package anthropic

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// The members of a request, of a token count, and those that an anthropic-beta header adds to both: API reference of
// 2026.
var (
	requestMembers = dialect.Set(`
		cache_control container diagnostics inference_geo max_tokens messages metadata model output_config service_tier
		speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p
	`)
	countMembers = dialect.Set("cache_control messages model output_config speed system thinking tool_choice tools")
	betaMembers  = dialect.Set("compaction context_management fallback_credit_token fallbacks mcp_servers output_format")
)

var versions = dialect.Set("2023-01-01 2023-06-01 2026-10-21")

// Check applies the rules that the API is known to enforce: headers, members, parameters, tools, messages, history. The
// order is our own. [messages.Decode] refuses an unreadable body earlier, even without a key.
func (messages) Check(req *dialect.Request) *dialect.Error {
	if err := checkHeader(req.Header); err != nil {
		return err
	}
	q, err := dialect.Parsed(req, parse)
	if err != nil {
		return err
	}
	q.beta = isBeta(req.Header)
	if err := checkMembers(q.Members, "", requestMembers, q.beta); err != nil {
		return err
	}
	if q.maxTokens == nil {
		return missing("", "max_tokens")
	}
	return check(q)
}

// check applies the rules that a message and a token count share.
func check(q *request) *dialect.Error {
	return dialect.First(q, checkParameters, checkSystemPrompt, checkThinking, checkTools, checkToolChoice, checkMessages,
		checkHistory)
}

// checkHeader requires an API version and any key.
func checkHeader(h http.Header) *dialect.Error {
	bearer, isBearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if h.Get("X-Api-Key") == "" && (!isBearer || bearer == "") {
		return &dialect.Error{Status: http.StatusUnauthorized,
			Message: "there is no key: want one as x-api-key, or as a bearer token in authorization"}
	}
	switch version := h.Get("Anthropic-Version"); {
	case version == "":
		return invalid("anthropic-version: the header is required and missing: want 2023-06-01")
	case !versions[version]:
		return invalid("anthropic-version: there is no version %q: want 2023-06-01 or 2026-10-21", version)
	}
	return nil
}

func isBeta(h http.Header) bool { return h.Get("Anthropic-Beta") != "" }

// checkMembers refuses unknown members. Only this refusal uses the API's own words, because users search for them.
func checkMembers(o dialect.Members, path string, known map[string]bool, isBeta bool) *dialect.Error {
	for _, name := range o.Unknown(known) {
		if !(isBeta && (path != "" || betaMembers[name])) {
			return invalid("%s%s: Extra inputs are not permitted", path, name)
		}
	}
	return nil
}

func checkParameters(q *request) *dialect.Error {
	switch {
	case q.model == "":
		return missing("", "model")
	case !q.Has("messages"):
		return invalid("messages: they are required and missing")
	case len(q.messages) == 0:
		return invalid("messages: want at least one")
	case q.maxTokens != nil && *q.maxTokens < 0:
		return invalid("max_tokens: it is %d: want at least 0", *q.maxTokens)
	case dialect.Outside(q.temperature, 0, 1):
		return invalid("temperature: it is %v: want 0 to 1", *q.temperature)
	case dialect.Outside(q.topP, 0, 1):
		return invalid("top_p: it is %v: want 0 to 1", *q.topP)
	}
	for i, s := range q.stopSequences {
		if strings.TrimSpace(s) == "" {
			return invalid("stop_sequences[%d]: it is white space: want something else in it", i)
		}
	}
	return nil
}

func checkSystemPrompt(q *request) *dialect.Error {
	for _, b := range q.system {
		switch {
		case b.kind != "text":
			return invalid("%s: it has the type %q: want text", b.path, b.kind)
		case b.raw != nil && strings.TrimSpace(b.text) == "": // a string may be empty
			return invalid("%s: the text is empty: want something in it", b.path)
		}
	}
	return checkMembers(q.metadata, "metadata.", dialect.Set("user_id"), false)
}

// minBudget is the smallest budget for thinking, in tokens.
const minBudget = 1024

func checkThinking(q *request) *dialect.Error {
	if q.thinking == nil {
		return nil
	}
	kind := q.thinking.Text("type")
	switch {
	case !slices.Contains([]string{"enabled", "adaptive", "disabled"}, kind):
		return invalid("thinking: it has the type %q: want enabled, adaptive or disabled", kind)
	case kind == "disabled":
		return nil
	case kind == "enabled" && q.budget == nil:
		return missing("", "thinking.budget_tokens")
	case kind == "enabled" && *q.budget < minBudget:
		return invalid("thinking.budget_tokens: it is %d: want at least %d", *q.budget, minBudget)
	case kind == "enabled" && q.maxTokens != nil && *q.maxTokens <= *q.budget:
		return invalid("max_tokens: it is %d: want more than thinking.budget_tokens, which is %d", *q.maxTokens, *q.budget)
	case q.temperature != nil && *q.temperature != 1:
		return invalid("temperature: it is %v: beside thinking only 1 is possible", *q.temperature)
	case q.choiceType == "any" || q.choiceType == "tool":
		return invalid("tool_choice: it is %s: beside thinking no tool can be forced", q.choiceType)
	}
	return nil
}
