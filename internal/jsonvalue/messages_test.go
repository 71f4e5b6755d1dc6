package jsonvalue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnObjectIsWrittenAsItWasRead(t *testing.T) {
	const raw = `{"html":"<a & b>","n":9007199254740993,"x":1.50}`
	o, err := ReadObject([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, raw, string(Marshal(o)))
	for _, other := range []string{`null`, `[]`, `"a"`, `{`, ``} {
		_, err := ReadObject([]byte(other))
		require.Error(t, err, other)
	}
	require.Panics(t, func() { Marshal(func() {}) })
}

func TestContentIsOneBlockOrAnArray(t *testing.T) {
	o, err := ReadObject([]byte(`{"one":{"type":"text","text":"a"},"two":[{"type":"image"},{"type":"text","text":"b"}],
		"bad":["a"],
		"messages":[{"role":"user"},null,"x"]}`))
	require.NoError(t, err)
	require.Equal(t, "a", TextIn(OfType(o["one"], "text")[0], "text"))
	require.Equal(t, "b", TextIn(OfType(o["two"], "text")[0], "text"))
	require.Empty(t, OfType(o["bad"], "text"))
	require.Empty(t, TextIn(o, "one"))
	require.Len(t, Messages(o), 1)
	_, err = Blocks(o["bad"])
	require.EqualError(t, err, "content block 0 is not an object")
}
