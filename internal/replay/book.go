package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Book finds the recorded request for one that a client sends. It is safe for concurrent use.
type Book struct {
	rules  *Rules
	repeat bool // used requests may be asked again, from the first on

	mu      sync.Mutex
	entries []*entry
}

type entry struct {
	*Request
	params any
	used   int
}

// NewBook returns a book of all requests. Equal ones are used in their order; with repeat, from the first again when
// all were used.
func NewBook(recordings []*Recording, rules *Rules, repeat bool) *Book {
	b := &Book{rules: rules, repeat: repeat}
	for _, r := range recordings {
		for _, q := range r.Requests {
			b.entries = append(b.entries, &entry{Request: q, params: requestParams(q.Method, q.Params)})
		}
	}
	return b
}

// Next returns the recorded request that is equal to one, in a revision. The error names the nearest and the first
// difference.
func (b *Book) Next(revision, method string, params json.RawMessage) (*Request, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	equal, nearest, difference := b.find(revision, method, requestParams(method, params))
	switch {
	case equal != nil && (equal.used == 0 || b.repeat || Carriers[method] == ""):
		equal.used++
		return equal.Request, nil
	case equal != nil:
		return nil, fmt.Errorf("%s was recorded %s, and this is one more", Name(method, params), times(b.count(equal)))
	case nearest != nil:
		return nil, fmt.Errorf("no recorded request is equal: the nearest is %s (request %d of the recording); %s",
			Name(method, nearest.Params), b.number(nearest), difference)
	}
	return nil, fmt.Errorf("the recording has no %s in %s; it has %s", method, revision, b.methods())
}

// find returns the request that is equal to one: of several the least used, and the one that is equal even in what the
// rules ignore. It also returns the nearest of the others.
func (b *Book) find(revision, method string, sent any) (equal, nearest *entry, difference *Difference) {
	exactly := false
	for _, e := range b.entries {
		if e.Method != method || e.Revision != "" && revision != e.Revision {
			continue
		}
		d := b.rules.Compare("params", e.params, sent)
		if d != nil {
			if nearest == nil || closer(e, d, nearest, difference) {
				nearest, difference = e, d
			}
			continue
		}
		exact := (*Rules)(nil).Compare("params", e.params, sent) == nil
		if equal == nil || e.used < equal.used || e.used == equal.used && exact && !exactly {
			equal, exactly = e, exact
		}
	}
	return equal, nearest, difference
}

// closer reports whether an entry is nearer than another: it calls the same, is not used, and has fewer differences.
func closer(e *entry, d *Difference, than *entry, other *Difference) bool {
	if same, was := d.Path != "params.name", other.Path != "params.name"; same != was {
		return same
	}
	if (e.used == 0) != (than.used == 0) {
		return e.used == 0
	}
	return d.Count < other.Count
}

// Unused names the calls that no client made.
func (b *Book) Unused() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var unused []string
	for _, e := range b.entries {
		if e.used == 0 && Carriers[e.Method] != "" {
			unused = append(unused, fmt.Sprintf("%s (request %d of the recording) was never made",
				Name(e.Method, e.Params), b.number(e)))
		}
	}
	return unused
}

func (b *Book) number(e *entry) int {
	for i, other := range b.entries {
		if other == e {
			return i + 1
		}
	}
	return 0
}

func (b *Book) count(like *entry) int {
	n := 0
	for _, e := range b.entries {
		if e.Method == like.Method && b.rules.Compare("params", e.params, like.params) == nil {
			n++
		}
	}
	return n
}

func (b *Book) methods() string {
	var names []string
	seen := map[string]bool{}
	for _, e := range b.entries {
		if name := e.Method + " in " + e.Revision; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Name names a request for people, such as "tools/call weather".
func Name(method string, params json.RawMessage) string {
	for _, member := range []string{"name", "uri"} {
		if text, ok := jsonvalue.TextOf(jsonvalue.Part(params, member)); ok && text != "" {
			return method + " " + text
		}
	}
	return method
}
