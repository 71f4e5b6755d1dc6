package jsonvalue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDuplicateMembersAreKept(t *testing.T) {
	raw := `{"a":1,"a":"\ud800","b":[{"c":1e400}]}`
	n, err := Parse([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, raw, string(n.Bytes()))
	_, err = Parse([]byte(`{"a":`))
	require.EqualError(t, err, "not JSON")
}

func TestDeepJSONIsNotCalledInvalid(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	require.EqualError(t, Validate([]byte(deep)), "JSON of more than 10,000 levels, which this program does not read")
	require.EqualError(t, Validate([]byte("[")), "not JSON")
	require.NoError(t, Validate([]byte(" [] ")))
}
