// Package cohere speaks Cohere's Chat API, version 2: requests, answers, streams and errors. It is as strict as the
// provider's list of errors (docs.cohere.com/reference/errors), its reference of 2026 and public reports of refused
// requests say.
//
// What the model says before its tool calls is the message's tool_plan, as in the real API. In a request it may also be
// in the content.
//
// The codec accepts what the list of errors does not mention: calls without results, results without text, and
// schemas that only strict_tools refuses. Every model supports tools, images and thinking here. Cohere has no word for
// a refusal and a filtered answer. Beside the chat it answers requests for embeddings of texts.
package cohere

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Chat speaks Cohere's chat.
var Chat dialect.Codec = chat{}

type chat struct{}

func (chat) Name() string       { return dialect.CohereChat }
func (chat) Patterns() []string { return []string{"POST /v2/chat"} }

// toolNames matches the names of tools that the API accepts.
const toolNames = `^[A-Za-z_][A-Za-z0-9_]*$`

// Facts implements [dialect.Codec].
func (chat) Facts() dialect.Facts {
	return dialect.Facts{
		Provider: "cohere", Address: "https://api.cohere.com", Path: "/v2/chat",
		BaseVariables: []string{"CO_API_URL"}, KeyVariables: []string{"CO_API_KEY", "COHERE_API_KEY"},
		LastEvent: `^data: ?\[DONE\]`,
		IDs:       []string{"messages.tool_calls.id", "messages.tool_call_id"},
		Arguments: []string{"messages.tool_calls.function.arguments"},
		ToolNames: toolNames, End: reasons[dialect.EndTurn],
		SmallModel: "command-r7b", SmallPart: "r7b", LargeModel: "command-a-reasoning",
		Form: dialect.Form{Unnamed: true, NoAudio: true, Unordered: true, Plans: true},
	}
}

func header(contentType string, serial int64) http.Header {
	return http.Header{
		"Content-Type": {contentType}, "X-Debug-Trace-Id": {dialect.GenerateHex("", 32, serial, 1)},
	}
}

func uuid(serial int64) string {
	h := dialect.GenerateHex("", 32, serial, 0)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// reasons maps stop reasons to Cohere's words.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "COMPLETE",
	dialect.StopToolUse:       "TOOL_CALL",
	dialect.StopMaxTokens:     "MAX_TOKENS",
	dialect.StopStopSequence:  "STOP_SEQUENCE",
	dialect.StopRefusal:       "COMPLETE",
	dialect.StopContentFilter: "COMPLETE",
}

// failed is the finish reason of an answer that an error ended.
const failed = "ERROR"
