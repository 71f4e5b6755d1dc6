package faults

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/legitimate"
)

// change is a group of faults that a correct client may have.
type change struct {
	kinds, patterns string // regular expressions, for all of a kind and of a pattern
	edits           string // regular expression; "" for all
	id              string // in package legitimate
}

// Edits that leave a valid value of the same type, and those that leave none.
const (
	otherText   = "cut|append|reverse|other case|trim|in one line|in ASCII"
	otherItems  = "duplicate|drop first|drop last|move first|swap"
	otherNumber = "double|add one"
	anyOther    = otherText + "|" + otherItems + "|" + otherNumber + "|exchange|all alike|the one before"
	otherOrder  = "reverse|move first|swap|exchange"
	noValue     = "delete"
)

// changes are all legal changes. What is not certain does not belong here.
var changes = []change{
	// What the server prefers.
	{samplingRequest, `systemPrompt`, "delete|null|" + anyOther + "|empty", "system-prompt"},
	{modelRequest, `system(\[type=text\].*)?|systemInstruction(\..*)?|instructions|messages\[role=system\].*|systemPrompt`,
		"delete|null|" + anyOther + "|empty", "system-prompt"},
	{samplingRequest + `|` + modelRequest, `tools(\[.*\])?(\.functionDeclarations(\[\])?)?`, otherOrder,
		"tool-order"},
	{samplingRequest + `|` + modelRequest, `tools\[.*\.(required|enum|anyOf|oneOf|allOf|type)(\[\])?`, otherOrder,
		"same-schema"},
	{modelRequest, `messages\[role=assistant\]\.tool_calls\[\]\.function\.index`, "", "provider-members"},
	{samplingRequest, `.*\.mimeType`, "other case", "http-case"},
	{samplingRequest, `task`, "empty|as JSON", "task-ttl"},
	{samplingRequest, `task\.ttl`, "", "task-ttl"},
	{samplingRequest, `includeContext`, "", "include-context"},
	{samplingRequest + `|` + modelRequest, `modelPreferences(\..*)?`, "", "model-choice"},
	{samplingRequest, `temperature|stopSequences(\[\])?|metadata(\..*)?`,
		noValue + "|null|empty|" + anyOther, "settings"},
	{samplingRequest + `|` + modelRequest, `temperature|maxTokens|generationConfig\.(temperature|maxOutputTokens)`,
		"retype", "provider-forms"},
	{modelRequest, `temperature|(generationConfig|options)\.(temperature|stopSequences|stop)(\[\])?|` +
		`stop(_sequences)?(\[\])?|stopSequences(\[\])?|metadata(\..*)?`,
		noValue + "|null|empty|" + anyOther, "settings"},
	{modelRequest, `stream_options(\.include_usage)?`, noValue + "|null|empty|flip", "own-settings"},
	{modelRequest, `stream`, noValue + "|null", "provider-forms"},
	{modelRequest, `tools(\[.*\])?\.strict`, "null", "provider-forms"},
	{samplingRequest + `|` + modelRequest, `tools.*\.enum`, "add null", "nullable-properties"},
	{samplingRequest + `|` + modelRequest, `tools.*\.examples`, noValue + "|null|empty", "provider-keywords"},
	{modelRequest, `store`, "", "own-settings"},
	{modelRequest, `contents.*\.functionCall\.id`, noValue + "|null|empty", "no-ids"},
	{modelRequest, `contents\[role=user\]\.role`, noValue + "|null", "provider-forms"},
	{modelRequest, `tools.*\.description`, "append", "longer-descriptions"},
	{modelRequest, `model`, anyOther, "model-choice"},
	{samplingRequest + `|` + modelRequest, `.*annotations(\..*)?`, "", "meta"},
	{samplingRequest, `.*\[type=resource_link\]\.uri`, noValue, "resources-as-text"},
	{samplingRequest, `.*\[type=resource\]\.type`, "", "resources-as-text"},
	{samplingRequest, `.*\[type=resource_link\]\.(name|title|description|mimeType|size|type)`, noValue + "|null|empty",
		"resources-as-text"},
	{samplingRequest, `.*\[type=resource_link\]\.(type|size)`, "", "resources-as-text"},
	{samplingRequest, `.*\[type=resource\]\.resource\.(uri|mimeType)`, "", "resources-as-text"},
	{samplingRequest + `|` + modelRequest, `.*\bcomExample.*`, "", "extra-members"},
	{samplingRequest + `|` + modelRequest, `.*_meta(\..*)?`, "", "meta"},

	// What the client says of itself.
	{received + otherResponse, `result\.tools(\[\])?(\..*)?`, "", "calls"},
	{headers, `[^.]*`, "rename", "http-case"},
	{headers, `Content-Type|Accept`, "other case", "http-case"},
	{`.*`, `params\.(_meta\.io\.modelcontextprotocol/)?clientInfo\.(title|description|websiteUrl|icons.*)`, noValue,
		"client-info"},
	{`.*`, `params\.(_meta\.io\.modelcontextprotocol/)?clientInfo\.(name|version|title|description)`,
		anyOther + "|empty", "client-info"},
	{`initialize`, `params\.capabilities\.(tasks|roots|elicitation)(\..*)?`, noValue + "|empty",
		"declared-features"},
	{`tools/list`, `params`, noValue, "optional-members"},
	{`.*`, `params\._meta\.progressToken`, noValue + "|retype|the one before|" + otherNumber + "|" + otherText,
		"progress"},
	{`notifications/progress`, ``, noValue, "progress"},
	{`tools/call|prompts/get|resources/read`, `params\._meta`, noValue, "optional-members"},
	{`tools/call|prompts/get|resources/read|` + retry, `params\._meta`, "the one before", "progress"}, // another token
	{`notifications/progress`, `params\.progress`, otherNumber, "progress"},
	{`notifications/progress`, `params\.(total|message)`, noValue, "progress"},
	{`notifications/progress`, `params\.(total|message)`, anyOther + "|empty", "progress"},
	{`notifications/progress`, `method`, otherText, "progress"},
	{received + `notifications/progress`, `.*`, "", "progress"},
	{`notifications/tasks/status`, `|method`, noValue + "|duplicate|" + otherText, "task-status"},
	{`response|notifications/tasks/status`, `(params|result(\.task|\.tasks\[\])?)\.(pollInterval|statusMessage)`,
		noValue + "|empty|" + anyOther, "optional-members"},
	{`response|notifications/tasks/status`, `(params|result(\.task|\.tasks\[\])?)\.ttl`, otherNumber + "|null",
		"task-ttl"},
	{`tools/list|tools/call|prompts/get|resources/read|server/discover`, ``, "duplicate", "equal-ids"},
	{`tools/call`,
		`params\._meta\.io\.modelcontextprotocol/clientCapabilities\.(sampling\.(tools|context)|roots|elicitation)(\..*)?`,
		noValue, "declared-features"},
	{`server/discover`, ``, noValue, "discovery"},
	{`notifications/cancelled`, `params\.reason`, noValue + "|empty|" + anyOther, "cancel-reason"},

	// What the client answers.
	{samplingResponse + `|` + retry, `.*\.stopReason`, noValue + "|empty|" + otherText, "stop-reasons"},
	{samplingResponse + `|` + retry, `.*\[type=tool_use\]\.id`, otherText, "answer-ids"},
	{modelReply, `(.*\.)?(stopReason|stop_reason|finish_reason|finishReason|done_reason)`,
		noValue + "|null|empty|" + otherText, "stop-reasons"},
	{modelReply, `.*\[type=refusal\]\.type`, "", "stop-reasons"},
	{modelReply, `(.*\.)?(model|modelVersion)`, noValue + "|append|cut|other case|exchange|all alike|the one before",
		"model-name"},
	{`tools/call|` + retry, `params\.arguments`, noValue, "optional-members"},
	{modelReply, `(.*\.)?(id|call_id)`, noValue + "|null|empty|" + otherText, "answer-ids"},
	{samplingResponse + `|` + retry, `.*\.model`, "other case", "model-name"},
	{samplingResponse, `error(\.message)?`, otherText + "|the one before", "errors"},
	{samplingResponse, `error\.code`, otherNumber + "|the one before", "errors"},
	{samplingResponse, `error\.data(\..*)?`, "", "errors"},
}

// limited are the changes that are legal only in some dialects, or under a condition; "" for all.
var limited = []struct {
	change
	dialects, condition string
}{
	{change{samplingResponse + `|` + retry, `.*\.content`, otherOrder, "answer-order"},
		`openai-chat|ollama|cohere-chat`, ""},
	{change{samplingRequest + `|` + modelRequest,
		`tools(\[\]\.inputSchema|\[type=function\]\.function\.parameters)(\..*)?\.` +
			`(additionalProperties|default|examples(\[\])?|(min|max)(Length|Items|imum)|pattern|format)`, "",
		"provider-keywords"}, dialect.Ollama, ""},
	{change{modelRequest, `.*`, "rename", "provider-forms"}, dialect.Ollama, ""},
	{change{modelRequest, `messages\[.*\]\.role`, "other case", "provider-forms"}, dialect.Ollama, ""},
	{change{modelReply, `.*(functionCall|tool_calls|tool_use|function_call).*`, "", "unallowed-uses"},
		"", "without-tools"},
}

// legal returns the reason why a client may do what a fault does, or "". Refused is true if all that it did was to
// refuse requests.
func legal(f *Fault, refused bool) string {
	if refused && f.Kind == samplingRequest {
		return legitimate.Find("refusal").Reason // always/answered fails one that refuses what all serve
	}
	for i := range changes {
		if changes[i].has(f) {
			return legitimate.Find(changes[i].id).Reason
		}
	}
	for i := range limited {
		l := &limited[i]
		if (l.dialects == "" || matches(l.dialects, f.Setting.Dialect)) &&
			(l.condition == "" || l.condition == f.Condition) && l.has(f) {
			return legitimate.Find(l.id).Reason
		}
	}
	return ""
}

// has reports whether the change has the place and the edit of a fault. After rename, the member is missing, and one is
// there that means nothing.
func (c *change) has(f *Fault) bool {
	return matches(c.kinds, f.Kind) && matches(c.patterns, f.Pattern) &&
		(c.edits == "" || matches(c.edits, f.Edit) || f.Edit == "rename" && matches(c.edits, noValue))
}

func matches(expression, text string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString(text)
}
