package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/conversation"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// exploring returns a suite that plays only n conversations.
func exploring(t *testing.T, c harness.Client, n int) conformance.Suite {
	suite := suiteOf(t, c)
	suite.Only, suite.Explore = []string{"explore"}, n
	return suite
}

func TestACorrectClientPassesGeneratedConversations(t *testing.T) {
	n := 6
	if sharedtest.Whole() {
		n = 100
	}
	for _, name := range dialects.APIs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := exploring(t, harness.InProcess(reference.Client(reference.Config{Dialect: name})), n)
			suite.Revisions, suite.Seed = server.AllRevisions(), 3
			rs, traces, err := suite.Run(t.Context())
			require.NoError(t, err)
			for _, r := range rs.Results {
				require.False(t, r.Failed(false), "%s in %s: %s", r.ID(), r.Revision, r.Message)
			}
			ended := 0
			for _, tr := range traces {
				for _, e := range tr.Events {
					if e.Mark != nil && e.Mark.Name == trace.MarkHandlerEnded && e.Mark.Text == "" {
						ended++
					}
					require.False(t, e.End != nil && strings.HasPrefix(e.End.Refused, "no rule"), "%+v", e.End)
				}
			}
			require.Greater(t, ended, 4*n*7/10, "most conversations are played to their end")
		})
	}
}

// What a client does concurrently arrives in any order, so only the numbers of events may differ.
func TestEqualSeedsGiveEqualExplorations(t *testing.T) {
	t.Parallel()
	var reports, files []string
	for _, parallel := range []int{1, 4} {
		suite := exploring(t, mutant("asks-twice"), 10)
		suite.Parallel, suite.Keep = parallel, t.TempDir()
		rs, _, err := suite.Run(t.Context())
		require.NoError(t, err)
		for i := range rs.Results {
			rs.Results[i].DurationMS, rs.Results[i].Evidence, rs.Results[i].Around = 0, nil, nil
		}
		reports = append(reports, string(report.JSON(rs)))
		kept, err := filepath.Glob(filepath.Join(suite.Keep, "*"))
		require.NoError(t, err)
		require.Len(t, kept, 2)
		for _, path := range kept {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			files = append(files, filepath.Base(path)+string(raw))
		}
	}
	require.Equal(t, reports[0], reports[1])
	require.Equal(t, files[:2], files[2:])
}

// Mutants, and the smallest conversations in which their bugs show.
func TestAConversationThatFailsIsShrunkAndKept(t *testing.T) {
	const text = `{"role":"user","content":{"type":"text","text":"a"}}`
	const tools = `"tools":[{"name":"b","inputSchema":{"type":"object","properties":{}}}]`
	const use = `{"type":"tool_use","name":"b","input":{}}`
	for name, c := range map[string]struct{ check, steps string }{
		"first-result-only": {"always/model-was-given", `[[{"params":{"maxTokens":1,"messages":[` + text + `],` + tools +
			`},"answer":{"content":[` + use + `,` + use + `]},"rounds":[{"results":[{"content":[]},{"content":[]}]}]}]]`},
		"drops-is-error": {"always/model-was-given", `[[{"params":{"maxTokens":1,"messages":[` + text + `],` + tools +
			`},"answer":{"content":[` + use + `]},"rounds":[{"results":[{"content":[],"isError":true}]}]}]]`},
		"asks-twice": {"always/one-model-call", `[[{"params":{"maxTokens":1,"messages":[` + text + `]}}]]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := exploring(t, mutant(name), 30)
			suite.Revisions, suite.Keep = []server.Revision{server.V20251125}, t.TempDir()
			suite.ReproduceFile = func(path string) string { return "again with " + path }
			rs, _, err := suite.Run(t.Context())
			require.NoError(t, err)
			r := find(t, rs, c.check)
			require.Equal(t, report.Fail, r.Verdict)
			path := strings.TrimPrefix(r.Reproduce, "again with ")
			kept, err := conversation.Open(path)
			require.NoError(t, err)
			require.Equal(t, c.check, kept.Check)
			require.JSONEq(t, c.steps, string(kept.JSON()), "from %s: %s", kept.Source, kept.Message)
			require.Contains(t, r.Evidence[len(r.Evidence)-1].Text, suite.Keep)
			files, err := filepath.Glob(filepath.Join(suite.Keep, "*"+strings.TrimPrefix(c.check, "always/")+"*.json"))
			require.NoError(t, err)
			require.LessOrEqual(t, len(files), 3)
			before, err := os.ReadFile(path)
			require.NoError(t, err)

			again := suiteOf(t, mutant(name))
			again.Conversation = path
			rs, traces, err := again.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, report.Fail, find(t, rs, c.check).Verdict, "the file alone fails")
			judged, err := conformance.Judge(traces...)
			require.NoError(t, err)
			require.Equal(t, report.Fail, find(t, judged, c.check).Verdict, "its trace can be judged again")
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after, "the file stays as it is")

			correct := suiteOf(t, sound)
			correct.Conversation = path
			rs, _, err = correct.Run(t.Context())
			require.NoError(t, err)
			require.False(t, rs.Failed(false), "a correct client passes it")
		})
	}
}

func TestARunWithoutConversations(t *testing.T) {
	suite := exploring(t, sound, -1)
	_, _, err := suite.Run(t.Context())
	require.ErrorAs(t, err, new(*conformance.SelectionError))
}

// BenchmarkExplore plays and judges conversations with a correct client in process. A thousand take at most five
// seconds on two cores.
func BenchmarkExplore(b *testing.B) {
	const n = 500 // in each of two revisions
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})), Seed: 1, Parallel: 2,
		Only: []string{"explore"}, Explore: n}
	for b.Loop() {
		rs, _, err := suite.Run(b.Context())
		require.NoError(b, err)
		require.False(b, rs.Failed(false))
	}
	b.ReportMetric(float64(2*n*b.N)/b.Elapsed().Seconds(), "conversations/s")
}
