package jsonvalue

import (
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
