package harness

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestTheLimitDependsOnProgressAndTheFirstMessage(t *testing.T) {
	const second, minute, often = time.Second, time.Minute, 3100 * time.Millisecond
	for name, c := range map[string]struct {
		first        time.Duration // when the client connects
		every, until time.Duration // when it makes progress
		pace         time.Duration // what it needed in earlier sessions
		samples      int64         // that it received
		slowness     float64       // of the machine
		repeats      bool          // its progress is no advance
		want         time.Duration // when its time is up
		cause        error
	}{
		"no progress":                   {0, time.Hour, 0, 0, 0, 1, false, minute, errTimeUp},
		"progress, and then none":       {0, often, 26 * second, 0, 0, 1, false, minute, errTimeUp},
		"progress in the last part":     {0, 55 * second, minute, 0, 0, 1, false, 90 * second, errTimeUp},
		"progress without end":          {0, often, time.Hour, 0, 0, 1, false, 4 * minute, errActive},
		"repeats itself without end":    {0, often, time.Hour, 0, 0, 1, true, 4 * minute, errTimeUp},
		"many samples":                  {0, often, time.Hour, 0, 100, 1, false, 14 * minute, errActive},
		"progress for two minutes":      {0, often, 2 * minute, 0, 0, 1, false, 160 * second, errTimeUp},
		"nothing yet, but a known pace": {0, time.Hour, 0, 50 * second, 0, 1, false, 100 * second, errTimeUp},
		"connected after fifty seconds": {50 * second, time.Hour, 0, 0, 0, 1, false, 110 * second, errTimeUp},
		"never connected":               {time.Hour, time.Hour, 0, 0, 0, 1, false, minute, errTimeUp},
		"on a machine half as fast":     {0, time.Hour, 0, 0, 0, 2, false, 2 * minute, errTimeUp},
		"on a very busy machine":        {0, time.Hour, 0, 0, 0, 9, false, 9 * minute, errTimeUp},
		"on a machine without time":     {0, time.Hour, 0, 0, 0, 90, false, 10 * minute, errTimeUp},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				connected := make(chan struct{})
				connect := time.AfterFunc(c.first, func() { close(connected) })
				defer connect.Stop()
				synctest.Wait()
				ended := false
				d := &deadline{limit: minute, perSample: 6 * second, connected: connected, pulse: new(pulse),
					pace: new(atomic.Int64), slowness: func() float64 { return c.slowness }, ending: func() { ended = true }}
				d.pace.Store(int64(c.pace))
				d.pulse.pace = d.pace
				d.pulse.samples.Store(c.samples)
				ctx, cancel := d.context(t.Context())
				defer cancel()
				for ctx.Err() == nil && time.Since(began) < c.until {
					select {
					case <-time.After(c.every):
						d.pulse.step(!c.repeats)
					case <-ctx.Done():
					}
				}
				<-ctx.Done()
				require.Equal(t, c.cause, context.Cause(ctx))
				require.Equal(t, c.want, time.Since(began))
				require.True(t, ended, "the trace says that the harness ends the client")
			})
		})
	}
}

func TestAClientThatIsKnownToHangHasLessTimeOnceItHasConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, connected := time.Now(), make(chan struct{})
		time.AfterFunc(20*time.Second, func() { close(connected) })
		d := &deadline{limit: 30 * time.Second, short: 3 * time.Second, connected: connected, ending: func() {}}
		ctx, cancel := d.context(t.Context())
		defer cancel()
		<-ctx.Done()
		require.Equal(t, 23*time.Second, time.Since(began))
	})
}

func TestTwoHangsOfAKindShortenTheLimit(t *testing.T) {
	hung := func(raw string) *trace.Trace {
		one := &trace.Trace{}
		if raw != "" {
			one.Events = append(one.Events, trace.Event{Frame: &trace.Frame{Dir: trace.ToClient, Raw: trace.Bytes(raw)}})
		}
		one.Events = append(one.Events, trace.Event{Process: &trace.Process{State: trace.Ended, Deadline: true}})
		return one
	}
	const sample, list, whole = `{"method":"sampling/createMessage"}`, `{"method":"tools/list"}`, 30 * time.Second
	for name, c := range map[string]struct {
		traces      []string
		waits       bool
		first, then time.Duration
	}{
		"none":              {nil, false, whole, whole},
		"two of a kind":     {[]string{sample, list, sample}, false, whole, whole / 10},
		"two kinds":         {[]string{sample, list}, false, whole, whole},
		"without a word":    {[]string{"", ""}, false, startPatience, startPatience},
		"a case that waits": {[]string{sample, sample}, true, whole, whole},
	} {
		var h hangs
		for _, raw := range c.traces {
			h.note(hung(raw))
		}
		first, then := h.limits(whole, c.waits)
		require.Equal(t, []time.Duration{c.first, c.then}, []time.Duration{first, then}, name)
	}
}

func TestProgressIsWhatAClientDoesAboutItsCases(t *testing.T) {
	frame := func(call int, dir trace.Direction, raw string) trace.Event {
		return trace.Event{Case: "a", Call: call, Frame: &trace.Frame{Dir: dir, Raw: trace.Bytes(raw)}}
	}
	ended := func(call int) trace.Event {
		return trace.Event{Case: "a", Call: call, Mark: &trace.Mark{Name: trace.MarkHandlerEnded}}
	}
	closed := trace.Event{Case: "a", Frame: &trace.Frame{Dir: trace.FromClient, Closed: true}}
	resent := frame(1, trace.ToClient, `{"method":"sampling/createMessage"}`)
	resent.Frame.Resent = true
	const sample = `{"method":"sampling/createMessage"}`
	for name, c := range map[string]struct {
		event trace.Event
		want  [3]int64 // steps, advances, samples
	}{
		"a call":                   {frame(1, trace.FromClient, `{}`), [3]int64{1, 1, 0}},
		"a second call":            {frame(2, trace.FromClient, `{}`), [3]int64{1, 1, 0}},
		"one of many calls":        {frame(3, trace.FromClient, `{}`), [3]int64{1, 0, 0}},
		"a sample":                 {frame(1, trace.ToClient, sample), [3]int64{0, 0, 1}},
		"two samples":              {frame(1, trace.ToClient, `[`+sample+`,`+sample+`]`), [3]int64{0, 0, 2}},
		"a sample of many calls":   {frame(3, trace.ToClient, sample), [3]int64{}},
		"a handler's end":          {ended(1), [3]int64{1, 1, 0}},
		"the last of many ends":    {ended(3), [3]int64{1, 0, 0}},
		"an answer of the model":   {trace.Event{Case: "a", End: &trace.ModelEnd{Status: 200}}, [3]int64{1, 0, 0}},
		"a refusal of the model":   {trace.Event{Case: "a", End: &trace.ModelEnd{Status: 400}}, [3]int64{}},
		"a message about no case":  {trace.Event{Frame: &trace.Frame{Dir: trace.FromClient}}, [3]int64{}},
		"the end of a stream":      {closed, [3]int64{}},
		"a sample, sent once more": {resent, [3]int64{}},
	} {
		var p pulse
		p.see(&c.event)
		require.Equal(t, c.want, [3]int64{p.steps.Load(), p.advances.Load(), p.samples.Load()}, name)
	}
}

func TestAClientThatAsksTheModelForEverDoesNotAdvance(t *testing.T) {
	var p pulse
	p.see(&trace.Event{Case: "a", Call: 1, Frame: &trace.Frame{Raw: trace.Bytes(`{"method":"sampling/createMessage"}`)}})
	for range 10 {
		p.see(&trace.Event{Case: "a", End: &trace.ModelEnd{Status: 200}})
	}
	require.Equal(t, int64(MostAttempts), p.advances.Load())
	require.Equal(t, int64(10), p.steps.Load())
}

// The turns that a case plays to a host are progress, and others are not.
func TestAHostAdvancesByTheTurnsOfItsCase(t *testing.T) {
	p := pulse{planned: 3}
	for range 10 {
		p.see(&trace.Event{End: &trace.ModelEnd{Status: 200, Host: true}})
	}
	require.Equal(t, int64(3), p.advances.Load())
	require.Equal(t, int64(10), p.steps.Load())
}

func TestTheMachineIsMeasured(t *testing.T) {
	require.GreaterOrEqual(t, slowness(), 1.0, "a limit never becomes shorter")
}

func TestProgressExtendsAWaitButNotASlowModel(t *testing.T) {
	r := Runner{Timeout: time.Minute}
	for name, c := range map[string]struct {
		of    Case
		want  time.Duration
		count bool
	}{
		"a case":            {Case{}, 20 * time.Second, true},
		"a wait":            {Case{Wait: 20 * time.Second}, 40 * time.Second, true},
		"a slow model":      {Case{Timed: Within}, 23 * time.Second, false},
		"an endless answer": {Case{Timed: Beyond}, 38 * time.Second, false},
	} {
		limit := r.limit([]Case{c.of})
		d := r.deadline(limit, &c.of, new(pulse), nil)
		require.Equal(t, c.want, limit, name)
		require.Equal(t, 6*time.Second, d.perSample, name)
		require.Equal(t, c.count, d.pulse != nil, name)
	}
}
