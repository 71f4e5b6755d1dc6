package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Shrinker shrinks a JSON value as long as it fails a test.
type Shrinker struct {
	// Fails tests candidates, and returns the index of the first one that fails; -1 if none does.
	Fails func(candidates [][]byte) int
	// AtOnce is the most candidates that one call of Fails gets; 0 for one. It changes the speed, not the result.
	AtOnce int
	// Attempts limits the calls of Fails.
	Attempts int
	// Repair returns the valid value closest to a candidate, which may be the candidate; nil for none. Nil
	// repairs nothing: every candidate is tested.
	Repair func(candidate []byte) []byte
	// Simpler returns further values to try in place of one, which it must not change; nil for none.
	Simpler func(*Node) []*Node

	tried map[string]bool

	// The steps at the last place.
	of    *Node
	place int
	steps []step
}

// step is a smaller value in place of one, or of all that equal it; nil removes the one.
type step struct {
	value      *Node
	everywhere bool
}

// Shrink returns the smallest value it finds that fails. With enough attempts, no single step makes it smaller. A text
// that is not JSON is returned unchanged.
func (s *Shrinker) Shrink(raw []byte) []byte {
	root, err := Parse(raw)
	if err != nil {
		return raw
	}
	holder := &Node{Kind: '[', Items: []*Node{root}}
	s.tried = map[string]bool{string(root.Bytes()): true}
	for shrunk := true; shrunk; {
		holder, shrunk = s.pass(holder)
	}
	return holder.Items[0].Bytes()
}

// cursor is a step at a place: the indices of both.
type cursor struct{ place, step int }

// candidate is a smaller value, in its holder, and the step that made it.
type candidate struct {
	holder *Node
	raw    []byte
	at     cursor
	keys   []string // in Shrinker.tried
}

// pass tries every step at every place once, outer places first. After a success it repeats the place.
func (s *Shrinker) pass(holder *Node) (best *Node, shrunk bool) {
	at, size := cursor{}, 1
	for s.Attempts > 0 {
		var some []candidate
		for len(some) < size {
			c := s.next(holder, &at)
			if c == nil {
				break
			}
			some = append(some, *c)
		}
		if len(some) == 0 {
			break
		}
		raws := make([][]byte, len(some))
		for i := range some {
			raws[i] = some[i].raw
		}
		s.Attempts--
		i := s.Fails(raws)
		if i < 0 {
			size = min(2*size, max(s.AtOnce, 1))
			continue
		}
		for _, later := range some[i+1:] {
			for _, key := range later.keys {
				delete(s.tried, key) // It may be a candidate again.
			}
		}
		holder, shrunk, at, size = some[i].holder, true, cursor{place: some[i].at.place}, max(size/2, 1)
	}
	return holder, shrunk
}

// next returns the next untested candidate from the cursor on, which it moves; nil at the end.
func (s *Shrinker) next(holder *Node, at *cursor) *candidate {
	best := holder.Items[0].Bytes()
	for {
		here := *at
		smaller, more := s.edited(holder, here)
		if !more {
			return nil
		}
		if smaller == nil { // no further step at this place
			*at = cursor{place: here.place + 1}
			continue
		}
		at.step++
		if c := s.candidate(smaller, here); c != nil && smallerThan(c.raw, best) {
			return c
		}
	}
}

// smallerThan reports whether a is shorter than b, or as long and before it.
func smallerThan(a, b []byte) bool {
	return len(a) < len(b) || len(a) == len(b) && bytes.Compare(a, b) < 0
}

// candidate repairs a smaller value; nil if that is impossible or was tested.
func (s *Shrinker) candidate(smaller *Node, at cursor) *candidate {
	c := &candidate{holder: smaller, raw: smaller.Items[0].Bytes(), at: at}
	if !s.first(c) || s.Repair == nil {
		return c.unless(len(c.keys) == 0)
	}
	repaired := s.Repair(c.raw)
	if bytes.Equal(repaired, c.raw) {
		return c
	}
	root, err := Parse(repaired)
	if err != nil {
		return nil
	}
	c.holder, c.raw = &Node{Kind: '[', Items: []*Node{root}}, repaired
	return c.unless(!s.first(c))
}

// first reports whether the candidate was not tested before, and notes that it is now.
func (s *Shrinker) first(c *candidate) bool {
	key := string(c.raw)
	if s.tried[key] {
		return false
	}
	s.tried[key] = true
	c.keys = append(c.keys, key)
	return true
}

func (c *candidate) unless(no bool) *candidate {
	if no {
		return nil
	}
	return c
}

// edited returns a copy of the holder after one step at one place; nil after the last step, and false after the last
// place.
func (s *Shrinker) edited(holder *Node, at cursor) (smaller *Node, more bool) {
	if s.steps == nil || s.of != holder || s.place != at.place {
		n := at.place
		p := placeOf(holder, &n)
		if p == nil {
			return nil, false
		}
		s.of, s.place, s.steps = holder, at.place, s.stepsAt(holder, p, at.place == 0)
	}
	if at.step >= len(s.steps) {
		return nil, true
	}
	smaller = holder.Clone()
	index, n := at.place, s.steps[at.step]
	switch p := placeOf(smaller, &index); {
	case n.value == nil:
		p.Holder.Remove(p.I)
	case n.everywhere:
		old := p.Value().Text
		eachText(smaller, func(text *string) {
			if *text == old {
				*text = n.value.Text
			}
		})
	default:
		p.Replace(n.value.Clone())
	}
	return smaller, true
}

// stepsAt are the steps at a place. The root cannot be removed.
func (s *Shrinker) stepsAt(holder *Node, p *Place, root bool) []step {
	steps := []step{}
	if !root {
		steps = append(steps, step{})
	}
	smaller := alternatives(p.Value())
	if s.Simpler != nil {
		smaller = append(smaller, s.Simpler(p.Value())...)
	}
	for _, n := range smaller {
		steps = append(steps, step{n, false})
	}
	if p.Value().Type() != "string" {
		return steps
	}
	count := map[string]int{}
	eachText(holder, func(text *string) { count[*text]++ })
	here := p.Value().Text
	if count[here] < 2 {
		return steps
	}
	var names []string // that it could have, too
	for text, times := range count {
		if times > 1 && smallerThan([]byte(text), []byte(here)) && len(text) > len(`""`) {
			names = append(names, text)
		}
	}
	for letter := 'a'; letter <= 'z'; letter++ { // the first that no other value has
		if name := `"` + string(letter) + `"`; count[name] == 0 {
			names = append(names, name)
			break
		}
	}
	slices.Sort(names)
	for _, name := range names {
		steps = append(steps, step{&Node{Text: name}, true})
	}
	return steps
}

// eachText calls f with the literal of each string inside of a value.
func eachText(n *Node, f func(text *string)) {
	for _, item := range n.Items {
		if item.Type() == "string" {
			f(&item.Text)
		}
		eachText(item, f)
	}
}

// placeOf returns the nth of the [Places] inside of a value; nil if there are fewer.
func placeOf(holder *Node, n *int) *Place {
	for i, item := range holder.Items {
		if *n == 0 {
			return &Place{Holder: holder, I: i}
		}
		*n--
		if p := placeOf(item, n); p != nil {
			return p
		}
	}
	return nil
}

// alternatives are smaller values in place of a value, the smallest first.
func alternatives(n *Node) []*Node {
	switch n.Type() {
	case "array", "object":
		return fewerItems(n)
	case "string":
		return shorterTexts(n.Text)
	case "number":
		return shorterNumbers(n.Text)
	}
	return nil
}

// fewItems is up to how many items each is tried alone.
const fewItems = 24

func fewerItems(n *Node) []*Node {
	count := len(n.Items)
	if count == 0 {
		return nil
	}
	all := []*Node{{Kind: n.Kind}}
	keep := func(kept func(i int) bool) {
		smaller := &Node{Kind: n.Kind}
		for i, item := range n.Items {
			if !kept(i) {
				continue
			}
			smaller.Items = append(smaller.Items, item)
			if n.Kind == '{' {
				smaller.Names = append(smaller.Names, n.Names[i])
			}
		}
		all = append(all, smaller)
	}
	if count == 1 {
		return append(all, append(shallower(n), n.Items[0])...)
	}
	for only := 0; n.Kind == '[' && only < count && count > 2 && count <= fewItems; only++ {
		keep(func(i int) bool { return i == only })
	}
	for size := (count + 1) / 2; size > 1; size = (size + 1) / 2 {
		for from := 0; from < count; from += max(size/2, 1) {
			keep(func(i int) bool { return i < from || i >= from+size })
		}
		if size == 2 {
			break
		}
	}
	return all
}

// shallower is half of the depth of nested arrays.
func shallower(n *Node) []*Node {
	depth, inner := 0, n
	for inner.Kind == '[' && len(inner.Items) == 1 {
		depth, inner = depth+1, inner.Items[0]
	}
	if depth <= 2 {
		return nil
	}
	for range depth / 2 {
		n = n.Items[0]
	}
	return []*Node{n}
}

// shorterTexts are shorter literals of a string. A literal is cut only between characters and escapes.
func shorterTexts(literal string) []*Node {
	parts := characters(literal[1 : len(literal)-1])
	count := len(parts)
	var all []*Node
	add := func(kept ...[]string) {
		all = append(all, &Node{Text: `"` + string(bytes.Join(toBytes(slices.Concat(kept...)), nil)) + `"`})
	}
	if count == 0 {
		return nil
	}
	add()
	if literal != `"a"` {
		add([]string{"a"})
	}
	for cut := count / 2; cut > 0; cut /= 2 {
		add(parts[:count-cut])
		add(parts[cut:])
	}
	for i := 1; i < count-1 && count <= fewItems; i++ {
		add(parts[:i], parts[i+1:])
	}
	return all
}

func toBytes(parts []string) [][]byte {
	all := make([][]byte, len(parts))
	for i, p := range parts {
		all[i] = []byte(p)
	}
	return all
}

// characters splits the inside of a string literal. A surrogate pair is one part.
func characters(literal string) []string {
	var parts []string
	for len(literal) > 0 {
		size := 1
		switch {
		case literal[0] == '\\' && literal[1] == 'u':
			size = 6
			if len(literal) >= 12 && isSurrogate(literal, "89abAB") && isSurrogate(literal[6:], "cdefCDEF") {
				size = 12
			}
		case literal[0] == '\\':
			size = 2
		default:
			for size < len(literal) && literal[size]&0xC0 == 0x80 { // the rest of a character in UTF-8
				size++
			}
		}
		parts = append(parts, literal[:size])
		literal = literal[size:]
	}
	return parts
}

// isSurrogate reports whether a text begins with the escape of a surrogate, with one of the digits in third place.
func isSurrogate(text, digits string) bool {
	return text[0] == '\\' && text[1] == 'u' && (text[2] == 'd' || text[2] == 'D') &&
		bytes.IndexByte([]byte(digits), text[3]) >= 0
}

// fewSteps is below which an integer may shrink one by one.
const fewSteps = 100

// shorterNumbers are shorter literals of a number, and smaller positive integers.
func shorterNumbers(literal string) []*Node {
	shorter := []string{"0", "1", literal[:len(literal)/2], literal[:len(literal)-1], literal[1:]}
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil && n > 1 {
		shorter = append(shorter, fmt.Sprint(n/2))
		if n < fewSteps {
			shorter = append(shorter, fmt.Sprint(n-1))
		}
	}
	var all []*Node
	for _, s := range shorter {
		if smallerThan([]byte(s), []byte(literal)) && json.Valid([]byte(s)) {
			all = append(all, &Node{Text: s})
		}
	}
	return all
}
