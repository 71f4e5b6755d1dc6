package harness

import (
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// burst is how much processor time a measurement takes: more than a turn of the scheduler.
	burst = 15 * time.Millisecond
	// measureEvery is how long a measurement is valid.
	measureEvery = time.Second
	// threadUsage asks getrusage for the calling thread.
	threadUsage = 1
)

var measured struct {
	sync.Mutex
	at    time.Time
	times float64
}

// slowness returns how many times longer than on an idle machine a program takes that needs a processor: the time that
// passes during a burst of work, in relation to the processor time that the burst gets. Sessions share a measurement.
func slowness() float64 {
	measured.Lock()
	defer measured.Unlock()
	if !measured.at.IsZero() && time.Since(measured.at) < measureEvery {
		return measured.times
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, used := time.Now(), threadTime()
	for threadTime()-used < burst && time.Since(began) < measureEvery {
	}
	measured.times = max(1, float64(time.Since(began))/float64(max(threadTime()-used, 1)))
	measured.at = time.Now()
	return measured.times
}

// threadTime is the processor time of the calling thread; 0 if the system does not say.
func threadTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(threadUsage, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
