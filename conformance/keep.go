package conformance

import (
	"context"
	"fmt"
	"slices"
	"sort"
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
	chosen        []byte // what made it; nil for a malformed request
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
		if generated, chosen := s.regenerate(r.Revision, c.Case); generated != nil {
			_, name, _ := strings.Cut(c.Case, "/")
			if !generated.Hostile() {
				name = explore.ID + "-" + name
			}
			all = append(all, failed{generated, chosen, name, c.Message, false})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		return !all[i].Hostile() && !all[j].Hostile() && len(all[i].JSON()) < len(all[j].JSON())
	})
	return all
}

// regenerate returns the conversation of a generated case and the choices that made it; nil for a case of another kind.
func (s *Suite) regenerate(revision, caseID string) (c *conversation.Conversation, chosen []byte) {
	scenario, name, _ := strings.Cut(caseID, "/")
	var n int
	seed := s.Seed
	switch {
	case scenario == explore.ID && scan(name, "%d", &n):
		return conversation.Generated(revision, seed, n-1)
	case scenario == chapter.MalformedID && scan(name, "corpus-%d", &n):
		seed = chapter.CorpusSeed
	case scenario == chapter.MalformedID && scan(name, "fuzz-%d", &n):
		n += chapter.CorpusSize
	default:
		return nil, nil
	}
	f := malformed.Generate(revision, seed, n-1)
	return &conversation.Conversation{Revision: revision, Source: fmt.Sprintf("seed %d, frame %d: %s", seed, n, f.Broken),
		Steps: []conversation.Step{{{Params: f.Params, Hostile: true}}}}, nil
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
// fails again. It shrinks the choices that made a conversation, and the params of a malformed request.
func (s *Suite) shrink(ctx context.Context, r *report.Result, f failed) (*conversation.Conversation, error) {
	t := &tries{suite: s, result: r, failed: f, left: maxAttempts, known: map[string]bool{}}
	shrinker := jsontree.Shrinker{Fails: func(candidates [][]byte) int { return t.first(ctx, candidates) },
		AtOnce: candidatesAtOnce}
	whole := f.chosen
	if f.Hostile() {
		t.left, shrinker.AtOnce, whole = maxHostile, 1, f.Steps[0][0].Params
	}
	if t.first(ctx, [][]byte{whole}) < 0 {
		return nil, t.broken
	}
	if s.Bubble == nil && t.hung {
		t.left = maxHangs
	}
	shrunk := t.made(shrinker.Shrink(whole))
	return shrunk, t.broken
}

// tries are what was tried to shrink a conversation.
type tries struct {
	suite  *Suite
	result *report.Result
	failed failed
	left   int             // sessions
	known  map[string]bool // by conversation, whether it fails
	hung   bool            // the client, in one of them
	broken error           // on our side
}

func (t *tries) made(candidate []byte) *conversation.Conversation {
	if t.failed.Hostile() {
		return &conversation.Conversation{Revision: t.failed.Revision,
			Steps: []conversation.Step{{{Params: candidate, Hostile: true}}}}
	}
	return conversation.Chosen(t.failed.Revision, candidate)
}

// first returns the index of the first candidate that fails; -1 if none does, or no more may be tried. It plays only
// conversations that it does not know.
func (t *tries) first(ctx context.Context, candidates [][]byte) int {
	if t.left == 0 || t.broken != nil || ctx.Err() != nil {
		return -1
	}
	var played []*conversation.Conversation
	var indexes []int
	failing := -1
	for i, raw := range candidates {
		c := t.made(raw)
		text := string(c.JSON())
		fails, known := t.known[text]
		if known && fails {
			failing = i
			break
		}
		same := func(o *conversation.Conversation) bool { return string(o.JSON()) == text }
		if !known && !slices.ContainsFunc(played, same) {
			played, indexes = append(played, c), append(indexes, i)
		}
	}
	if len(played) == 0 {
		return failing
	}
	t.left--
	first, err := t.firstFailing(ctx, played)
	if t.broken = err; err != nil {
		return -1
	}
	for i, c := range played {
		if first < 0 || i <= first {
			t.known[string(c.JSON())] = i == first
		}
	}
	if first >= 0 {
		return indexes[first]
	}
	return failing
}

// hung reports whether the client of a session hung.
func hung(played *trace.Trace) bool {
	return slices.ContainsFunc(played.Events, func(e trace.Event) bool { return e.Process != nil && e.Process.Deadline })
}

// firstFailing plays conversations, in one session if possible, and returns the index of the first that fails the
// check; -1 if none does.
func (t *tries) firstFailing(ctx context.Context, all []*conversation.Conversation) (int, error) {
	r := t.result
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
	runner := t.suite.runner(server.Revision(r.Revision), nil)
	if err := runner.Run(ctx, cases, func(played *trace.Trace) { traces = append(traces, played) }); err != nil {
		return -1, err
	}
	t.hung = t.hung || slices.ContainsFunc(traces, hung)
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
