package judge

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// judgeTraces judges the traces of one run by the checks that are wanted; nil wants all.
func Traces(scenarios check.Catalogue, traces []*trace.Trace, wanted func(*check.Scenario, *check.Check) bool) (*report.Results, error) {
	rs := &report.Results{Results: []report.Result{}}
	var revisions []server.Revision
	sessions := map[server.Revision][]*evidence.Session{}
	for i, s := range decodeAll(traces) {
		t := traces[i]
		if !slices.Contains(revisions, s.Revision) {
			revisions = append(revisions, s.Revision)
		}
		sessions[s.Revision] = append(sessions[s.Revision], s)
		rs.Tool, rs.Client, rs.Seed = t.Header.Tool, t.Header.Client, t.Header.Seed
	}
	slices.Sort(revisions)
	for _, revision := range revisions {
		if begun := slices.DeleteFunc(slices.Clone(sessions[revision]), func(s *evidence.Session) bool { return s.GivenUp }); len(begun) > 0 {
			begun = usual(begun)
			rs.Results = append(rs.Results, client.Judge(revision, begun)...)
			if evidence.AllSpokeOtherRevision(begun) {
				speakAnother(sessions[revision], begun[0].Tried)
			}
		}
		for i := range scenarios {
			rs.Results = append(rs.Results, check.JudgeScenario(&scenarios[i], revision, sessions[revision], wanted)...)
		}
	}
	if len(rs.Results) == 0 {
		return nil, errors.New("there is nothing to judge: no trace holds a session")
	}
	client.RequireSomeRevision(rs)
	rs.Count()
	return rs, nil
}

// decodeAll decodes traces side by side: of some that hold the longest requests it takes as long as all else.
func decodeAll(traces []*trace.Trace) []*evidence.Session {
	sessions := make([]*evidence.Session, len(traces))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, t := range traces {
		slots <- struct{}{}
		running.Go(func() {
			sessions[i] = evidence.Decode(t)
			<-slots
		})
	}
	running.Wait()
	return sessions
}

// usual are the sessions in which the server spoke the revision of the run; where there are none, all.
func usual(sessions []*evidence.Session) []*evidence.Session {
	if those := slices.DeleteFunc(slices.Clone(sessions), func(s *evidence.Session) bool { return len(s.Trace.Header.Speaks) > 0 }); len(those) > 0 {
		return those
	}
	return sessions
}

// speakAnother notes of sessions that were given up that their client would have spoken another revision in them, too.
func speakAnother(sessions []*evidence.Session, tried string) {
	for _, s := range sessions {
		if s.GivenUp {
			s.Foreign, s.Tried = true, tried
		}
	}
}
