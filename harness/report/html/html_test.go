package html_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/html"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const older, newer, story = "2025-11-25", "2026-07-28", "parallel/two-cities"

const hostile = "</script><script>alert(1)</script><!-- \u2028 \xff"

// run is a run with a pass, a failure with messages, and a known failure.
func run(client string) html.Run {
	step := func(seq int64, from, to string) report.Step {
		return report.Step{Case: story, Seq: seq, From: from, To: to, Text: hostile}
	}
	return html.Run{
		Results: &report.Results{Client: client, Results: []report.Result{
			{Scenario: "client", Check: "connects", Revision: older, Level: report.Must, Verdict: report.Pass, Message: "fine"},
			{Scenario: "parallel", Check: "reach", Revision: older, Level: report.Must, Verdict: report.Fail, Message: hostile,
				Around: []report.Step{step(1, "server", "client"), step(2, "client", "model"), step(4, "model", "client"),
					step(9, "client", "server")}},
			{Scenario: "parallel", Check: "reach", Revision: newer, Level: report.Must, Verdict: report.Fail, Message: "m",
				Known: &report.Known{Reason: "later"}},
		}},
		Traces: []*trace.Trace{{Header: trace.Header{Revision: older}, Events: []trace.Event{
			{Case: story, Seq: 1, Frame: &trace.Frame{Dir: trace.ToClient, Raw: trace.Bytes(`{"id":1}`)}},
			{Case: story, Seq: 2, Request: &trace.ModelRequest{Exchange: 7, Body: trace.Bytes(`{"model":"m"}`)}},
			{Case: story, Seq: 3, Chunk: &trace.ModelChunk{Exchange: 7, Data: trace.Bytes("data: 1\n")}},
			{Case: story, Seq: 4, End: &trace.ModelEnd{Exchange: 7}},
		}}, {Header: trace.Header{Revision: newer}, Events: []trace.Event{
			{Case: story, Seq: 9, Frame: &trace.Frame{Dir: trace.FromClient, Raw: trace.Bytes(`{"id":9}`)}},
		}}},
	}
}

type data struct {
	Title  string
	Pages  string
	Checks []struct{ S, C string }
	Runs   []struct {
		Client string
		Failed bool
	}
	Columns []struct {
		Run             int
		Revision, Cells string
		Messages        []int
	}
	Findings []struct {
		Column, Check int
		Cell, Level   string
		Difference    string
		Around        []struct {
			Says    string
			Message int
		}
	}
	Texts []string
}

var script = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func decode(t *testing.T, page []byte) *data {
	found := script.FindSubmatch(page)
	require.NotNil(t, found)
	var d data
	require.NoError(t, json.Unmarshal(found[1], &d))
	return &d
}

func TestAPageHasEveryResultAndTheMessagesOfItsFindings(t *testing.T) {
	d := decode(t, html.Encode([]html.Run{run("one")}, false))
	require.Equal(t, "one · mcp-conform", d.Title)
	require.Equal(t, "https://github.com/mcp-conform/mcp-conform/blob/main/docs/checks/", d.Pages)
	require.Len(t, d.Columns, 2)
	require.Equal(t, "pf", d.Columns[0].Cells)
	require.Equal(t, ".k", d.Columns[1].Cells)
	require.Equal(t, "fine", d.Texts[d.Columns[0].Messages[0]])
	require.Len(t, d.Findings, 2)
	var messages []string
	for _, s := range d.Findings[0].Around {
		require.Equal(t, strings.ToValidUTF8(hostile, "\ufffd"), s.Says)
		if s.Message < 0 {
			messages = append(messages, "")
		} else {
			messages = append(messages, d.Texts[s.Message])
		}
	}
	require.Equal(t, []string{`{"id":1}`, `{"model":"m"}`, "data: 1\n", ""}, messages,
		"the last one is an event of another revision")
}

// The session's own events have the same numbers in each session.
func TestAStepAtTheFrontOfAGatewayHasItsMessage(t *testing.T) {
	session := func(caseID, text string) *trace.Trace {
		front := &trace.Frame{Dir: trace.ToClient, Raw: trace.Bytes(text)}
		back := &trace.Frame{Dir: trace.FromClient, Raw: trace.Bytes(`{"id":9}`)}
		return &trace.Trace{Header: trace.Header{Revision: "2025-11-25"}, Events: []trace.Event{
			{Seq: 1, Front: front}, {Case: caseID, Seq: 1, Frame: back}}}
	}
	rs := &report.Results{Results: []report.Result{{Scenario: "gateway", Check: "requests", Revision: "2025-11-25",
		Verdict: report.Fail, Around: []report.Step{{Seq: 1, From: "gateway", To: "client", Text: "front"},
			{Case: "gateway/unusual", Seq: 1, From: "gateway", To: "server", Text: "back"}}}}}
	d := decode(t, html.Encode([]html.Run{{Results: rs, Traces: []*trace.Trace{session("basic/question", `{"id":1}`),
		session("gateway/unusual", `{"id":2}`)}}}, false))
	steps := d.Findings[0].Around
	require.Equal(t, `{"id":2}`, d.Texts[steps[0].Message])
	require.Equal(t, `{"id":9}`, d.Texts[steps[1].Message])
}

func TestAMatrixAlignsTheChecksOfItsRuns(t *testing.T) {
	one, two := run("one"), run("two")
	two.Results.Results = append([]report.Result{
		{Scenario: "mrtr", Check: "state", Revision: newer, Level: report.Must, Verdict: report.Warn},
		{Scenario: "client", Check: "sampled", Revision: newer, Level: report.Must, Verdict: report.NotApplicable},
	}, two.Results.Results[1:]...)
	d := decode(t, html.Encode([]html.Run{one, two}, true))
	var ids, cells []string
	for _, c := range d.Checks {
		ids = append(ids, c.S+"/"+c.C)
	}
	for _, c := range d.Columns {
		cells = append(cells, d.Runs[c.Run].Client+" "+c.Revision+" "+c.Cells)
	}
	require.Equal(t, []string{"client/connects", "client/sampled", "parallel/reach", "mrtr/state"}, ids)
	require.Equal(t, []string{"one 2025-11-25 p.f.", "one 2026-07-28 ..k.", "two 2026-07-28 .nkw",
		"two 2025-11-25 ..f."}, cells)
}

func TestAPageLoadsNothing(t *testing.T) {
	page := script.ReplaceAllString(string(html.Encode([]html.Run{run(hostile)}, false)), "")
	require.NotRegexp(t, `(?i)https?://|@import|url\(|\bsrc=|fetch\(|XMLHttpRequest|import\(`, page)
	require.Equal(t, 1, strings.Count(page, "<script>"), "no text of the client is a script")
	require.NotContains(t, page, "alert(1)</script>")
}

func TestEqualRunsGiveEqualPages(t *testing.T) {
	first := html.Encode([]html.Run{run("one"), run("two")}, false)
	for range 5 {
		require.Equal(t, first, html.Encode([]html.Run{run("one"), run("two")}, false))
	}
}

func TestALongMessageIsCut(t *testing.T) {
	long := run("one")
	long.Traces[0].Events[0].Frame.Raw = trace.Bytes(strings.Repeat("é", 1<<20))
	d := decode(t, html.Encode([]html.Run{long}, false))
	text := d.Texts[d.Findings[0].Around[0].Message]
	require.Less(t, len(text), 30_000)
	require.True(t, strings.HasSuffix(text, "é…"))
}

func TestARunWithoutResultsHasAPage(t *testing.T) {
	d := decode(t, html.Encode([]html.Run{{Results: &report.Results{Client: "nobody"}}}, false))
	require.Empty(t, d.Columns)
	require.True(t, d.Runs[0].Failed)
}

func TestEachKindOfDifferenceIsAFinding(t *testing.T) {
	one := run("one")
	failed := &one.Results.Results[1]
	failed.Others = []report.Finding{{Difference: "lost-media", Message: "expected an image, found none",
		Around: failed.Around[:1]}, {Difference: "rounded-number", Verdict: report.Warn}}
	d := decode(t, html.Encode([]html.Run{one}, false))
	require.Len(t, d.Findings, 4)
	require.Equal(t, "lost-media", d.Findings[1].Difference)
	require.Equal(t, []string{"f", "f", "w"}, []string{d.Findings[0].Cell, d.Findings[1].Cell, d.Findings[2].Cell})
	require.Equal(t, d.Findings[0].Check, d.Findings[1].Check)
	require.Equal(t, d.Findings[0].Around[0].Message, d.Findings[1].Around[0].Message)
}

// Colours are not the only difference.
func TestEachVerdictHasASignOfItsOwn(t *testing.T) {
	page := string(html.Encode(nil, false))
	seen := map[string]bool{}
	for _, sign := range regexp.MustCompile(`[a-z]: \["(.)", "[a-z ]+"\]`).FindAllStringSubmatch(page, -1) {
		require.False(t, seen[sign[1]], sign[1])
		seen[sign[1]] = true
	}
	require.Len(t, seen, 9)
}

// The other reports count it with a question mark, too.
func TestWhatWaitsForAnotherCheckIsNotJudged(t *testing.T) {
	one := run("one")
	one.Results.Results[0].Verdict, one.Results.Results[0].Prerequisite = report.NotObserved, "client/other"
	require.Equal(t, "uf", decode(t, html.Encode([]html.Run{one}, false)).Columns[0].Cells)
}
