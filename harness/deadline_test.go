package harness

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAClientThatGetsOnHasMoreTime(t *testing.T) {
	for name, c := range map[string]struct {
		every, until, want time.Duration // how often something is done, and until when; when the time is up
	}{
		"nothing":                        {every: time.Hour, until: 0, want: time.Minute},
		"something, and then nothing":    {every: 3100 * time.Millisecond, until: 26 * time.Second, want: time.Minute},
		"something long ago":             {every: 31 * time.Second, until: 30 * time.Second, want: 70 * time.Second},
		"something in the last part":     {every: 55 * time.Second, until: time.Minute, want: 90 * time.Second},
		"something for as long as it is": {every: 3100 * time.Millisecond, until: time.Hour, want: 4 * time.Minute},
		"something for two minutes":      {every: 3100 * time.Millisecond, until: 2 * time.Minute, want: 160 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var done atomic.Int64
				spoken := make(chan struct{})
				close(spoken)
				ctx, cancel := within(t.Context(), time.Minute, spoken, done.Load)
				defer cancel()
				for ctx.Err() == nil && time.Since(began) < c.until {
					select {
					case <-time.After(c.every):
						done.Add(1)
					case <-ctx.Done():
					}
				}
				<-ctx.Done()
				require.Equal(t, errTimeUp, context.Cause(ctx))
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
}

func TestAClientsTimeRunsFromItsFirstWord(t *testing.T) {
	for first, want := range map[time.Duration]time.Duration{50 * time.Second: 110 * time.Second, time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			spoken := make(chan struct{})
			speaks := time.AfterFunc(first, func() { close(spoken) })
			defer speaks.Stop()
			ctx, cancel := within(t.Context(), time.Minute, spoken, func() int64 { return 0 })
			defer cancel()
			<-ctx.Done()
			require.Equal(t, errTimeUp, context.Cause(ctx))
			require.Equal(t, want, time.Since(began))
		})
	}
}
