// Package ollama speaks the wire format of Ollama. [Chat] is POST /api/chat, with its streams of one JSON object a line, its errors,
// and the lists and descriptions of models that hosts ask for before they chat. It follows version 0.17.
//
// Ollama is lenient, and so is the fake. It takes histories in which calls have no result, results no call, or roles are unknown,
// and it ignores members that it does not know. It refuses what its types cannot hold, such as arguments that are a string, content
// that is an array, an image that is no base64, or a parameter of a tool that is not described by an object; a model name that is
// none; options of another type than theirs, with a 500; and not much else. Every model can everything here: Ollama itself refuses
// tools, images and thinking where a model has none.
//
// There is no tool choice, no refusal, and no word for an answer that was held back.
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

// NoIDs is the tag of models that answer as Ollama did before it gave calls ids, as llama3.2:no-ids does: a call has no id, and an
// index only where that is not 0. Of a request for such a model, ids are not read either, as they were not then: a result belongs to
// a call by its tool_name, and by its place.
const NoIDs = "no-ids"

func withoutIDs(model string) bool { return strings.HasSuffix(model, ":"+NoIDs) }

const contentJSON = "application/json; charset=utf-8"

func header(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// reasons are the stop reasons in Ollama's words: the end of a turn is all one to it.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "stop",
	dialect.StopForTool:       "stop",
	dialect.StopMaxTokens:     "length",
	dialect.StopStopSequence:  "stop",
	dialect.StopRefusal:       "stop",
	dialect.StopContentFilter: "stop",
}

func doneReason(r dialect.StopReason) string {
	if word, ok := reasons[r]; ok {
		return word
	}
	return string(r)
}
