package evidence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAnswersThatAreOnlySplitAreSentWhole(t *testing.T) {
	sentWhole := func(fault string) bool { return (&Exchange{End: trace.ModelEnd{Fault: fault}}).SentWhole() }
	for _, f := range []llm.Fault{llm.SplitEveryByte(), llm.SplitAtRandom(-7)} {
		require.True(t, sentWhole(f.String()), f)
	}
	require.True(t, sentWhole(""))
	for _, faults := range []string{llm.TruncateAfter(1).String(), llm.Drip(1, time.Second).String(),
		llm.SplitEveryByte().String() + ", " + llm.ResetAfter(1).String()} {
		require.False(t, sentWhole(faults), faults)
	}
}
