package native

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// Facts implements [dialect.Codec].
func (codec) Facts() dialect.Facts {
	return dialect.Facts{
		Base: "/native", Provider: "native", Path: "/native", Volatile: []string{"_meta", "metadata"},
		IDs:  []string{"messages.content.id", "messages.content.toolUseId"},
		End:  string(dialect.EndTurn),
		Form: dialect.Form{Native: true, Plain: true, ErrorFlag: true},
	}
}
