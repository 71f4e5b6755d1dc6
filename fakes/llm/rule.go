package llm

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Rule says what the model answers when a request matches. Make one with [When]; its methods change it and return it. A
// server copies the rules it is given: one rule may be given to several servers, and changing it later changes none.
type Rule struct {
	matchers []Matcher
	reply    dialect.Reply
	replies  bool
	fail     *Error
	faults   []Fault
	pace     *Pace // nil: the server's
	header   http.Header
	account  string
	gate     *Gate // nil: none
	limited  bool
	times    int
	optional bool
}

// When starts a rule for the requests that all the matchers match; without any, for every request. It answers any number
// of times, and a test that never needs it fails, unless the rule says otherwise.
func When(m ...Matcher) *Rule { return &Rule{matchers: slices.Clone(m)} }

// Script is a list of rules, for those who like to see it named.
func Script(rules ...*Rule) []*Rule { return rules }

// Reply makes the model answer with the blocks. None is an empty completion.
func (r *Rule) Reply(blocks ...Block) *Rule {
	r.reply.Content, r.replies = slices.Clone(blocks), true
	return r
}

// StopReason sets why the model stops, in the terms of MCP or in the provider's own. Left out, it is toolUse
// where the reply has a tool use, and endTurn otherwise. It need not be true of the reply: that is a fault worth testing.
func (r *Rule) StopReason(reason StopReason) *Rule {
	r.reply.StopReason = reason
	return r
}

// Model sets the model's name in the reply. Left out, it is the one that was asked for.
func (r *Rule) Model(name string) *Rule {
	r.reply.Model = name
	return r
}

// LateUse sends the end of the last tool use after the finish reason, a fault seen in streams. It changes nothing where the
// answer is no stream.
func (r *Rule) LateUse() *Rule {
	r.reply.LateUse = true
	return r
}

// Fail makes the model answer with an error in the provider's shape, in place of a reply. Its Header may hold a Retry-After: see
// [RetryAfter].
func (r *Rule) Fail(e *Error) *Rule {
	copied := *e
	r.fail = &copied
	return r
}

// Fault lets something go wrong with the answer on its way. Several may be given, but only one that ends the answer and one that
// splits it. With a stall or a reset before the headers there need be no Reply.
func (r *Rule) Fault(f ...Fault) *Rule {
	r.faults = slices.Concat(r.faults, f)
	return r
}

// Header adds to the headers of the answer, whatever it is, as what stands before a provider does: cookies, the name of the machine.
func (r *Rule) Header(h http.Header) *Rule {
	r.header = h.Clone()
	return r
}

// Account sets the id of the account that the answer is for, which some providers name in a header of their own: see [dialect.Accounts].
// Left out, or where the provider names none, nothing is said but what the dialect always says.
func (r *Rule) Account(id string) *Rule {
	r.account = id
	return r
}

// Pace sets how fast the model speaks, in place of [Options.Pace].
func (r *Rule) Pace(p Pace) *Rule {
	r.pace = &p
	return r
}

// Once is Times(1).
func (r *Rule) Once() *Rule { return r.Times(1) }

// Times makes the rule answer exactly n times: after n answers later rules have their turn, and fewer leave it unused.
func (r *Rule) Times(n int) *Rule {
	r.limited, r.times = true, n
	return r
}

// Optional lets the rule go unused.
func (r *Rule) Optional() *Rule {
	r.optional = true
	return r
}

// String returns the rule's conditions as they are written in a test.
func (r *Rule) String() string {
	names := make([]string, len(r.matchers))
	for i, m := range r.matchers {
		if s, ok := m.(fmt.Stringer); ok {
			names[i] = s.String()
		} else {
			names[i] = fmt.Sprintf("%T", m)
		}
	}
	return "When(" + strings.Join(names, ", ") + ")"
}

// Validate says what a server would refuse the rule for; nil when it would not.
func (r *Rule) Validate() error {
	_, err := r.check()
	return err
}

// check finds what makes a rule senseless, and puts its faults together.
func (r *Rule) check() (delivery, error) {
	if r == nil {
		return delivery{}, errors.New("is nil")
	}
	d, err := deliver(r.faults)
	switch {
	case err != nil:
	case slices.Contains(r.matchers, nil):
		err = errors.New("has a nil matcher")
	case r.replies && r.fail != nil:
		err = errors.New("has both Reply and Fail: want one of them")
	case !r.replies && r.fail == nil && !d.cut.silent:
		err = errors.New("says nothing: add Reply(…) or Fail(…)")
	case r.fail != nil && (r.fail.Status < 400 || r.fail.Status > 599):
		err = fmt.Errorf("fails with the status %d: want one from 400 to 599", r.fail.Status)
	case r.limited && r.times < 1:
		err = fmt.Errorf("answers %d times: want at least 1", r.times)
	case r.pace != nil:
		err = r.pace.Validate()
	}
	return d, err
}

// addHeaders adds the rule's own to those of an answer.
func (r *Rule) addHeaders(codec dialect.Codec, a *Answer) {
	named, names := codec.(dialect.Accounts)
	if r.header == nil && (r.account == "" || !names) {
		return
	}
	a.Header = a.Header.Clone() // codecs may share theirs
	maps.Copy(a.Header, r.header)
	if names && r.account != "" {
		a.Header.Set(named.AccountHeader(), r.account)
	}
}

// difference counts the matchers that match and returns the first difference, nil when all match.
func (r *Rule) difference(req *Request) (matched int, first error) {
	for _, m := range r.matchers {
		if err := m.Match(req); err == nil {
			matched++
		} else if first == nil {
			first = err
		}
	}
	return matched, first
}
