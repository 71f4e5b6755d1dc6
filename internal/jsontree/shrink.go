// Package jsontree shrinks JSON values.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Shrinker shrinks a JSON value as long as it fails a test.
type Shrinker struct {
	// Fails tests candidates, and returns the index of the first one that fails; -1 if none does.
	Fails func(candidates [][]byte) int
	// AtOnce is the most candidates that one call of Fails gets; 0 for one. It changes the speed, not the result.
	AtOnce int

	tried map[string]bool

	// The smaller values in place of the one at the last place; nil removes it.
	of      *jsonvalue.Node
	place   int
	smaller []*jsonvalue.Node
}

// Shrink returns the smallest value it finds that fails: no single step makes it smaller. A text that is not JSON is
// returned unchanged.
func (s *Shrinker) Shrink(raw []byte) []byte {
	root, err := jsonvalue.Parse(raw)
	if err != nil {
		return raw
	}
	holder := &jsonvalue.Node{Kind: '[', Items: []*jsonvalue.Node{root}}
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
	holder *jsonvalue.Node
	raw    []byte
	at     cursor
}

// pass tries every step at every place once, outer places first. After a success it repeats the place.
func (s *Shrinker) pass(holder *jsonvalue.Node) (best *jsonvalue.Node, shrunk bool) {
	at, size := cursor{}, 1
	for {
		var some []candidate
		var raws [][]byte
		for len(some) < size {
			c := s.next(holder, &at)
			if c == nil {
				break
			}
			some, raws = append(some, *c), append(raws, c.raw)
		}
		if len(some) == 0 {
			return holder, shrunk
		}
		i := s.Fails(raws)
		if i < 0 {
			size = min(2*size, max(s.AtOnce, 1))
			continue
		}
		for _, later := range some[i+1:] {
			delete(s.tried, string(later.raw)) // It may be a candidate again.
		}
		holder, shrunk, at, size = some[i].holder, true, cursor{place: some[i].at.place}, max(size/2, 1)
	}
}

// next returns the next untested candidate from the cursor on, which it moves; nil at the end.
func (s *Shrinker) next(holder *jsonvalue.Node, at *cursor) *candidate {
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
		c := &candidate{smaller, smaller.Items[0].Bytes(), here}
		if !s.tried[string(c.raw)] && smallerThan(c.raw, best) {
			s.tried[string(c.raw)] = true
			return c
		}
	}
}

// smallerThan reports whether a is shorter than b, or as long and before it.
func smallerThan(a, b []byte) bool {
	return len(a) < len(b) || len(a) == len(b) && bytes.Compare(a, b) < 0
}

// edited returns a copy of the holder after one step at one place; nil after the last step, and false after the last
// place.
func (s *Shrinker) edited(holder *jsonvalue.Node, at cursor) (smaller *jsonvalue.Node, more bool) {
	if s.smaller == nil || s.of != holder || s.place != at.place {
		n := at.place
		p := placeOf(holder, &n)
		if p == nil {
			return nil, false
		}
		s.of, s.place, s.smaller = holder, at.place, alternatives(p.Value())
		if at.place > 0 {
			s.smaller = slices.Insert(s.smaller, 0, (*jsonvalue.Node)(nil)) // The root cannot be removed.
		}
	}
	if at.step >= len(s.smaller) {
		return nil, true
	}
	smaller = holder.Clone()
	index := at.place
	p := placeOf(smaller, &index)
	if n := s.smaller[at.step]; n != nil {
		p.Replace(n.Clone())
	} else {
		p.Holder.Remove(p.I)
	}
	return smaller, true
}

// placeOf returns the nth of the [jsonvalue.Places] inside of a value; nil if there are fewer.
func placeOf(holder *jsonvalue.Node, n *int) *jsonvalue.Place {
	for i, item := range holder.Items {
		if *n == 0 {
			return &jsonvalue.Place{Holder: holder, I: i}
		}
		*n--
		if p := placeOf(item, n); p != nil {
			return p
		}
	}
	return nil
}

// alternatives are smaller values in place of a value, the smallest first.
func alternatives(n *jsonvalue.Node) []*jsonvalue.Node {
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

func fewerItems(n *jsonvalue.Node) []*jsonvalue.Node {
	count := len(n.Items)
	if count == 0 {
		return nil
	}
	all := []*jsonvalue.Node{{Kind: n.Kind}}
	keep := func(kept func(i int) bool) {
		smaller := &jsonvalue.Node{Kind: n.Kind}
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
func shallower(n *jsonvalue.Node) []*jsonvalue.Node {
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
	return []*jsonvalue.Node{n}
}

// shorterTexts are shorter literals of a string. A literal is cut only between characters and escapes.
func shorterTexts(literal string) []*jsonvalue.Node {
	parts := characters(literal[1 : len(literal)-1])
	count := len(parts)
	var all []*jsonvalue.Node
	add := func(kept ...[]string) {
		all = append(all, &jsonvalue.Node{Text: `"` + string(bytes.Join(toBytes(slices.Concat(kept...)), nil)) + `"`})
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
func shorterNumbers(literal string) []*jsonvalue.Node {
	shorter := []string{"0", "1", literal[:len(literal)/2], literal[:len(literal)-1], literal[1:]}
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil && n > 1 {
		shorter = append(shorter, fmt.Sprint(n/2))
		if n < fewSteps {
			shorter = append(shorter, fmt.Sprint(n-1))
		}
	}
	var all []*jsonvalue.Node
	for _, s := range shorter {
		if smallerThan([]byte(s), []byte(literal)) && json.Valid([]byte(s)) {
			all = append(all, &jsonvalue.Node{Text: s})
		}
	}
	return all
}
