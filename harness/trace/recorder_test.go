package trace

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func note(caseID, text string) Event {
	return Event{Case: caseID, Mark: &Mark{Name: "note", Text: text}}
}

func TestEachCaseNumbersItsEvents(t *testing.T) {
	rec := NewRecorder(Header{Revision: "2025-11-25"}, 0)
	for _, want := range []Ref{{"", 1}, {"a", 1}, {"b", 1}, {"a", 2}, {"", 2}, {"b", 2}, {"a", 3}} {
		e := note(want.Case, "")
		e.Seq = 99 // the recorder replaces it
		require.Equal(t, want, rec.Record(e))
	}
	trace := rec.Stop()
	require.Equal(t, "2025-11-25", trace.Header.Revision)
	require.True(t, trace.Whole)
	var order []string
	for i := range trace.Events {
		order = append(order, fmt.Sprint(trace.Events[i].Case, trace.Events[i].Seq))
	}
	require.Equal(t, []string{"1", "a1", "b1", "a2", "2", "b2", "a3"}, order)
}

func TestEventsCarryTheTimeSinceTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewRecorder(Header{}, 0)
		rec.Record(note("", ""))
		<-time.After(time.Minute) // virtual
		e := note("", "")
		e.At = time.Hour
		rec.Record(e)
		trace := rec.Stop()
		require.Zero(t, trace.Events[0].At)
		require.Equal(t, time.Minute, trace.Events[1].At)
	})
}

func TestGoroutinesRecordConcurrently(t *testing.T) {
	const goroutines, each = 8, 200
	rec := NewRecorder(Header{}, 0)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				ref := rec.Record(note(fmt.Sprint("own", g), fmt.Sprint(i)))
				assert.EqualValues(t, i+1, ref.Seq)
				rec.Record(note("common", ""))
			}
		})
	}
	all.Wait()
	trace := rec.Stop()
	require.Len(t, trace.Events, 2*goroutines*each)
	next := map[string]int64{}
	last := time.Duration(0)
	for _, e := range trace.Events {
		next[e.Case]++
		require.Equal(t, next[e.Case], e.Seq)
		require.GreaterOrEqual(t, e.At, last)
		last = e.At
	}
	require.EqualValues(t, goroutines*each, next["common"])
}

func TestEventsAfterStopAreDropped(t *testing.T) {
	rec := NewRecorder(Header{}, 0)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for rec.Record(note("", "")) != (Ref{}) {
			}
		})
	}
	first := rec.Stop()
	all.Wait() // until each one sees that nothing is kept
	require.Equal(t, first, rec.Stop())
	require.True(t, first.Whole)
}

func TestTheLimitKeepsTheEndOfTheProcess(t *testing.T) {
	rec := NewRecorder(Header{}, 2*eventCost+10)
	require.NotZero(t, rec.Record(note("a", "12345")))
	require.NotZero(t, rec.Record(note("a", "12345")))
	require.Zero(t, rec.Record(note("a", "")))
	require.Zero(t, rec.Record(note("b", "")))
	require.Equal(t, Ref{Seq: 1}, rec.Record(Event{Process: &Process{State: Ended, Stderr: "why"}}))
	trace := rec.Stop()
	require.False(t, trace.Whole)
	require.EqualValues(t, 2, trace.Dropped)
	require.Len(t, trace.Events, 3)
	require.Equal(t, "why", trace.Events[2].Process.Stderr)
	require.EqualValues(t, 2, trace.Events[1].Seq)
}

func TestEveryPayloadCountsAgainstTheLimit(t *testing.T) {
	bytes := make(Bytes, 1000)
	for name, e := range map[string]Event{
		"frame":   {Frame: &Frame{Raw: bytes}},
		"request": {Request: &ModelRequest{Body: bytes}},
		"chunk":   {Chunk: &ModelChunk{Data: bytes}},
		"mark":    {Mark: &Mark{Text: string(bytes)}},
	} {
		require.NotZero(t, NewRecorder(Header{}, eventCost+1000).Record(e), name)
		require.Zero(t, NewRecorder(Header{}, eventCost+999).Record(e), name)
	}
	require.Zero(t, NewRecorder(Header{}, eventCost-1).Record(Event{End: &ModelEnd{}}))
	for _, limit := range []int64{0, -1} {
		require.NotZero(t, NewRecorder(Header{}, limit).Record(note("", "")), "the default limit")
	}
}

func TestANilRecorderRecordsNothing(t *testing.T) {
	var rec *Recorder
	require.Zero(t, rec.Record(note("", "")))
	require.Zero(t, rec.Count())
	require.Equal(t, &Trace{}, rec.Stop())
}

func BenchmarkRecord(b *testing.B) {
	e := Event{Case: "basic/text", Frame: &Frame{Dir: FromClient, Raw: Bytes(`{"jsonrpc":"2.0","id":1,"result":{}}`)}}
	b.ReportAllocs()
	var rec *Recorder
	for i := 0; b.Loop(); i++ {
		if i%100_000 == 0 { // about as long as the longest runs
			rec = NewRecorder(Header{}, 0)
		}
		rec.Record(e)
	}
}

func TestLargePayloadsOfAllRecordersHaveOneLimit(t *testing.T) {
	var left atomic.Int64
	left.Store(3 * large)
	text := strings.Repeat("x", large+1)
	record := func() (whole, small bool) {
		rec := NewRecorder(Header{}, 0)
		rec.ShareLarge(&left)
		rec.Record(note("", text))
		ref := rec.Record(note("", "small"))
		return rec.Stop().Whole, ref != Ref{}
	}
	for i, want := range []bool{true, true, false, false} {
		whole, small := record()
		require.Equal(t, want, whole, i)
		require.True(t, small)
	}
}
