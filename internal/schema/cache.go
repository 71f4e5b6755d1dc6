package schema

import (
	"crypto/sha256"
	"sync"
)

const (
	// maxCachedText is the longest text, in bytes, with a cached verdict. Longer ones rarely repeat.
	maxCachedText = 64 << 10
	// maxCached limits the verdicts in the cache to some megabytes.
	maxCached = 1 << 15
)

// cacheKey identifies a validation.
type cacheKey struct {
	revision string
	name     Name
	text     [sha256.Size]byte
}

// cache has the verdicts of earlier validations. It is cleared when it is full.
type cache struct {
	mu  sync.Mutex
	all map[cacheKey]error
}

var verdicts = cache{all: map[cacheKey]error{}}

func (c *cache) get(key cacheKey) (verdict error, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	verdict, found = c.all[key]
	return verdict, found
}

func (c *cache) put(key cacheKey, verdict error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) == maxCached {
		clear(c.all)
	}
	c.all[key] = verdict
}
