package tracetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Judged judges the story. It requires that judging is a pure function, also of the trace's file.
func (s *Story) Judged() *report.Results {
	s.Ends(trace.Process{})
	rs, err := judge.Traces(s.catalogue, []*trace.Trace{s.Trace}, nil)
	require.NoError(s.T, err)
	var file bytes.Buffer
	require.NoError(s.T, s.Trace.Write(&file))
	read, err := trace.Read(&file)
	require.NoError(s.T, err)
	again, err := judge.Traces(s.catalogue, []*trace.Trace{read}, nil)
	require.NoError(s.T, err)
	require.Equal(s.T, string(report.JSON(rs)), string(report.JSON(again)),
		"judging must be repeatable, and a file must hold the whole trace")
	return rs
}

// Result returns the result of a check for the story. It fails the test without one.
func (s *Story) Result(id string) *report.Result {
	rs := s.Judged()
	i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == id })
	require.GreaterOrEqual(s.T, i, 0, "%s is not judged in %s", id, s.Revision)
	return &rs.Results[i]
}

// Test is one story and the verdict that a check must give. It runs in each revision and dialect.
type Test struct {
	Name, Check string
	// CaseID is the case that the story is about: with its scenario, or without that of Check.
	CaseID  string
	Steps   func(*Story)
	Verdict report.Verdict
	// Message is the part of the verdict's message that matters: the values.
	Message string
	// Fix is the whole fix; "" for any.
	Fix string
	// Declares are the capabilities that the client declares, "" for all; HarnessDeclares those that the harness asked it
	// to declare.
	Declares, HarnessDeclares string
	// In are the revisions, nil for the newest of both eras; Dialects how the model is asked, nil for openai-chat and
	// native.
	In       []server.Revision
	Dialects []string
}

// Revisions and dialects for [Test]: InA is the newest of the first era, InB the second era.
var (
	InA      = []server.Revision{server.V20251125}
	InB      = []server.Revision{server.V20260728}
	OpenAI   = []string{dialect.OpenAIChat}
	InOld    = []server.Revision{server.V20250326, server.V20250618}
	Native   = []string{dialect.Native}
	BothEras = []server.Revision{server.V20251125, server.V20260728}
)

// Run runs the tests, each as a subtest. A check that fails must show evidence, a cause and a fix.
func Run(t *testing.T, catalogue check.Catalogue, tests []Test) {
	for _, c := range tests {
		revisions, dialects := c.In, c.Dialects
		if revisions == nil {
			revisions = BothEras
		}
		if dialects == nil {
			dialects = []string{dialect.OpenAIChat, dialect.Native}
		}
		caseID := c.CaseID
		if scenario, _, _ := strings.Cut(c.Check, "/"); !strings.Contains(caseID, "/") {
			caseID = scenario + "/" + caseID
		}
		t.Run(c.Check+": "+c.Name, func(t *testing.T) {
			for _, revision := range revisions {
				for _, d := range dialects {
					s := BeginDeclaring(t, catalogue, revision, d, caseID, cmp.Or(c.Declares, Everything))
					s.Trace.Header.Declare = json.RawMessage(c.HarnessDeclares)
					c.Steps(s)
					got := s.Result(c.Check)
					require.Contains(t, got.Message, c.Message, "%s, %s", revision, d)
					require.Equal(t, c.Verdict, got.Verdict, "%s, %s: %s", revision, d, got.Message)
					require.NotNil(t, got.Evidence)
					if got.Verdict == report.Fail || got.Verdict == report.Warn {
						require.NotEmpty(t, got.Evidence, "a failure needs evidence")
						require.NotEmpty(t, got.Cause)
						require.NotEmpty(t, got.Fix)
						require.Equal(t, cmp.Or(c.Fix, got.Fix), got.Fix)
					}
				}
			}
		})
	}
}
