package conversation

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// choices make a conversation: new ones at random, or those of a tree, which a generator made before. The tree has an
// object for each part of a conversation and a number for each choice in it. What is missing in the tree, or out of
// range, is the simplest choice. So every tree makes a valid conversation, and a smaller one a simpler one.
type choices struct {
	random *rand.Rand // nil for those of the tree
	at     *jsonvalue.Node
}

// number chooses a number below n; -1 for the simplest.
func (c *choices) number(name string, n int) int {
	if c.random != nil {
		i := c.random.IntN(n)
		c.at.Add(name, &jsonvalue.Node{Text: strconv.Itoa(i + 1)})
		return i
	}
	if chosen := c.at.Member(name); chosen != nil {
		i, _ := strconv.Atoi(chosen.Text) // 0 for anything else
		return max(min(i, n), 0) - 1
	}
	return -1
}

// index chooses an index of a list, which is not empty; 0 is the simplest.
func (c *choices) index(name string, n int) int { return max(c.number(name, n), 0) }

func oneOf[T any](c *choices, name string, simplest T, values ...T) T {
	if i := c.number(name, len(values)); i >= 0 {
		return values[i]
	}
	return simplest
}

// chance is true n times of a hundred; false is simpler.
func (c *choices) chance(name string, n int) bool {
	if c.random == nil {
		return c.at.Member(name) != nil
	}
	if n < 100 && c.random.IntN(100) >= n {
		return false
	}
	c.at.Add(name, &jsonvalue.Node{Text: "1"})
	return true
}

// maybe makes a part n times of a hundred; none is simpler.
func (c *choices) maybe(name string, n int, part func()) bool {
	if c.random != nil && c.random.IntN(100) >= n || c.random == nil && c.at.Member(name) == nil {
		return false
	}
	c.part(name, part)
	return true
}

// part makes the choices of a part.
func (c *choices) part(name string, f func()) {
	if c.random != nil {
		c.at.Add(name, &jsonvalue.Node{Kind: '{'})
	}
	c.in(c.at.Member(name), f)
}

// in makes choices in a node of the tree.
func (c *choices) in(n *jsonvalue.Node, f func()) {
	if n == nil || n.Kind != '{' {
		n = &jsonvalue.Node{Kind: '{'}
	}
	outer := c.at
	c.at = n
	f()
	c.at = outer
}

// rather is true n times of a hundred; true is simpler.
func (c *choices) rather(name string, n int) bool {
	if c.random == nil {
		return c.at.Member(name) == nil
	}
	if c.random.IntN(100) < n {
		return true
	}
	c.at.Add(name, &jsonvalue.Node{Text: "1"})
	return false
}

// among chooses one of the numbers, for [choices.count]; it is not asked for those of the tree.
func (c *choices) among(numbers ...int) func() int {
	return func() int { return numbers[c.random.IntN(len(numbers))] }
}

// count chooses how many parts a list has; none is the simplest.
func (c *choices) count(name string, random func() int) int {
	if c.random != nil {
		list := &jsonvalue.Node{Kind: '['}
		for range random() {
			list.Items = append(list.Items, &jsonvalue.Node{Kind: '{'})
		}
		c.at.Add(name, list)
	}
	if list := c.at.Member(name); list != nil && list.Kind == '[' {
		return len(list.Items)
	}
	return 0
}

// each makes the parts of a counted list, until part returns false.
func (c *choices) each(name string, part func(i int) bool) {
	list := c.at.Member(name)
	if list == nil || list.Kind != '[' {
		return
	}
	for i, item := range list.Items {
		more := true
		if c.in(item, func() { more = part(i) }); !more {
			return
		}
	}
}

// list chooses how many parts a list has, and makes them.
func (c *choices) list(name string, random func() int, part func(i int)) {
	c.count(name, random)
	c.each(name, func(i int) bool {
		part(i)
		return true
	})
}

// shuffle changes the order of n things; the one they have is the simplest.
func (c *choices) shuffle(name string, n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		if with := c.number(fmt.Sprint(name, i), i+1); with >= 0 {
			swap(i, with)
		}
	}
}
