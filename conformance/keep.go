package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/explore"
	chapter "github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/conversation"
	"github.com/mcp-conform/mcp-conform/internal/jsontree"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

const (
	// maxKept limits the conversations kept for a check in a revision: many show the same fault.
	maxKept = 3
	// maxAttempts limits the sessions that shrink a conversation, maxHostile those for a malformed request, of which a
	// session plays one, and maxHangs those in which the client hangs in real time.
	maxAttempts = 300
	maxHostile  = 120
	maxHangs    = 10
	// candidatesAtOnce is how many candidates share a session.
	candidatesAtOnce = 32
)

// keepFailing shrinks the generated conversations that failed a check and keeps each in a file, which it names in the
// results.
func (s *Suite) keepFailing(ctx context.Context, rs *report.Results) error {
	kept := map[string]bool{}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Verdict != report.Fail || r.Scenario == chapter.MalformedID && r.Level != report.Robust {
			continue
		}
		found := 0
		for _, f := range s.failing(r) {
			if found == maxKept || ctx.Err() != nil {
				break
			}
			f.first = found == 0
			fresh, err := s.keep(ctx, r, f, kept)
			if err != nil {
				return err
			}
			if fresh || r.Scenario == chapter.MalformedID {
				found++
			} else if !f.first {
				break // Another one shrinks to the same. More would, too.
			}
		}
	}
	return nil
}

// failed is a generated conversation that failed a check.
type failed struct {
	*conversation.Conversation
	name, message string
	first         bool
}

// failing returns the generated conversations that failed a check, small ones first. Malformed requests stay in order.
func (s *Suite) failing(r *report.Result) []failed {
	var all []failed
	for _, c := range r.Cases {
		if c.Verdict != report.Fail {
			continue
		}
		if generated := s.regenerate(r.Revision, c.Case); generated != nil {
			_, name, _ := strings.Cut(c.Case, "/")
			if !generated.Hostile() {
				name = explore.ID + "-" + name
			}
			all = append(all, failed{generated, name, c.Message, false})
		}
	}
	slices.SortStableFunc(all, func(a, b failed) int {
		if a.Hostile() || b.Hostile() {
			return 0
		}
		return cmp.Compare(len(a.JSON()), len(b.JSON()))
	})
	return all
}

// regenerate returns the conversation of a generated case; nil for a case of another kind.
func (s *Suite) regenerate(revision, caseID string) *conversation.Conversation {
	scenario, name, _ := strings.Cut(caseID, "/")
	var n int
	seed := s.Seed
	switch {
	case scenario == explore.ID && scan(name, "%d", &n):
		return conversation.Generate(revision, seed, n-1)
	case scenario == chapter.MalformedID && scan(name, "corpus-%d", &n):
		seed = chapter.CorpusSeed
	case scenario == chapter.MalformedID && scan(name, "fuzz-%d", &n):
		n += chapter.CorpusSize
	default:
		return nil
	}
	f := malformed.Generate(revision, seed, n-1)
	return &conversation.Conversation{Revision: revision, Source: fmt.Sprintf("seed %d, frame %d: %s", seed, n, f.Broken),
		Steps: []conversation.Step{{{Params: f.Params, Hostile: true}}}}
}

func scan(name, format string, n *int) bool {
	found, err := fmt.Sscanf(name, format, n)
	return err == nil && found == 1
}

// keep shrinks and keeps one conversation, unless the same one is in kept. The first one of a result becomes its
// reproduce command.
func (s *Suite) keep(ctx context.Context, r *report.Result, f failed, kept map[string]bool) (fresh bool, err error) {
	note := "shrunk"
	switch shrunk, err := s.shrink(ctx, r, f); {
	case err != nil || ctx.Err() != nil:
		return false, err
	case shrunk == nil:
		note = "not shrunk: it did not fail again"
	default:
		f.Steps = shrunk.Steps
	}
	key := fmt.Sprintf("%s %s %s", r.Revision, r.ID(), f.JSON())
	if kept[key] {
		return false, nil
	}
	kept[key] = true
	f.Check, f.Message = r.ID(), f.message
	path, err := f.Keep(s.Keep, r.Check+"-"+f.name)
	if err != nil {
		return false, err
	}
	caseID := explore.ID + "/" + strings.TrimPrefix(f.name, explore.ID+"-")
	text := f.JSON()
	if f.Hostile() {
		caseID, text = chapter.MalformedID+"/"+f.name, f.Steps[0][0].Params
	}
	r.Evidence = append(r.Evidence, report.Evidence{Label: "kept", Case: caseID,
		Text: evidence.Clip(fmt.Sprintf("%s (%s): %s", path, note, text))})
	if s.ReproduceFile != nil && f.first {
		r.Reproduce = s.ReproduceFile(path)
	}
	return true, nil
}

// shrink returns the smallest conversation that it finds which fails the check alone; nil if not even the whole one
// fails again.
func (s *Suite) shrink(ctx context.Context, r *report.Result, f failed) (*conversation.Conversation, error) {
	var broken error
	around := func(raw []byte) *conversation.Conversation {
		c := &conversation.Conversation{Revision: f.Revision}
		if f.Hostile() {
			c.Steps = []conversation.Step{{{Params: raw, Hostile: true}}}
			return c
		}
		broken = cmp.Or(broken, c.ReadSteps(raw))
		return c
	}
	fails := func(candidates [][]byte) int {
		all := make([]*conversation.Conversation, len(candidates))
		for i, raw := range candidates {
			all[i] = around(raw)
		}
		if broken != nil || ctx.Err() != nil {
			return -1
		}
		first, err := s.firstFailing(ctx, r, all)
		broken = err
		return first
	}
	shrinker := jsontree.Shrinker{Fails: fails, AtOnce: candidatesAtOnce, Attempts: maxAttempts,
		Repair:  func(raw []byte) []byte { return conversation.Repair(f.Revision, raw) },
		Simpler: conversation.Simpler}
	whole := f.JSON()
	if f.Hostile() {
		shrinker = jsontree.Shrinker{Fails: fails, Attempts: maxHostile}
		whole = f.Steps[0][0].Params
	}
	if s.Bubble == nil && strings.Contains(f.message, "hung") {
		shrinker.Attempts = maxHangs
	}
	if fails([][]byte{whole}) < 0 {
		return nil, broken
	}
	shrunk := around(shrinker.Shrink(whole))
	return shrunk, broken
}

// firstFailing plays conversations, in one session if possible, and returns the index of the first that fails the
// check; -1 if none does.
func (s *Suite) firstFailing(ctx context.Context, r *report.Result, all []*conversation.Conversation) (int, error) {
	var cases []harness.Case
	index := map[string]int{}
	for i, c := range all {
		one, err := caseOf(c, fmt.Sprint(shrinking, i+1))
		if err != nil {
			return -1, err
		}
		cases, index[one.ID] = append(cases, one), i
	}
	var traces []*trace.Trace
	runner := s.runner(server.Revision(r.Revision), 1)
	if err := runner.Run(ctx, cases, func(t *trace.Trace) { traces = append(traces, t) }); err != nil {
		return -1, err
	}
	judged, err := judge.Traces(withGenerated(catalogue(), traces), traces, func(s *check.Scenario, c *check.Check) bool {
		return s.ID == r.Scenario && c.ID == r.Check
	})
	if err != nil {
		return -1, err
	}
	first := len(all)
	for i := range judged.Results {
		if again := &judged.Results[i]; again.ID() == r.ID() && again.Verdict == report.Fail {
			for _, c := range again.Cases {
				if at, ok := index[c.Case]; ok && c.Verdict == report.Fail {
					first = min(first, at)
				}
			}
		}
	}
	if first == len(all) {
		first = -1
	}
	return first, nil
}
