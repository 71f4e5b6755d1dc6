package malformed

import "bytes"

// Shrink returns the smallest params it finds that still break a client. It calls breaks at most attempts times. With
// enough attempts, every part of the result is needed.
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

// pass tries to shrink each value once, outer values first. It returns nil if nothing could be shrunk.
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

// try uses one attempt to find out whether the candidate breaks the client.
func (s *shrinker) try(candidate *node) bool {
	raw := candidate.bytes()
	if s.attempts == 0 || s.tried[string(raw)] {
		return false
	}
	s.tried[string(raw)] = true
	s.attempts--
	return s.breaks(raw)
}

// steps make a value smaller, or return false.
var steps = []func(*place) bool{
	func(p *place) bool { p.holder.remove(p.i); return true },
	halveItems,
	func(p *place) bool { // replace it with its only item
		n := p.value()
		if len(n.items) != 1 {
			return false
		}
		p.replace(n.items[0])
		return true
	},
	func(p *place) bool { // empty it
		n := p.value()
		if len(n.items) == 0 {
			return false
		}
		p.replace(&node{kind: n.kind})
		return true
	},
	halveText,
}

// halveItems drops the second half of the items, or half of the depth of nested arrays.
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

// halveText drops the second half of a text without escapes.
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
