package harness

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheLimitDependsOnProgressAndTheFirstMessage(t *testing.T) {
	const second, minute = time.Second, time.Minute
	for name, c := range map[string]struct {
		first        time.Duration // when the client connects
		every, until time.Duration // when it makes progress
		want         time.Duration // when its time is up
	}{
		"no progress":                   {0, time.Hour, 0, minute},
		"progress, and then none":       {0, 3100 * time.Millisecond, 26 * second, minute},
		"progress at half time":         {0, 31 * second, 30 * second, 70 * second},
		"progress in the last part":     {0, 55 * second, minute, 90 * second},
		"progress without end":          {0, 3100 * time.Millisecond, time.Hour, 4 * minute},
		"progress for two minutes":      {0, 3100 * time.Millisecond, 2 * minute, 160 * second},
		"connected after fifty seconds": {50 * second, time.Hour, 0, 110 * second},
		"never connected":               {time.Hour, time.Hour, 0, minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var progress atomic.Int64
				connected := make(chan struct{})
				connect := time.AfterFunc(c.first, func() { close(connected) })
				defer connect.Stop()
				synctest.Wait()
				ctx, cancel := withLimit(t.Context(), minute, connected, progress.Load)
				defer cancel()
				for ctx.Err() == nil && time.Since(began) < c.until {
					select {
					case <-time.After(c.every):
						progress.Add(1)
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
