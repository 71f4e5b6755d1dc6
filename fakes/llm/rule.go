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

// Rule is the model's answer to matching requests. [When] creates one; its methods change and return it. Servers copy
// their rules, so that several can share one, and later changes have no effect.
type Rule struct {
	name     string
	matchers []Matcher
	reply    dialect.Reply
	replies  bool
	content  func(*Request) []Block // in place of the reply's content; may be nil
	fail     *Error
	faults   []Fault
	pace     *Pace // nil: the server's
	header   http.Header
	account  string
	gate     *Gate
	limited  bool
	times    int
	optional bool
}

// When starts a rule for requests that all matchers match; without matchers, for every request. By default it may
// answer any number of times, and a test that never uses it fails.
func When(m ...Matcher) *Rule { return &Rule{matchers: slices.Clone(m)} }

// And returns a copy of the rule that these matchers must match, too. The rule itself stays as it is.
func (r *Rule) And(m ...Matcher) *Rule {
	limited := *r
	limited.matchers = slices.Concat(r.matchers, m)
	return &limited
}

// Reply answers with the blocks; without any, with an empty completion.
func (r *Rule) Reply(blocks ...Block) *Rule {
	r.reply.Content, r.replies = slices.Clone(blocks), true
	return r
}

// ReplyFunc answers with the blocks that content returns for the request: for a reply that quotes it, such as a call of
// a tool by the name under which it is offered. Content must not keep or change the request. Several goroutines may
// call it at once.
func (r *Rule) ReplyFunc(content func(*Request) []Block) *Rule {
	r.content, r.replies = content, true
	return r
}

// Usage sets the tokens that the answer reports. Default: an estimate by the size of the request and the answer. Each
// dialect has its own members for them.
func (r *Rule) Usage(tokens Usage) *Rule {
	r.reply.Usage = &tokens
	return r
}

// StopReason sets the stop reason, in MCP's words or the provider's. Default: toolUse if the reply has a tool use, else
// endTurn. It may contradict the reply: a fault worth testing.
func (r *Rule) StopReason(reason StopReason) *Rule {
	r.reply.StopReason = reason
	return r
}

// Model sets the model's name in the reply. Default: the requested one.
func (r *Rule) Model(name string) *Rule {
	r.reply.Model = name
	return r
}

// LateUse sends the end of the last tool use after the finish reason, as some real streams do. It has no effect on a
// plain answer.
func (r *Rule) LateUse() *Rule {
	r.reply.LateUse = true
	return r
}

// Stream adds a form to the stream of a chat completion: see [dialect.StreamForm]. It has no effect on other answers.
func (r *Rule) Stream(form dialect.StreamForm) *Rule {
	r.reply.Stream |= form
	return r
}

// Fail answers with an error in the provider's shape. Its Header may hold a Retry-After: see [RetryAfter].
func (r *Rule) Fail(e *Error) *Rule {
	copied := *e
	r.fail = &copied
	return r
}

// Fault adds delivery faults. At most one may end the answer, and one split it. A stall or reset before the headers
// needs no Reply.
func (r *Rule) Fault(f ...Fault) *Rule {
	r.faults = slices.Concat(r.faults, f)
	return r
}

// Header adds headers to every answer, like a proxy in front of a provider: cookies, server names.
func (r *Rule) Header(h http.Header) *Rule {
	r.header = h.Clone()
	return r
}

// Account sets the account id, which some providers send in a header of their own: see [dialect.Accounts]. Default: the
// dialect's constant, if any.
func (r *Rule) Account(id string) *Rule {
	r.account = id
	return r
}

// Pace replaces [Options.Pace].
func (r *Rule) Pace(p Pace) *Rule {
	r.pace = &p
	return r
}

// Times makes the rule answer exactly n times. Then later rules apply; with fewer answers it counts as unused.
func (r *Rule) Times(n int) *Rule {
	r.limited, r.times = true, n
	return r
}

// Optional permits the rule to stay unused.
func (r *Rule) Optional() *Rule {
	r.optional = true
	return r
}

// Named sets the name of the rule in messages, such as its place in a file. Default: its matchers as written in a test.
func (r *Rule) Named(name string) *Rule {
	r.name = name
	return r
}

// String returns the rule's name, or its matchers as written in a test.
func (r *Rule) String() string {
	if r.name != "" {
		return r.name
	}
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

// Validate returns the error with which a server would reject the rule.
func (r *Rule) Validate() error {
	_, err := r.check()
	return err
}

// check validates the rule and combines its faults.
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
		err = errors.New("has both Reply and Fail: expected one of them")
	case !r.replies && r.fail == nil && !d.cut.silent:
		err = errors.New("says nothing: add Reply(…) or Fail(…)")
	case r.fail != nil && (r.fail.Status < 400 || r.fail.Status > 599):
		err = fmt.Errorf("fails with the status %d: expected one from 400 to 599", r.fail.Status)
	case r.limited && r.times < 1:
		err = fmt.Errorf("answers %d times: expected at least 1", r.times)
	default:
		err = r.checkSettings()
	}
	return d, err
}

// mcpReasons are the stop reasons in MCP's words and ours. A provider has others.
var mcpReasons = []StopReason{EndTurn, StopToolUse, StopMaxTokens, StopStopSequence, StopRefusal, StopContentFilter}

// checkSettings validates the matchers, the stop reason, the pace and the usage.
func (r *Rule) checkSettings() error {
	for _, m := range r.matchers {
		if named, ok := m.(namedMatcher); ok && named.mistake != "" {
			return fmt.Errorf("has the matcher %s, which %s", named.name, named.mistake)
		}
	}
	for _, known := range mcpReasons {
		if given := r.reply.StopReason; given != known && strings.EqualFold(string(given), string(known)) {
			return fmt.Errorf("has the stop reason %q: did you mean %q?", given, known)
		}
	}
	if u := r.reply.Usage; u != nil && (u.Cached < 0 || u.Input < u.Cached || u.Output < 0) {
		return fmt.Errorf("reports the usage %d, %d, %d: expected no negative number, and not more cached than input",
			u.Input, u.Output, u.Cached)
	}
	if r.pace != nil {
		return r.pace.Validate()
	}
	return nil
}

func (r *Rule) addHeaders(codec dialect.Codec, a *Answer) {
	named, names := codec.(dialect.Accounts)
	if r.header == nil && (r.account == "" || !names) {
		return
	}
	maps.Copy(a.Header, r.header)
	if names && r.account != "" {
		a.Header.Set(named.AccountHeader(), r.account)
	}
}

// difference counts the matching matchers and returns the first error of the others.
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
