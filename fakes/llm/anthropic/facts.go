package anthropic

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Facts implements [dialect.Codec].
func (messages) Facts() dialect.Facts {
	return dialect.Facts{
		Provider: "anthropic", Address: "https://api.anthropic.com", Detail: detail,
		BaseVariables: []string{"ANTHROPIC_BASE_URL"}, KeyVariables: []string{"ANTHROPIC_API_KEY"},
		KeyHeader: "X-Api-Key", Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
		Volatile:  []string{"metadata"},
		IDs:       []string{"messages.content.id", "messages.content.tool_use_id"},
		LastEvent: `^event: ?message_stop\b|"type": ?"message_stop"`,
		ToolNames: toolName.String(), End: reasons[dialect.EndTurn],
		SmallModel: "claude-3-5-haiku", SmallPart: "haiku", LargeModel: "claude-opus-4",
		Form: dialect.Form{ErrorFlag: true, NoAudio: true, ParsedInputs: true, UsesNeverEnd: true},
	}
}

// detail tells the path from that of a message of OpenAI's threads.
func detail(u *url.URL) (text string, ok bool) {
	return "", strings.HasSuffix(u.Path, "/messages") && !strings.Contains(u.Path, "/threads/")
}
