// Package ollama speaks Ollama's POST /api/chat: requests, streams of one JSON object a line, errors, and the model
// lists and descriptions that hosts request before a chat. It follows version 0.17.
//
// Like Ollama, the codec is lenient. It accepts calls without results, results without calls, unknown roles, and
// unknown members. It refuses what Ollama's Go types cannot hold, such as string arguments, array content, invalid
// base64 images, or a tool parameter that is not an object; invalid model names; and options of a wrong type, with
// status 500. Every model supports tools, images and thinking here; Ollama refuses them for models without. The format
// has no tool choice, no refusal, and no word for a filtered answer.
package ollama

import (
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Chat speaks Ollama's chat.
var Chat dialect.Codec = chat{}

type chat struct{}

func (chat) Name() string       { return dialect.Ollama }
func (chat) Patterns() []string { return []string{"POST /api/chat"} }

// NoIDs is the tag of models, such as llama3.2:no-ids, that answer like Ollama before it had call ids: no id, and an
// index only if it is not 0. Ids in their requests are ignored, as then: a result belongs to a call by tool_name and
// position.
const NoIDs = "no-ids"

func withoutIDs(model string) bool { return strings.HasSuffix(model, ":"+NoIDs) }

const contentJSON = "application/json; charset=utf-8"

func header(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// reasons maps stop reasons to Ollama's words. All ends of a turn are "stop".
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "stop",
	dialect.StopToolUse:       "stop",
	dialect.StopMaxTokens:     "length",
	dialect.StopStopSequence:  "stop",
	dialect.StopRefusal:       "stop",
	dialect.StopContentFilter: "stop",
}
