package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestOnlySessionsThatHangShortenLaterOnes(t *testing.T) {
	for name, c := range map[string]struct {
		process trace.Process
		then    time.Duration
	}{
		"a client that hangs":          {trace.Process{Deadline: true}, 6 * time.Second},
		"a client that makes progress": {trace.Process{Deadline: true, Unfinished: true}, time.Minute},
		"a client that ends by itself": {trace.Process{}, time.Minute},
		"a client that is interrupted": {trace.Process{Interrupted: true}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			var h hangs
			c.process.State = trace.Ended
			asks := trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Raw: []byte(`{"method":"tools/list"}`)}}
			for range knownHangs {
				h.note(&trace.Trace{Events: []trace.Event{asks, {Process: &c.process}}})
			}
			first, then := h.limits(time.Minute, false)
			require.Equal(t, time.Minute, first)
			require.Equal(t, c.then, then)
		})
	}
}
