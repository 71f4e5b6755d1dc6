//go:build !linux

package harness

// slowness is unknown here: it takes a clock for the processor time of one thread.
func slowness() float64 { return 1 }
