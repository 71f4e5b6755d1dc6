package faults

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAChangeIsShownWhereItIs(t *testing.T) {
	long := strings.Repeat("a", 200)
	require.Equal(t, `7 → (nothing)`, show(7, gone{}))
	require.Equal(t, `"b" → "bc"`, show("b", "bc"))
	require.Equal(t, `"`+long[:99]+`… → "b"`, show(long, "b"))
	tail := strings.Repeat("a", 40)
	require.Equal(t, `…`+tail+`b" → …`+tail+`c"`, show(long+"b", long+"c"))
	require.Equal(t, `…`+tail+`" → …`+tail+`b`+long[:59]+`…`, show(long, long+"b"+long))
}
