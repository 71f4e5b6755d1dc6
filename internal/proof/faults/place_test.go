package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestPatternsNameThePlacesOfAMessage(t *testing.T) {
	const body = `{"messages":[{"role":"tool","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}],
		"tools":[{"name":"n","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}}],
		"inputResponses":{"one":{"role":"assistant","content":{"type":"tool_use","input":{"x":[1]}}}}}`
	o, err := jsonvalue.ReadObject([]byte(body))
	require.NoError(t, err)
	var found []string
	for _, s := range walk(o) {
		found = append(found, s.pattern)
	}
	require.Subset(t, found, []string{
		"messages[role=tool].content", "messages[role=user].content[type=text].text", "tools[].name",
		"tools[].inputSchema.properties.*.type", "inputResponses.*[role=assistant].content[type=tool_use].input.*[]",
	})
}

func TestAFaultChangesTheValuesOfItsPlace(t *testing.T) {
	const place = `messages[role=user].content`
	for _, c := range []struct{ edit, which, want string }{
		{"delete", allValues, `{"messages":[{"role":"user"},{"role":"user"}]}`},
		{"cut", firstValue, `{"messages":[{"content":"a","role":"user"},{"content":"cd","role":"user"}]}`},
		{"append", lastValue, `{"messages":[{"content":"ab","role":"user"},{"content":"cdx","role":"user"}]}`},
		{"reverse", allValues, `{"messages":[{"content":"ba","role":"user"},{"content":"dc","role":"user"}]}`},
		{"in ASCII", allValues, `{"messages":[{"content":"ab","role":"user"},{"content":"cd","role":"user"}]}`},
		{"other case", allValues, `{"messages":[{"content":"Ab","role":"user"},{"content":"Cd","role":"user"}]}`},
		{"rename", lastValue, `{"messages":[{"content":"ab","role":"user"},{"Content":"cd","role":"user"}]}`},
		{"exchange", allValues, `{"messages":[{"content":"cd","role":"user"},{"content":"ab","role":"user"}]}`},
		{"all alike", allValues, `{"messages":[{"content":"ab","role":"user"},{"content":"ab","role":"user"}]}`},
		{"the one before", firstValue, `{"messages":[{"content":"before","role":"user"},{"content":"cd","role":"user"}]}`},
		{"flip", allValues, `{"messages":[{"content":"ab","role":"user"},{"content":"cd","role":"user"}]}`},
	} {
		t.Run(c.edit, func(t *testing.T) {
			o, err := jsonvalue.ReadObject([]byte(
				`{"messages":[{"role":"user","content":"ab"},{"role":"user","content":"cd"}]}`))
			require.NoError(t, err)
			f := &Fault{Which: c.which}
			for i, e := range edits {
				if e.name == c.edit {
					f.edit = i
				}
			}
			_, spots := placesIn(o)
			f.change(spots[place], []any{"before"}, func(_, _ any) {})
			require.JSONEq(t, c.want, string(jsonvalue.Marshal(o)))
		})
	}
}
