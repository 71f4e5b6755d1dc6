package gemini

import (
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Facts implements [dialect.Codec]. The last chunk of a stream is like the others.
func (codec) Facts() dialect.Facts {
	return dialect.Facts{
		Provider: "gemini", Address: "https://generativelanguage.googleapis.com", Detail: detail,
		BaseVariables: []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"},
		KeyVariables:  []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		KeyHeader:     "X-Goog-Api-Key",
		Volatile:      []string{"labels"},
		IDs:           []string{"contents.parts.functionCall.id", "contents.parts.functionResponse.id"},
		Conversation:  "contents", ToolNames: functionName.String(), End: "STOP",
		SmallModel: "gemini-2.0-flash", SmallPart: "2.0-flash", LargeModel: "gemini-2.5-pro",
		Form: dialect.Form{ErrorFlag: true, Doubles: true, LateUses: true, ParsedInputs: true, ParsedStreams: true,
			FullSchemas: []string{"parametersJsonSchema", "parameters_json_schema"}},
	}
}

// detail returns the model, the method and the form of the stream.
func detail(u *url.URL) (text string, ok bool) {
	const models = "/models/"
	at := strings.LastIndex(u.Path, models)
	if at < 0 {
		return "", false
	}
	model, method, _ := strings.Cut(u.Path[at+len(models):], ":")
	text = model + ":" + method
	if alt := u.Query().Get("alt"); alt != "" {
		text += "?alt=" + alt
	}
	return text, method == generate || method == streamGenerate
}
