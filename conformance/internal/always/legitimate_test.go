package always

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLegitimateChangesHaveReasons(t *testing.T) {
	for _, l := range toServer {
		require.NotEmpty(t, l.Change)
		require.NotEmpty(t, l.Reason, l.Change)
	}
}
