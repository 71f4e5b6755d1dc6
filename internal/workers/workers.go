// Package workers does independent pieces of work at the same time.
package workers

import "sync"

// Each calls f with 0 to n-1, at most limit calls at a time, in order of their start. A limit below 1 is 1. It returns
// when all calls have returned.
func Each(n, limit int, f func(i int)) {
	slots := make(chan struct{}, max(limit, 1))
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			f(i)
			<-slots
		})
	}
	running.Wait()
}
