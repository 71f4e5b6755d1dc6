package llm

import "github.com/mcp-conform/mcp-conform/internal/words"

// TB is the part of [testing.TB] that [New] needs.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// New is [NewWith] with default options.
func New(t TB, rules ...*Rule) *Server {
	t.Helper()
	return NewWith(t, Options{}, rules...)
}

// NewWith starts a server for a test and closes it at the end. The test fails for each request that no rule matched,
// each request that was refused, unless [Server.AllowRefusals] permits them, and each rule used too rarely. It logs a
// rule without [Rule.Times] that answered more than 100 times.
func NewWith(t TB, o Options, rules ...*Rule) *Server {
	t.Helper()
	s, err := Start(o, rules...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil // another TB may continue
	}
	t.Cleanup(func() {
		t.Helper()
		s.Close()
		for _, x := range s.Journal() {
			switch {
			case x.Miss != "":
				t.Errorf("model request %d, %s %s: %s", x.Number, x.Method, x.Path, x.Miss)
			case x.Refused != "":
				report := t.Errorf
				if s.refusals.Load() {
					report = t.Logf
				}
				report("model request %d, %s %s, was refused with %d: %s", x.Number, x.Method, x.Path, x.Status, x.Refused)
			}
		}
		if s.journal.dropped > 0 {
			t.Logf("the journal is full: it dropped the oldest %s", words.Count(int(s.journal.dropped), "model request"))
		}
		if s.journal.misses > 0 {
			t.Errorf("no rule matched %s that the journal has dropped",
				words.Count(int(s.journal.misses), "model request"))
		}
		for _, often := range s.overused() {
			t.Logf("%s", often)
		}
		for _, unused := range s.Unused() {
			t.Errorf("%s", unused)
		}
	})
	return s
}

// AllowRefusals permits refused requests in a test: it logs them, and does not fail.
func (s *Server) AllowRefusals() { s.refusals.Store(true) }
