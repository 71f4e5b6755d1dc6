package conformance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A tap that is killed leaves the beginning of a session. Whatever is open there is no fault of the client: no part of
// a session fails a check that the session passes.
func TestTheBeginningOfASessionFailsNothingNew(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../cmd/mcp-conform/testdata/sessions/*.ndjson")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			whole, err := trace.Read(f)
			require.NoError(t, err)
			whole.Header.Tapped = true
			whole.Events = slices.DeleteFunc(whole.Events, func(e trace.Event) bool { return e.Process != nil })
			asTapped := func(id string) string { return "tapped/" + strings.ReplaceAll(id, "/", "-") }
			for i := range whole.Header.Cases {
				c := &whole.Header.Cases[i]
				c.ID, c.Mark = asTapped(c.ID), ""
			}
			for i := range whole.Events {
				if c := &whole.Events[i].Case; *c != "" {
					*c = asTapped(*c)
				}
			}
			failed, passed := judged(t, whole)
			require.Contains(t, passed, "always/model-was-given")
			for n := 1; n < len(whole.Events); n++ {
				part := &trace.Trace{Header: whole.Header, Events: whole.Events[:n:n], Whole: true, Cut: true}
				early, _ := judged(t, part)
				require.Subset(t, failed, early, "after %d of %d events", n, len(whole.Events))
			}
		})
	}
}

func judged(t *testing.T, tr *trace.Trace) (failed, passed []string) {
	rs, err := conformance.Judge(tr)
	require.NoError(t, err)
	failed = []string{}
	for i := range rs.Results {
		switch r := &rs.Results[i]; r.Verdict {
		case report.Fail, report.Warn:
			failed = append(failed, r.ID())
		case report.Pass:
			passed = append(passed, r.ID())
		default:
		}
	}
	return failed, passed
}
