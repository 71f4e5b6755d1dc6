package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFor(t *testing.T) {
	trace := &Trace{
		Header: Header{Revision: "2025-11-25", Seed: 3, Cases: []Case{{ID: "a"}, {ID: "b"}}}, Dropped: 2,
		Events: []Event{{Seq: 1}, {Case: "a", Seq: 1}, {Case: "b", Seq: 1}, {Seq: 2}, {Case: "a", Seq: 2}, {Case: "ab", Seq: 1}},
	}
	for _, test := range []struct {
		caseID string
		want   []Event
	}{
		{"a", []Event{{Seq: 1}, {Case: "a", Seq: 1}, {Seq: 2}, {Case: "a", Seq: 2}}},
		{"b", []Event{{Seq: 1}, {Case: "b", Seq: 1}, {Seq: 2}}},
		{"unknown", []Event{{Seq: 1}, {Seq: 2}}},
		{"", []Event{{Seq: 1}, {Seq: 2}}},
	} {
		part := trace.For(test.caseID)
		require.Equal(t, test.want, part.Events)
		require.Equal(t, trace.Header, part.Header)
		require.EqualValues(t, 2, part.Dropped, "a part is no more whole than its trace")
		require.False(t, part.Whole)
	}
	trace.Whole, trace.Dropped = true, 0
	require.True(t, trace.For("a").Whole)
	require.Len(t, trace.Events, 6)
}

func TestFind(t *testing.T) {
	trace := &Trace{Events: []Event{{Seq: 1}, {Case: "a", Seq: 1}, {Case: "a", Seq: 2}, {Case: "by hand"}, {}}}
	for i := range 3 {
		require.Same(t, &trace.Events[i], trace.Find(trace.Events[i].Ref()))
	}
	require.Nil(t, trace.Find(Ref{Case: "a", Seq: 3}))
	require.Nil(t, trace.Find(Ref{Case: "b", Seq: 1}))
	require.Nil(t, trace.Find(Ref{}), "the zero Ref names nothing")
	require.Equal(t, trace.Events[2], *trace.For("a").Find(trace.Events[2].Ref()), "names are the same in a part")
}

func TestClean(t *testing.T) {
	require.True(t, (&Process{State: Ended, Stdout: "out", Stderr: "err"}).Clean())
	for name, p := range map[string]Process{
		"not ended":    {State: Started},
		"no state":     {},
		"exit code":    {State: Ended, ExitCode: 1},
		"signal":       {State: Ended, Signal: "killed"},
		"out of time":  {State: Ended, Deadline: true},
		"interrupted":  {State: Ended, Interrupted: true},
		"an error":     {State: Ended, Err: "e"},
		"a panic":      {State: Ended, Panic: "p"},
		"a leak":       {State: Ended, Leak: "l"},
		"all together": {State: Ended, ExitCode: -1, Signal: "killed", Err: "e"},
	} {
		require.False(t, p.Clean(), name)
	}
}
