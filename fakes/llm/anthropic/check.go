package anthropic

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var versions = jsonvalue.Set("2023-01-01 2023-06-01 2026-10-21")

// Check applies the rules that the API is known to enforce: headers, members, parameters, tools, messages, history.
// Messages that are known are the API's own, because users search for them; the order is ours. [messages.Decode]
// refuses an unreadable body earlier, even without a key.
func (messages) Check(req *dialect.Request) *dialect.Error {
	if err := checkHeader(req.Header); err != nil {
		return err
	}
	q, err := dialect.Parsed(req, parse)
	if err != nil {
		return err
	}
	q.beta = isBeta(req.Header, req.URL)
	q.interleaved = strings.Contains(req.Header.Get(betaHeader), "interleaved-thinking")
	if err := q.checkMembers("request"); err != nil {
		return err
	}
	if !q.Has("max_tokens") {
		return missing("", "max_tokens")
	}
	return check(q)
}

// check applies the rules that a message and a token count share.
func check(q *request) *dialect.Error {
	return codecs.First(q, checkParameters, checkSystemPrompt, checkThinking, checkOutput, checkTools, checkToolChoice,
		checkMessages, checkHistory, checkThinkingTurn, checkCacheControl)
}

// checkHeader requires an API version and any key.
func checkHeader(h http.Header) *dialect.Error {
	bearer, isBearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if h.Get("X-Api-Key") == "" && (!isBearer || bearer == "") {
		return &dialect.Error{Status: http.StatusUnauthorized,
			Message: "x-api-key header is required"}
	}
	switch version := h.Get("Anthropic-Version"); {
	case version == "":
		return invalid("anthropic-version: header is required")
	case !versions[version]:
		return ours("anthropic-version: %q is not a valid version", version)
	}
	return nil
}

const betaHeader = "Anthropic-Beta"

// isBeta reports whether a request names betas, or is one of the SDKs' beta clients: those add ?beta=true, which is all
// that recordings without headers have of it (pydantic-ai's of Anthropic).
func isBeta(h http.Header, u *url.URL) bool {
	return h.Get(betaHeader) != "" || u != nil && u.Query().Get("beta") == "true"
}

func (q *request) checkMembers(object string) *dialect.Error {
	if q.beta {
		return api.CheckKnown(q.node, object, "", "beta")
	}
	return api.CheckKnown(q.node, object, "")
}

func checkParameters(q *request) *dialect.Error {
	if err := api.CheckValues(q.node, "request", "", "model", "messages"); err != nil {
		return err
	}
	if len(q.messages) == 0 {
		return invalid("messages: at least one message is required")
	}
	if err := api.CheckValues(q.node, "request", ""); err != nil {
		return err
	}
	for _, s := range q.Strings("stop_sequences") {
		if strings.TrimSpace(s) == "" {
			return invalid("stop_sequences: each stop sequence must contain non-whitespace")
		}
	}
	if q.Has("temperature") && q.Has("top_p") && oneSampler.MatchString(q.Text("model")) {
		return invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	}
	return nil
}

// oneSampler matches the models that are known to refuse temperature beside top_p: langfuse/langfuse#9882,
// comet-ml/opik#3728, SalesforceAIResearch/MCP-Universe#49, Vali-98/ChatterUI#564.
var oneSampler = regexp.MustCompile(`claude-(opus-4-[15]|sonnet-4-[56]|haiku-4-5)\b`)

func checkSystemPrompt(q *request) *dialect.Error {
	for _, b := range q.system {
		switch {
		case b.kind != "text":
			return unexpectedTag(b.path, b.kind, "text")
		case b.raw != nil && strings.TrimSpace(b.text) == "": // a string may be empty
			return invalid("system: text content blocks must be non-empty")
		}
	}
	return api.CheckKnown(q.At("metadata"), "metadata", "metadata.")
}

// minBudget is the smallest budget for thinking, in tokens.
const minBudget = 1024

const consult = "Please consult our documentation at " +
	"https://docs.claude.com/en/docs/build-with-claude/extended-thinking"

// checkThinking refuses forced tools with a budget only: adaptive thinking takes them (recordings of pydantic-ai). The
// budget of interleaved thinking covers several turns, and may exceed max_tokens (guide to extended thinking).
func checkThinking(q *request) *dialect.Error {
	kind := q.At("thinking").Kind
	switch temperature := q.Number("temperature"); {
	case !q.Has("thinking"):
		return nil
	case api.CheckValues(q.At("thinking"), "thinking", "thinking") != nil:
		return api.CheckValues(q.At("thinking"), "thinking", "thinking")
	case kind == "disabled", kind == "between_tools":
		return nil
	case kind == "enabled" && checkBudget(q) != nil:
		return checkBudget(q)
	case temperature != nil && *temperature != 1:
		return invalid("`temperature` may only be set to 1 when thinking is enabled. %s#important-considerations-when-using-"+
			"extended-thinking", consult)
	case kind == "enabled" && (q.choice() == "any" || q.choice() == "tool"):
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

func (q *request) choice() string { return q.At("tool_choice").Kind }

func checkBudget(q *request) *dialect.Error {
	budget, limit := q.At("thinking").Integer("budget_tokens"), q.Integer("max_tokens")
	switch {
	case budget == nil:
		return missing("", "thinking.enabled.budget_tokens")
	case *budget < minBudget:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to %d", minBudget)
	case limit != nil && *limit <= *budget && !q.interleaved:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`. %s#max-tokens-and-context-window-size",
			consult)
	}
	return nil
}

// checkThinkingTurn refuses an open turn without thinking if that is enabled. The turn is open if tool results end the
// conversation. Thinking begins it, and may begin its later messages too.
func checkThinkingTurn(q *request) *dialect.Error {
	if n := len(q.messages); q.At("thinking").Kind != "enabled" || n == 0 || !q.messages[n-1].has("tool_result") {
		return nil
	}
	var final *block // the first of the last assistant message
	for _, m := range slices.Backward(q.messages) {
		switch {
		case m.role == "assistant" && strings.HasSuffix(m.content[0].kind, "thinking"):
			return nil
		case m.role == "assistant" && final == nil:
			final = &m.content[0]
		}
		if m.role == "user" && !m.has("tool_result") {
			break
		}
	}
	return invalid("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a "+
		"final `assistant` message must start with a thinking block (prece"+"eding the lastmost set of `tool_use` and "+
		"`tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, "+
		"disable `thinking`. %s", place(final.path), final.kind, consult)
}

func (m *message) has(kind string) bool {
	return slices.ContainsFunc(m.content, func(b block) bool { return b.kind == kind })
}

// maxCached is how many blocks and tools may have cache_control.
const maxCached = 4

func checkCacheControl(q *request) *dialect.Error {
	cached := 0
	count := func(o jsonvalue.Members) {
		if o.Has("cache_control") {
			cached++
		}
	}
	count(q.Members)
	for _, t := range q.List("tools") {
		count(t.Members)
	}
	blocks := slices.Clone(q.system)
	for _, m := range q.messages {
		blocks = append(blocks, m.content...)
	}
	for _, b := range blocks {
		count(b.Members)
		for _, inner := range b.content {
			count(inner.Members)
		}
	}
	if cached > maxCached {
		return invalid("A maximum of %d blocks with cache_control may be provided. Found %d.", maxCached, cached)
	}
	return nil
}
