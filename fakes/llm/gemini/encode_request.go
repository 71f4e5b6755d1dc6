package gemini

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. The texts of a tool result are the member output, or error. From generation
// 3 on its media are in it.
func (codec) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	third := generation(r.Model) > 2
	contents := []any{}
	for _, m := range codecs.MessagesFor(r, dialect.Gemini) {
		results, others := codecs.SplitResults(m.Content, func(_, b *dialect.Block) bool {
			return third || b.Type == dialect.Text
		})
		role := string(m.Role)
		if m.Role == dialect.Assistant {
			role = "model"
		}
		contents = append(contents, jsonvalue.Ordered("role", role, "parts", partsOf(append(results, others...))))
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, jsonvalue.Ordered("name", t.Name, "description", jsonvalue.OrAbsent(t.Description),
			"parametersJsonSchema", codecs.Schema(t)))
	}
	var offered, system any = jsonvalue.Absent, jsonvalue.Absent
	if tools != nil {
		offered = []any{jsonvalue.Ordered("functionDeclarations", tools)}
	}
	if r.System != "" {
		system = jsonvalue.Ordered("parts", []any{jsonvalue.Ordered("text", r.System)})
	}
	u := &url.URL{Path: "/v1beta/models/" + r.Model + ":" + generate}
	if r.Stream {
		u = &url.URL{Path: "/v1beta/models/" + r.Model + ":" + streamGenerate, RawQuery: "alt=sse"}
	}
	return u, jsonvalue.Ordered("systemInstruction", system, "contents", contents, "tools", offered,
		"toolConfig", choiceBody(r), "generationConfig", jsonvalue.Ordered(
			"maxOutputTokens", jsonvalue.OrAbsent(r.MaxTokens), "temperature", jsonvalue.OrAbsent(r.Temperature),
			"stopSequences", jsonvalue.ListOrAbsent(r.StopSequences)))
}

func choiceBody(r *dialect.Request) any {
	var names []string
	mode := r.ToolChoice
	name, isTool := strings.CutPrefix(mode, "tool:")
	switch {
	case mode == "" || len(r.Tools) == 0:
		return jsonvalue.Absent
	case isTool:
		mode, names = "ANY", []string{name}
	case mode == dialect.ChoiceRequired:
		mode = "ANY"
	}
	return jsonvalue.Ordered("functionCallingConfig", jsonvalue.Ordered("mode", strings.ToUpper(mode),
		"allowedFunctionNames", jsonvalue.ListOrAbsent(names)))
}

func partsOf(blocks []dialect.Block) []any {
	parts := []any{}
	for _, b := range blocks {
		parts = append(parts, partOf(&b))
	}
	return parts
}

func partOf(b *dialect.Block) json.RawMessage {
	id, signature := jsonvalue.OrAbsent(b.ID), jsonvalue.OrAbsent(b.Signature)
	switch b.Type {
	case dialect.Text:
		return jsonvalue.Ordered("text", b.Text, "thoughtSignature", signature)
	case dialect.Thinking:
		return jsonvalue.Ordered("text", b.Text, "thought", true, "thoughtSignature", signature)
	case dialect.ToolUse:
		call := jsonvalue.Ordered("id", id, "name", b.Name, "args", codecs.Arguments(b))
		return jsonvalue.Ordered("functionCall", call, "thoughtSignature", signature)
	case dialect.ToolResult:
		texts, parts := []string{}, []any{}
		for _, inner := range b.Content {
			if inner.Type == dialect.Text {
				texts = append(texts, inner.Text)
			} else {
				parts = append(parts, partOf(&inner))
			}
		}
		return jsonvalue.Ordered("functionResponse", jsonvalue.Ordered("id", id, "name", b.Name,
			"response", responseOf(texts, b.IsError), "parts", jsonvalue.ListOrAbsent(parts)))
	case dialect.Other:
		return b.Raw
	}
	member, data := "inlineData", jsonvalue.Ordered("mimeType", b.MimeType, "data", b.Data)
	if b.Text != "" {
		member, data = "fileData", jsonvalue.Ordered("mimeType", b.MimeType, "fileUri", b.Text)
	}
	return jsonvalue.Ordered(member, data, "thoughtSignature", signature)
}

// responseOf writes what a function returned: one text as it is, any other number as a list.
func responseOf(texts []string, isError bool) json.RawMessage {
	member, output := "output", any(texts)
	if isError {
		member = "error"
	}
	if len(texts) == 1 && (texts[0] != "" || !isError) { // an empty text would not be an error
		output = texts[0]
	}
	return jsonvalue.Ordered(member, output)
}
