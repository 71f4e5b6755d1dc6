package llm

import (
	"fmt"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

// script holds the rules of the server or of a mark.
type script struct {
	name   string // in messages
	rules  []*serverRule
	before int64        // initial serial
	serial atomic.Int64 // of the last reply
}

// serverRule is a server's copy of a rule, with a count of its answers.
type serverRule struct {
	Rule
	number   int    // from 1
	label    string // in the journal
	delivery delivery
	answered atomic.Int64
}

func newScript(name string, serial int64, rules []*Rule) (*script, error) {
	s := &script{name: name, before: serial}
	s.serial.Store(serial)
	for i, r := range rules {
		d, err := r.check()
		if err != nil {
			return nil, fmt.Errorf("rule %d of %s %w", i+1, name, err)
		}
		own := &serverRule{Rule: *r, number: i + 1, delivery: d}
		own.label = fmt.Sprintf("%v of %s", own, name)
		s.rules = append(s.rules, own)
	}
	return s, nil
}

// reset marks all rules unused.
func (s *script) reset() {
	s.serial.Store(s.before)
	for _, r := range s.rules {
		r.answered.Store(0)
	}
}

// claim counts an answer. False: the rule has no answers left.
func (r *serverRule) claim() bool {
	for {
		n := r.answered.Load()
		if r.limited && n >= int64(r.times) {
			return false
		}
		if r.answered.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (r *serverRule) String() string { return fmt.Sprintf("rule %d, %s", r.number, r.Rule.String()) }

// choose claims the first matching rule with answers left. Otherwise the error names the nearest rule, with the fewest
// differing and then the most matching matchers, and its first difference.
func (s *script) choose(req *Request) (*serverRule, error) {
	var nearest *serverRule
	var difference error
	var fewest, most int
	for _, r := range s.rules {
		matched, first := r.difference(req)
		if first == nil {
			if r.claim() {
				return r, nil
			}
			first = fmt.Errorf("it matches, but has given its %s", words.Count(r.times, "answer"))
		}
		if different := len(r.matchers) - matched; nearest == nil || different < fewest || different == fewest &&
			matched > most {
			nearest, difference, fewest, most = r, first, different, matched
		}
	}
	if nearest == nil {
		return nil, fmt.Errorf("no rule matches this request: %s has no rules", s.name)
	}
	return nil, fmt.Errorf("no rule of %s matches this request; the nearest of %d is %v: %w", s.name, len(s.rules),
		nearest, difference)
}

func (s *script) unused() []string {
	var unused []string
	for _, r := range s.rules {
		n, want := int(r.answered.Load()), max(1, r.times)
		if r.optional || n >= want {
			continue
		}
		state := "was never used"
		if n > 0 {
			state = fmt.Sprintf("answered %d of %d times", n, want)
		}
		unused = append(unused, fmt.Sprintf("%v of %s %s", r, s.name, state))
	}
	return unused
}

// manyAnswers are so many that the client may never stop asking.
const manyAnswers = 100

func (s *script) overused() []string {
	var often []string
	for _, r := range s.rules {
		if n := r.answered.Load(); !r.limited && n > manyAnswers {
			often = append(often, fmt.Sprintf("%v of %s answered %d times: does the client stop? Limit the rule with Times",
				r, s.name, n))
		}
	}
	return often
}
