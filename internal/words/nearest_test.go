package words

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestNear(t *testing.T) {
	names := []string{"basic", "parallel", "parallel/two-cities", "parallel/late-delta", "tool-use"}
	for typed, want := range map[string][]string{
		"basics":      {"basic"},
		"late":        {"parallel/late-delta"},
		"two-citys":   {"parallel/two-cities"},
		"parallel":    {"parallel", "parallel/two-cities", "parallel/late-delta"},
		"tooluse":     {"tool-use"},
		"xyz":         nil,
		"ünïcödé-ñäm": nil,
	} {
		require.Equal(t, want, Near(typed, names), typed)
	}
	require.Len(t, Near("", names), 3, "no more than three")
}
