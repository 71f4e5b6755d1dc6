package workers

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEachDoesAllWorkAndNeverTooMuchAtOnce(t *testing.T) {
	for limit, most := range map[int]int{-1: 1, 1: 1, 3: 3, 100: 10} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, found, done := 0, 0, make([]bool, 10)
			count := func(change int) {
				mu.Lock()
				defer mu.Unlock()
				running += change
				found = max(found, running)
			}
			Each(len(done), limit, func(i int) {
				count(1)
				<-time.After(time.Second) // virtual
				done[i] = true
				count(-1)
			})
			require.Equal(t, most, found)
			require.NotContains(t, done, false)
		})
	}
	Each(0, 1, func(int) { t.Error("called without work") })
}
