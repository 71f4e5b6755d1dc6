package jsonvalue

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectsAreWrittenInOrder(t *testing.T) {
	pairs := []any{"z", 1, "gone", Absent, "a", nil, "escaped", "a \"b\" <é>", "yes", true,
		"raw", json.RawMessage(`{"x": [1, {}]}`), "none", []string{}, "inner", Ordered("gone", Absent)}
	const want = `{"z":1,"a":null,"escaped":"a \"b\" <é>","yes":true,"raw":{"x":[1,{}]},"none":[],"inner":{}}`
	require.Equal(t, want, string(Ordered(pairs...)))
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, []byte(want), "", "  "))
	require.Equal(t, indented.String(), string(Indented(json.RawMessage(want))))
	require.Panics(t, func() { Ordered("a", json.RawMessage(`{ "b"`)) })
}
