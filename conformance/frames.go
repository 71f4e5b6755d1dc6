package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	chapter "github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// FrameError is the error for an invalid file in [Suite].Frame.
type FrameError struct{ Err error }

func (e *FrameError) Error() string { return fmt.Sprintf("reading the frame: %v", e.Err) }
func (e *FrameError) Unwrap() error { return e.Err }

const (
	fuzzCase  = chapter.MalformedID + "/fuzz-"
	frameCase = chapter.MalformedID + "/frame"
)

// generated returns the cases of this run that are not in the catalogue: those of Fuzz, or only that of Frame.
func (s *Suite) generated() ([]harness.Case, error) {
	if s.Frame == "" {
		var cases []harness.Case
		for n := range s.Fuzz {
			cases = append(cases, chapter.Generated(fmt.Sprintf("fuzz-%04d", n+1), s.Seed, chapter.CorpusSize+n))
		}
		return cases, nil
	}
	f, err := malformed.Open(s.Frame)
	if err != nil {
		return nil, &FrameError{err}
	}
	revision := server.Revision(f.Revision)
	if !slices.Contains(AllRevisions(), revision) {
		return nil, &FrameError{fmt.Errorf("%s: unknown revision %q: use one of %v", s.Frame, f.Revision, AllRevisions())}
	}
	c, err := keptCase(f.Params)
	if err != nil {
		return nil, &FrameError{fmt.Errorf("%s: %w", s.Frame, err)}
	}
	s.Revisions, s.Only, s.Skip, s.Frames = []server.Revision{revision}, []string{frameCase}, nil, ""
	return []harness.Case{c}, nil
}

// keptCase returns the case that sends the params.
func keptCase(params json.RawMessage) (harness.Case, error) {
	f, err := malformed.NewFrame(params)
	_, name, _ := strings.Cut(frameCase, "/")
	return chapter.HostileCase(name, func(*server.Session) (json.RawMessage, bool, error) {
		return chapter.Addressed(f.Params, name), f.Tools, nil
	}), err
}

// withGenerated adds the generated cases of traces to the scenarios.
func withGenerated(scenarios check.Catalogue, traces []*trace.Trace) check.Catalogue {
	i := slices.IndexFunc(scenarios, func(s check.Scenario) bool { return s.ID == chapter.MalformedID })
	known := map[string]bool{}
	for _, c := range scenarios[i].Cases {
		known[c.ID] = true
	}
	for _, t := range traces {
		for _, c := range t.Header.Cases {
			if !known[c.ID] && (c.ID == frameCase || strings.HasPrefix(c.ID, fuzzCase)) {
				known[c.ID] = true
				scenarios[i].Cases = append(slices.Clip(scenarios[i].Cases), harness.Case{ID: c.ID})
			}
		}
	}
	return scenarios
}

// seedOf returns the seed and number that generate the frame of a case; false for a case of another kind.
func (s *Suite) seedOf(caseID string) (seed int64, n int, ok bool) {
	_, name, _ := strings.Cut(caseID, "/")
	if _, err := fmt.Sscanf(name, "corpus-%d", &n); err == nil {
		return chapter.CorpusSeed, n - 1, true
	}
	if _, err := fmt.Sscanf(name, "fuzz-%d", &n); err == nil {
		return s.Seed, chapter.CorpusSize + n - 1, true
	}
	return 0, 0, false
}

const (
	// maxKept limits the frames kept for a check in a revision: many frames show the same fault.
	maxKept = 3
	// maxAttempts limits the sessions that shrink a frame, maxHangs those in which the client hangs in real time.
	maxAttempts = 80
	maxHangs    = 10
)

// keepFrames shrinks the frames that broke the client and keeps each in a file, which it names in the results.
func (s *Suite) keepFrames(ctx context.Context, rs *report.Results) error {
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Scenario != chapter.MalformedID || r.Level != report.Robust || r.Verdict != report.Fail {
			continue
		}
		kept := 0
		for _, c := range r.Cases {
			seed, n, ok := s.seedOf(c.Case)
			if !ok || c.Verdict != report.Fail || kept == maxKept || ctx.Err() != nil {
				continue
			}
			kept++
			if err := s.keep(ctx, r, &c, seed, n, kept == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep keeps the frame of one case. The first frame of a result becomes its reproduce command.
func (s *Suite) keep(ctx context.Context, r *report.Result, c *report.CaseResult, seed int64, n int, first bool) error {
	frame := malformed.Generate(r.Revision, seed, n)
	attempts := maxAttempts
	if s.Bubble == nil && strings.Contains(c.Message, "hung") {
		attempts = maxHangs
	}
	var failed error
	breaks := func(params []byte) bool {
		again, err := s.breaks(ctx, r, params)
		if err != nil {
			failed = err
		}
		return again && failed == nil
	}
	note := "shrunk"
	if breaks(frame.Params) {
		frame.Params = malformed.Shrink(frame.Params, attempts, breaks)
	} else {
		note = "not shrunk: it did not break the client again"
	}
	if failed != nil || ctx.Err() != nil {
		return failed
	}
	file := malformed.File{
		Revision: r.Revision, Source: fmt.Sprintf("seed %d, frame %d", seed, n+1), Broken: frame.Broken,
		Check: r.ID(), Message: c.Message, Params: frame.Params,
	}
	_, name, _ := strings.Cut(c.Case, "/")
	path, err := file.Keep(s.Frames, r.Check+"-"+name)
	if err != nil {
		return err
	}
	text := evidence.Clip(fmt.Sprintf("%s (%s): %s", path, note, frame.Params))
	r.Evidence = append(r.Evidence, report.Evidence{Label: "kept", Case: c.Case, Text: text})
	if s.ReproduceFile != nil && first {
		r.Reproduce = s.ReproduceFile(path)
	}
	return nil
}

// breaks reports whether the check fails with only these params.
func (s *Suite) breaks(ctx context.Context, r *report.Result, params json.RawMessage) (bool, error) {
	revision := server.Revision(r.Revision)
	c, err := keptCase(params)
	if err != nil {
		return false, err
	}
	var traces []*trace.Trace
	runner := s.runner(revision, 1)
	if err := runner.Run(ctx, []harness.Case{c}, func(t *trace.Trace) { traces = append(traces, t) }); err != nil {
		return false, err
	}
	again, err := judgeSelected(traces, nil)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(again.Results, func(other report.Result) bool {
		return other.ID() == r.ID() && other.Verdict == report.Fail
	}), nil
}
