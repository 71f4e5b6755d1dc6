package malformed

import "bytes"

// Shrink returns the smallest params that it finds, from some that break a client on, that break it, too. Breaks tries params out; it is
// called no more than as often as there are attempts. Each thing that the result holds is needed, where the attempts were enough to see so.
func Shrink(params []byte, attempts int, breaks func(params []byte) bool) []byte {
	best, err := parse(params)
	if err != nil {
		return params
	}
	s := &shrinker{attempts: attempts, breaks: breaks, tried: map[string]bool{string(best.bytes()): true}}
	for s.attempts > 0 {
		smaller := s.pass(best)
		if smaller == nil {
			break
		}
		best = smaller
	}
	return best.bytes()
}

type shrinker struct {
	attempts int
	breaks   func([]byte) bool
	tried    map[string]bool
}

// pass goes through the value once, from the outside, and keeps each step that leaves it broken; nil where there was none.
func (s *shrinker) pass(n *node) *node {
	shrunk := false
	for at := 0; ; at++ {
		all := places(n, "")
		if at >= len(all) || s.attempts == 0 {
			break
		}
		for _, step := range steps {
			candidate := n.clone()
			p := places(candidate, "")[at]
			if !step(&p) || !s.try(candidate) {
				continue
			}
			n, shrunk = candidate, true
			at--
			break
		}
	}
	if !shrunk {
		return nil
	}
	return n
}

// try reports whether the candidate breaks the client, which costs an attempt.
func (s *shrinker) try(candidate *node) bool {
	raw := candidate.bytes()
	if s.attempts == 0 || s.tried[string(raw)] {
		return false
	}
	s.tried[string(raw)] = true
	s.attempts--
	return s.breaks(raw)
}

// steps make a value smaller. They report false where it is as small as they make it.
var steps = []func(*place) bool{
	func(p *place) bool { p.holder.remove(p.i); return true },
	halveItems,
	func(p *place) bool { // what it holds, alone
		n := p.value()
		if len(n.items) != 1 {
			return false
		}
		p.replace(n.items[0])
		return true
	},
	func(p *place) bool { // nothing in it
		n := p.value()
		if len(n.items) == 0 {
			return false
		}
		p.replace(&node{kind: n.kind})
		return true
	},
	halveText,
}

// halveItems drops the second half of many items, and of arrays in arrays half of the depth.
func halveItems(p *place) bool {
	n := p.value()
	depth, inner := 0, n
	for inner.kind == '[' && len(inner.items) == 1 {
		depth, inner = depth+1, inner.items[0]
	}
	if depth > 2 {
		for range depth / 2 {
			n = n.items[0]
		}
		p.replace(n)
		return true
	}
	if len(n.items) < 3 {
		return false
	}
	n.items = n.items[:len(n.items)/2]
	if n.kind == '{' {
		n.names = n.names[:len(n.items)]
	}
	return true
}

// halveText drops the second half of a text that says nothing of where it ends.
func halveText(p *place) bool {
	n := p.value()
	const short = 4
	if n.is() != "string" || len(n.text) < short+2 || bytes.ContainsRune([]byte(n.text), '\\') {
		return false
	}
	runes := []rune(n.text[1 : len(n.text)-1])
	n.text = `"` + string(runes[:len(runes)/2]) + `"`
	return true
}
