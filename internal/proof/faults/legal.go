package faults

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// change is a group of faults that a correct client may have.
type change struct {
	kinds, patterns string // regular expressions, for all of a kind and of a pattern
	edits           string // regular expression; "" for all
	reason          string // with the sentence that allows it
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
	{samplingRequest, `systemPrompt`, "delete|null|" + anyOther + "|empty",
		"schema, CreateMessageRequestParams.systemPrompt: the client MAY modify or omit this prompt"},
	{modelRequest, `system(\[type=text\].*)?|systemInstruction(\..*)?|instructions|messages\[role=system\].*|systemPrompt`,
		"delete|null|" + anyOther + "|empty",
		"schema, CreateMessageRequestParams.systemPrompt: the client MAY modify or omit this prompt"},
	{samplingRequest + `|` + modelRequest, `tools(\[.*\])?(\.functionDeclarations(\[\])?)?`, otherOrder,
		"server/tools: tools have names, and their order means nothing"},
	{samplingRequest + `|` + modelRequest, `tools\[.*\.(required|enum|anyOf|oneOf|allOf|type)(\[\])?`, otherOrder,
		"JSON Schema: the order of these lists means nothing"},
	{modelRequest, `messages\[role=assistant\]\.tool_calls\[\]\.function\.index`, "",
		"Ollama's API: the index numbers the calls of a stream; in a request their order counts"},
	{samplingRequest, `.*\.mimeType`, "other case", "RFC 2045, 5.1: the names of media types have no case"},
	{samplingRequest, `task`, "empty|as JSON",
		"basic/utilities/tasks: a receiver MAY override the requested ttl, the only member"},
	{samplingRequest, `task\.ttl`, "", "basic/utilities/tasks: a receiver MAY override the requested ttl"},
	{samplingRequest, `includeContext`, "", "schema, CreateMessageRequestParams.includeContext: the client MAY ignore it"},
	{samplingRequest + `|` + modelRequest, `modelPreferences(\..*)?`, "",
		"schema, CreateMessageRequestParams.modelPreferences: the client MAY ignore these preferences"},
	{samplingRequest, `temperature|stopSequences(\[\])?|metadata(\..*)?`,
		noValue + "|null|empty|" + anyOther,
		"client/sampling: the client may modify temperature, stop sequences and metadata, which are hints"},
	{samplingRequest + `|` + modelRequest, `temperature|maxTokens|generationConfig\.(temperature|maxOutputTokens)`,
		"retype", "Gemini: JSON of protocol buffers, in which a number may be a string; other providers refuse it"},
	{modelRequest, `temperature|(generationConfig|options)\.(temperature|stopSequences|stop)(\[\])?|` +
		`stop(_sequences)?(\[\])?|stopSequences(\[\])?|metadata(\..*)?`,
		noValue + "|null|empty|" + anyOther,
		"client/sampling: the client may modify temperature, stop sequences and metadata, which are hints"},
	{modelRequest, `stream_options(\.include_usage)?`, noValue + "|null|empty|flip",
		"OpenAI's API, stream_options: the client need not know the usage"},
	{modelRequest, `stream`, noValue + "|null", "Ollama's API: a chat is streamed unless stream is false"},
	{modelRequest, `tools(\[.*\])?\.strict`, "null", "OpenAI's responses, tools: strict is a boolean or null"},
	{modelRequest, `tools.*\.enum`, "add null",
		"OpenAI: a strict schema requires all properties, so optional ones may be null"},
	{modelRequest, `store`, "",
		"OpenAI's API, store: whether the provider keeps the response, which is the client's choice"},
	{modelRequest, `contents.*\.functionCall\.id`, noValue + "|null|empty", "Gemini's API, FunctionCall.id: optional"},
	{modelRequest, `contents\[role=user\]\.role`, noValue + "|null", "Gemini's API: content without a role is a user's"},
	{modelRequest, `tools.*\.description`, "append",
		"server/tools: a description is text for the model; the server's is in it"},
	{modelRequest, `model`, anyOther,
		"client/sampling, Model Preferences: the client makes the final model selection"},
	{samplingRequest, `.*annotations(\..*)?`, "",
		"schema, Annotations: optional annotations for the client, which may use them to inform how objects are used"},
	{samplingRequest, `.*\[type=resource_link\]\.uri`, noValue,
		"server/tools, Resource Links: no provider has a block for links; checks require the address, under any name"},
	{samplingRequest, `.*\[type=resource\]\.type`, "",
		"schema, EmbeddedResource: it is up to the client how best to render embedded resources for the model"},
	{samplingRequest, `.*\[type=resource_link\]\.(name|title|description|mimeType|size|type)`, noValue + "|null|empty",
		"server/tools, Resource Links: no provider has a block for links; the model needs the address"},
	{samplingRequest, `.*\[type=resource_link\]\.(type|size)`, "",
		"server/tools, Resource Links: no provider has a block for links, so their type is the client's word"},
	{samplingRequest, `.*\[type=resource\]\.resource\.(uri|mimeType)`, "",
		"schema, EmbeddedResource: it is up to the client how best to render embedded resources for the model"},
	{samplingRequest, `.*\bcomExample.*`, "", "basic: unknown members mean nothing to the client"},
	{samplingRequest + `|` + modelRequest, `.*_meta(\..*)?`, "",
		"basic, _meta: reserved for additional metadata; no provider has a field for it"},

	// What the client says of itself.
	{received + otherResponse, `result\.tools(\[\])?(\..*)?`, "",
		"server/tools: which tools are called is the choice of the user and the model"},
	{headers, `[^.]*`, "rename", "HTTP: the names of headers have no case"},
	{headers, `Content-Type|Accept`, "other case", "HTTP: media types have no case"},
	{`.*`, `params\.(_meta\.io\.modelcontextprotocol/)?clientInfo\.(title|description|websiteUrl|icons.*)`, noValue,
		"schema, Implementation: the member is optional"},
	{`.*`, `params\.(_meta\.io\.modelcontextprotocol/)?clientInfo\.(name|version|title|description)`,
		anyOther + "|empty", "schema, Implementation: any text; a build without a version has an empty one"},
	{`initialize`, `params\.capabilities\.(tasks|roots|elicitation)(\..*)?`, noValue + "|empty",
		"basic/lifecycle, Capability Negotiation: a client declares the optional features that it supports"},
	{`tools/list`, `params`, noValue, "schema, PaginatedRequest.params: optional"},
	{`.*`, `params\._meta\.progressToken`, noValue + "|retype|the one before|" + otherNumber + "|" + otherText,
		"basic/utilities/progress: a party that wants progress MAY include a token of any value"},
	{`notifications/progress`, ``, noValue, "basic/utilities/progress: the receiver MAY send none"},
	{`tools/call|prompts/get|resources/read`, `params\._meta`, noValue, "schema, RequestParams._meta: optional"},
	{`notifications/progress`, `params\.progress`, otherNumber,
		"basic/utilities/progress: the progress is what the client counts, as long as it increases"},
	{`notifications/progress`, `params\.(total|message)`, noValue, "basic/utilities/progress: the member is optional"},
	{`notifications/progress`, `params\.(total|message)`, anyOther + "|empty",
		"basic/utilities/progress: the total is what the client knows of it so far, and the message any text"},
	{`notifications/progress`, `method`, otherText,
		"basic/utilities/progress: the receiver MAY send none; a notification of another method means nothing"},
	{received + `notifications/progress`, `.*`, "", "basic/utilities/progress: the receiver need not act on it"},
	{`notifications/tasks/status`, `|method`, noValue + "|duplicate|" + otherText,
		"basic/utilities/tasks: a receiver MAY send status notifications, on which requestors do not rely"},
	{`response|notifications/tasks/status`, `(params|result(\.task|\.tasks\[\])?)\.(pollInterval|statusMessage)`,
		noValue + "|empty|" + anyOther, "schema, Task: the member is optional, and any value will do"},
	{`response|notifications/tasks/status`, `(params|result(\.task|\.tasks\[\])?)\.ttl`, otherNumber + "|null",
		"basic/utilities/tasks: a receiver may override the requested ttl, and null is unlimited"},
	{`tools/list|tools/call|prompts/get|resources/read|server/discover`, ``, "duplicate",
		"2026-07-28, basic, Requests: without a session, two clients of one program may use the same id"},
	{`tools/call`,
		`params\._meta\.io\.modelcontextprotocol/clientCapabilities\.(sampling\.(tools|context)|roots|elicitation)(\..*)?`,
		noValue, "schema, RequestMetaObject: capabilities for this specific request; all calls declare the same"},
	{`server/discover`, ``, noValue, "server/discover: a client MAY call it before other requests"},
	{`notifications/cancelled`, `params\.reason`, noValue + "|empty|" + anyOther,
		"basic/utilities/cancellation: an optional reason string"},

	// What the client answers.
	{samplingResponse + `|` + retry, `.*\.stopReason`, noValue + "|empty|" + otherText,
		"schema, CreateMessageResult.stopReason: optional, if known; an open string for provider-specific reasons"},
	{samplingResponse + `|` + retry, `.*\[type=tool_use\]\.id`, otherText,
		"schema, ToolUseContent.id: a unique identifier, which the client chooses"},
	{modelReply, `(.*\.)?(stopReason|stop_reason|finish_reason|finishReason|done_reason)`,
		noValue + "|null|empty|" + otherText,
		"schema, CreateMessageResult.stopReason: optional, if known; a standard one that is false is not legal"},
	{modelReply, `.*\[type=refusal\]\.type`, "",
		"schema, CreateMessageResult.stopReason: a refusal has no standard one; the words of the refusal reach the server"},
	{modelReply, `(.*\.)?(model|modelVersion)`, noValue + "|append|cut|other case|exchange|all alike|the one before",
		"schema, CreateMessageResult.model: the name of the model; it has aliases, and the client knows what it asked for"},
	{`tools/call|` + retry, `params\.arguments`, noValue, "schema, CallToolRequestParams.arguments: optional"},
	{modelReply, `(.*\.)?(id|call_id)`, noValue + "|null|empty|" + otherText,
		"schema, ToolUseContent.id: a unique identifier, which the client chooses"},
	{samplingResponse + `|` + retry, `.*\.model`, "cut|other case",
		"schema, CreateMessageResult.model: the name of the model; gpt is a name of gpt-4o"},
	{samplingResponse, `error(\.message)?`, otherText + "|the one before",
		"schema, Error.message: a short description of the error"},
	{samplingResponse, `error\.code`, otherNumber + "|the one before",
		"JSON-RPC, error.code: any integer; codes that the protocol asks for have checks of their own"},
	{samplingResponse, `error\.data(\..*)?`, "", "JSON-RPC, error.data: defined by the sender, and may be omitted"},
}

// limited are the changes that are legal only in some dialects, or under a condition; "" for all.
var limited = []struct {
	change
	dialects, condition string
}{
	{change{samplingResponse + `|` + retry, `.*\.content`, otherOrder,
		"OpenAI's chat, Ollama and Cohere: a message has a member for its text and one for its calls, and no order"},
		`openai-chat|ollama|cohere-chat`, ""},
	{change{samplingRequest + `|` + modelRequest,
		`tools(\[\]\.inputSchema|\[type=function\]\.function\.parameters)(\..*)?\.` +
			`(additionalProperties|default|examples(\[\])?|(min|max)(Length|Items|imum)|pattern|format)`, "",
		"Ollama's API, ToolFunctionParameters and ToolProperty: it does not read this keyword"}, dialect.Ollama, ""},
	{change{modelRequest, `.*`, "rename",
		"Ollama's API: a server in Go, whose encoding/json matches names in any case"}, dialect.Ollama, ""},
	{change{modelReply, `.*(functionCall|tool_calls|tool_use|function_call).*`, "",
		"client/sampling: without tools there is nothing that the server could run, so the client may leave it out"},
		"", "without-tools"},
}

// legal returns the reason why a client may do what a fault does, or "". Refused is true if all that it did was to
// refuse requests.
func legal(f *Fault, refused bool) string {
	if refused && f.Kind == samplingRequest {
		return "client/sampling: the client may refuse a request; always/answered fails one that refuses what all serve"
	}
	for i := range changes {
		if changes[i].has(f) {
			return changes[i].reason
		}
	}
	for i := range limited {
		l := &limited[i]
		if (l.dialects == "" || matches(l.dialects, f.Setting.Dialect)) &&
			(l.condition == "" || l.condition == f.Condition) && l.has(f) {
			return l.reason
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

// matches reports whether an expression matches all of a text.
func matches(expression, text string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString(text)
}
