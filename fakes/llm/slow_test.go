package llm

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// arrivals returns the times at which parts of the answer arrive, and the whole answer.
func arrivals(t *testing.T, network *memnet.Network, server *Server, body string) (at []time.Duration, all string) {
	began := time.Now()
	resp, err := send(t, t.Context(), network, server, body)
	require.NoError(t, err)
	at = append(at, time.Since(began))
	for buffer := make([]byte, 4096); err == nil; {
		var n int
		if n, err = resp.Body.Read(buffer); n > 0 {
			at, all = append(at, time.Since(began)), all+string(buffer[:n])
		}
	}
	require.ErrorIs(t, err, io.EOF)
	return slices.Compact(at), all // bytes of one instant may need several reads
}

func TestSlowAnswerArrivesCompleteAndOnTime(t *testing.T) {
	const s = time.Second
	every := func(n int, gap time.Duration) (at []time.Duration) {
		for i := range n {
			at = append(at, time.Duration(i)*gap)
		}
		return at
	}
	for _, c := range []struct {
		fault           Fault
		name            string
		streamed, plain []time.Duration
	}{
		{Spread(90 * s), "Spread(1m30s)", nil, nil},
		{PauseAfter(2, time.Minute), "PauseAfter(2, 1m0s)", every(2, time.Minute), every(2, time.Minute)},
		{PauseBefore(time.Minute), "PauseBefore(1m0s)", []time.Duration{time.Minute}, []time.Duration{time.Minute}},
		{PauseAfter(0, time.Minute), "PauseAfter(0, 1m0s)", every(2, time.Minute), every(2, time.Minute)},
		{PauseAfter(99, time.Minute), "PauseAfter(99, 1m0s)", every(2, time.Minute), every(2, time.Minute)},
	} {
		for name, want := range map[string][]time.Duration{streamed: c.streamed, hello: c.plain} {
			t.Run(c.name, func(t *testing.T) {
				var seen seen
				inMemory(t, &seen, []*Rule{When().Reply(Text(story)).Fault(c.fault)},
					func(t *testing.T, server *Server, network *memnet.Network) {
						text, _ := withoutFaults(t, name)
						at, all := arrivals(t, network, server, name)
						require.Equal(t, text, all)
						x := server.Journal()[0]
						require.Equal(t, []any{c.name, 200, false, false}, []any{x.Fault, x.Status, x.HungUp, x.Closed})
						if want == nil {
							require.Greater(t, len(at), maxSpreadPieces/2)
							for i := range at {
								require.Equal(t, 90*s*time.Duration(i)/time.Duration(len(at)-1), at[i])
							}
							return
						}
						require.Equal(t, want, at)
					})
			})
		}
	}
}

func TestInvalidSlowFaults(t *testing.T) {
	const pause = "has a negative count or takes no time: expected at least 0 events and a time above 0"
	for _, c := range []struct {
		faults []Fault
		want   string
	}{
		{[]Fault{Spread(0)}, "takes no time: expected a time above 0"},
		{[]Fault{SplitEveryByte(), Spread(time.Second)}, "also splits events: expected one such fault"},
		{[]Fault{Spread(time.Second), SplitEveryByte()}, "also splits events: expected one such fault"},
		{[]Fault{PauseAfter(-1, time.Second)}, pause},
		{[]Fault{PauseAfter(1, 0)}, pause},
		{[]Fault{PauseAfter(1, time.Second), PauseAfter(1, time.Second)}, "is a second pause: expected one"},
		{[]Fault{PauseBefore(0)}, "takes no time: expected a time above 0"},
		{[]Fault{PauseAfter(1, time.Second), PauseBefore(time.Second)}, "is a second pause: expected one"},
	} {
		last := c.faults[len(c.faults)-1]
		err := When().Reply().Fault(c.faults...).Validate()
		require.EqualError(t, err, "has the fault "+last.String()+", which "+c.want)
	}
}
