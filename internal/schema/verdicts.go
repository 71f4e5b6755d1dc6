package schema

import (
	"crypto/sha256"
	"sync"
)

const (
	// longestKnown is the longest text, in bytes, whose verdict is kept. Of those that are longer few come twice.
	longestKnown = 64 << 10
	// mostKnown is how many verdicts are kept: some megabytes.
	mostKnown = 1 << 15
)

// checked is a text that was checked, and against what.
type checked struct {
	revision string
	name     Name
	text     [sha256.Size]byte
}

// known are verdicts by what was checked. When there are too many, all are forgotten.
type known struct {
	mu  sync.Mutex
	all map[checked]error
}

var verdicts = known{all: map[checked]error{}}

// of returns the verdict on a text, and whether there is one.
func (k *known) of(c checked) (verdict error, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	verdict, found = k.all[c]
	return verdict, found
}

func (k *known) note(c checked, verdict error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) == mostKnown {
		clear(k.all)
	}
	k.all[c] = verdict
}
