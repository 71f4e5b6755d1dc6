package dialect

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectsAreWrittenInOrder(t *testing.T) {
	pairs := Pairs{"z", 1, "gone", Absent, "a", nil, "text", "plain", "escaped", "a \"b\" <é>", "yes", true,
		"big", int64(1) << 40, "empty", Pairs{}, "omitted", Pairs{"gone", Absent}, "none", []Pairs{},
		"raw", json.RawMessage(`{"x": [1, {}]}`),
		"raws", []json.RawMessage{[]byte(`"a b"`), []byte("2")}, "noRaws", []json.RawMessage{}, "float", 0.5,
		"inner", Pairs{"list", []Pairs{{"a", 1}, {"gone", Absent, "b", Pairs{"c", "d"}}, {}}}}
	const want = `{"z":1,"a":null,"text":"plain","escaped":"a \"b\" <é>","yes":true,"big":1099511627776,"empty":{},` +
		`"omitted":{},"none":[],"raw":{"x":[1,{}]},"raws":["a b",2],"noRaws":[],"float":0.5,` +
		`"inner":{"list":[{"a":1},{"b":{"c":"d"}},{}]}}`
	require.Equal(t, want, string(Ordered(pairs...)))
	require.Equal(t, "data: "+want, string(Append([]byte("data: "), pairs...)))
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, []byte(want), "", "  "))
	require.Equal(t, indented.String(), string(Indented(pairs)))
	require.Equal(t, indented.String(), string(Indented(json.RawMessage(want))))
	require.PanicsWithValue(t, "dialect: a codec built invalid JSON: unexpected end of JSON input",
		func() { Ordered("a", json.RawMessage(`{ "b"`)) })
}
