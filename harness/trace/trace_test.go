package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForSelectsACaseAndTheSession(t *testing.T) {
	trace := &Trace{
		Header: Header{Revision: "2025-11-25", Seed: 3, Cases: []Case{{ID: "a"}, {ID: "b"}}}, Dropped: 2,
		Events: []Event{{Seq: 1}, {Case: "a", Seq: 1}, {Case: "b", Seq: 1}, {Seq: 2}, {Case: "a", Seq: 2},
			{Case: "ab", Seq: 1}},
	}
	for caseID, want := range map[string][]Event{
		"a":       {{Seq: 1}, {Case: "a", Seq: 1}, {Seq: 2}, {Case: "a", Seq: 2}},
		"b":       {{Seq: 1}, {Case: "b", Seq: 1}, {Seq: 2}},
		"unknown": {{Seq: 1}, {Seq: 2}},
		"":        {{Seq: 1}, {Seq: 2}},
	} {
		require.Equal(t, &Trace{Header: trace.Header, Events: want, Dropped: 2}, trace.For(caseID))
	}
	trace.Whole, trace.Dropped = true, 0
	require.True(t, trace.For("a").Whole)
	require.Len(t, trace.Events, 6)
}

func TestFindReturnsTheNamedEvent(t *testing.T) {
	trace := &Trace{Events: []Event{{Seq: 1}, {Case: "a", Seq: 1}, {Case: "a", Seq: 2}, {Case: "by hand"}, {}}}
	for i := range 3 {
		require.Same(t, &trace.Events[i], trace.Find(trace.Events[i].Ref()))
	}
	for _, missing := range []Ref{{Case: "a", Seq: 3}, {Case: "b", Seq: 1}, {}} {
		require.Nil(t, trace.Find(missing))
	}
	require.Equal(t, trace.Events[2], *trace.For("a").Find(trace.Events[2].Ref()), "For keeps the names")
}

func TestOnlyASuccessfulEndIsClean(t *testing.T) {
	require.True(t, (&Process{State: Ended, Stdout: "out", Stderr: "err"}).Clean())
	for _, p := range []Process{
		{}, {State: Started}, {State: Ended, ExitCode: 1}, {State: Ended, Signal: "killed"},
		{State: Ended, Deadline: true}, {State: Ended, Interrupted: true}, {State: Ended, Err: "e"},
		{State: Ended, Panic: "p"}, {State: Ended, Leak: "l"}, {State: Ended, OutsideBubble: true},
	} {
		require.False(t, p.Clean(), "%+v", p)
	}
}
