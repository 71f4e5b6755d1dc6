package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// twoLegs are the messages on both legs of a session, in order.
type twoLegs []trace.Event

func (l *twoLegs) add(front bool, dir trace.Direction, format string, words ...any) {
	f := &trace.Frame{Dir: dir, Raw: fmt.Appendf(nil, format, words...)}
	if front {
		*l = append(*l, trace.Event{Front: f})
	} else {
		*l = append(*l, trace.Event{Frame: f, Case: "basic/question"})
	}
}

func (l *twoLegs) judged() []report.Result {
	played := &trace.Trace{Header: trace.Header{Revision: "2025-11-25"}, Events: *l, Whole: true}
	only := oneResult(report.Pass, report.Must)
	return conformance.JudgeGateway(only, only, []*trace.Trace{played}).Results
}

// Two equal requests that overtake each other are no mistake.
func TestEqualRequestsMayOvertakeEachOther(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"model":"%s"}}`
	var both twoLegs
	both.add(false, trace.ToClient, request, "1")
	both.add(false, trace.ToClient, request, "2")
	both.add(true, trace.ToClient, request, `"b"`) // it was request 2
	both.add(true, trace.ToClient, request, `"a"`)
	both.add(true, trace.FromClient, response, `"a"`, "first")
	both.add(false, trace.FromClient, response, "1", "first")
	both.add(true, trace.FromClient, response, `"b"`, "second")
	both.add(false, trace.FromClient, response, "2", "second")
	for _, r := range both.judged() {
		require.NotEqual(t, report.Fail, r.Verdict, r.Message)
	}
}

func TestChangedCallsMayOvertakeEachOther(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"x","arguments":{"n":%s}%s}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]%s}}`
	var both twoLegs
	both.add(true, trace.FromClient, call, "1", "0", `,"x-kept":1`)
	both.add(true, trace.FromClient, call, "2", "1", `,"x-kept":1`)
	both.add(false, trace.FromClient, call, `"b"`, "1", "") // it was call 2
	both.add(false, trace.FromClient, call, `"a"`, "0", "")
	both.add(false, trace.ToClient, response, `"b"`, "second", `,"x-kept":1`)
	both.add(true, trace.ToClient, response, "2", "second", "")
	both.add(false, trace.ToClient, response, `"a"`, "first", `,"x-kept":1`)
	both.add(true, trace.ToClient, response, "1", "first", "")
	for _, r := range both.judged() {
		if r.Check == "calls" {
			require.Equal(t, report.Fail, r.Verdict)
			require.Contains(t, r.Message, "x-kept")
			require.NotContains(t, r.Message, "arguments")
			require.NotContains(t, r.Message, "text")
		}
	}
}

// A gateway may have a client of its own for each call, and each counts its ids from 1.
func TestCallsAtOnceMayHaveOneID(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"x","arguments":{"n":%s}}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`
	for _, c := range []struct {
		ids, answered [2]string // on the back leg, in this order
		want          report.Verdict
	}{
		{[2]string{"1", "1"}, [2]string{"first", "second"}, report.Pass},
		{[2]string{"1", "1"}, [2]string{"second", "first"}, report.Pass},
		{[2]string{"1", "1"}, [2]string{"second", "second"}, report.Fail},
		{[2]string{"1", "1"}, [2]string{"first", "SECOND"}, report.Fail},
		{[2]string{"1", "1"}, [2]string{"SECOND", "first"}, report.Fail},
		{[2]string{"1", "2"}, [2]string{"first", "second"}, report.Pass},
		{[2]string{"1", "2"}, [2]string{"second", "first"}, report.Fail},
	} {
		var both twoLegs
		both.add(true, trace.FromClient, call, "1", "0")
		both.add(true, trace.FromClient, call, "2", "1")
		both.add(false, trace.FromClient, call, c.ids[0], "0")
		both.add(false, trace.FromClient, call, c.ids[1], "1")
		both.add(false, trace.ToClient, response, c.ids[0], c.answered[0])
		both.add(false, trace.ToClient, response, c.ids[1], c.answered[1])
		both.add(true, trace.ToClient, response, "1", "first")
		both.add(true, trace.ToClient, response, "2", "second")
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/calls" })
		require.Equal(t, c.want, results[i].Verdict, "%v: %s", c.answered, results[i].Message)
		if slices.Contains(c.answered[:], "SECOND") {
			require.Contains(t, results[i].Message, `expected result.content[0].text "SECOND"`)
			require.Contains(t, results[i].Message, `found "second"`)
		}
	}
}

// A gateway that gives each call the result of the one before fails for the first one, under whatever ids.
func TestAnIDMayComeAgainAfterTheResponse(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s"}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`
	var both twoLegs
	before := "nothing"
	for i, tool := range []string{"first", "second"} {
		id := fmt.Sprint(i + 1)
		both.add(true, trace.FromClient, call, id, tool)
		both.add(false, trace.FromClient, call, "1", tool)
		both.add(false, trace.ToClient, response, "1", "by "+tool)
		both.add(true, trace.ToClient, response, id, before)
		before = "by " + tool
	}
	results := both.judged()
	i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/calls" })
	require.Contains(t, results[i].Message, `the response to tools/call first: expected result.content[0].text "by first"`)
}

// A cancel and the response to its request may cross: what the gateway has first counts.
func TestACancelMayCrossTheResponse(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"model":"m"}}`
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
	for _, c := range []struct {
		crosses bool
		passed  string // the id of the cancel that the client gets; "" for no cancel
		want    report.Verdict
	}{{true, "", report.NotApplicable}, {true, "1", report.NotApplicable}, {true, `"a"`, report.Pass},
		{false, "", report.Fail}, {false, "1", report.Fail}, {false, `"a"`, report.Pass}} {
		var both twoLegs
		both.add(false, trace.ToClient, request, "1")
		both.add(true, trace.ToClient, request, `"a"`)
		both.add(false, trace.ToClient, cancel, "1")
		if c.crosses {
			both.add(true, trace.FromClient, response, `"a"`)
			both.add(false, trace.FromClient, response, "1")
		}
		if c.passed != "" {
			both.add(true, trace.ToClient, cancel, c.passed)
		}
		both.add(false, trace.ToClient, request, "2")
		both.add(true, trace.ToClient, request, `"b"`)
		if !c.crosses {
			both.add(true, trace.FromClient, response, `"a"`)
		}
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/cancels" })
		require.Equal(t, c.want, results[i].Verdict, "%+v: %s", c, results[i].Message)
	}
}

// A gateway may start its tokens anew with each call: a notification is of the latest one.
func TestATokenMayComeAgainWithALaterCall(t *testing.T) {
	var both twoLegs
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call",` +
		`"params":{"name":"x","arguments":{"n":%d},"_meta":{"progressToken":%d}}}`
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d}}`
	const result = `{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`
	for n := 1; n <= 2; n++ {
		both.add(true, trace.FromClient, call, n+10, n, n+20)
		both.add(false, trace.FromClient, call, 1, n, 1)
		both.add(false, trace.ToClient, progress, 1, n)
		both.add(true, trace.ToClient, progress, n+20, n)
		both.add(false, trace.ToClient, result, 1)
		both.add(true, trace.ToClient, result, n+10)
	}
	results := both.judged()
	i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/progress" })
	require.Equal(t, report.Pass, results[i].Verdict, results[i].Message)
	require.Contains(t, results[i].Message, "2 compared")
}

// The steps are progress and the response, of the server in capitals and then as they reach the client. H is progress
// that is not to be judged, g is p on another stream, and q has a token of another call.
func TestWhatTheClientGetsLateOrTwiceIsNamed(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":%d}}}`
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}`
	const result = `{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`
	for _, c := range []struct{ steps, progress, delivered string }{
		{"PpRr", "", ""},
		{"PRpr", "", ""},
		{"PpPpRr", "", ""},
		{"RrPp", "", ""},
		{"PpRRrr", "", ""},
		{"PpHpRr", "", ""},
		{"PRrg", "", ""},
		{"PPpRpr", "", ""},
		{"Prp", "", ""},
		{"PPpRr", "", ""},
		{"PqpRr", "", ""},
		{"PpR", "", ""},
		{"PppRr", "expected the progress of the token 21 once, found it twice", ""},
		{"PRrp", "expected the progress of request 1 before its response, found it after it on the way down", ""},
		{"PpRrr", "", "expected one response to tools/call x, whose id is 11, found two"},
	} {
		var both twoLegs
		both.add(true, trace.FromClient, call, 11, 21)
		both.add(false, trace.FromClient, call, 1, 2)
		for _, step := range c.steps {
			switch step {
			case 'P', 'H':
				both.add(false, trace.ToClient, progress, 2)
				both[len(both)-1].Frame.Hostile = step == 'H'
			case 'p':
				both.add(true, trace.ToClient, progress, 21)
			case 'q':
				both.add(true, trace.ToClient, progress, 22)
			case 'g':
				both.add(true, trace.ToClient, progress, 21)
				both[len(both)-1].Front.Stream = "get-1"
			case 'R':
				both.add(false, trace.ToClient, result, 1)
			case 'r':
				both.add(true, trace.ToClient, result, 11)
			}
		}
		for _, r := range both.judged() {
			want, judged := map[string]string{"gateway/progress": c.progress, "gateway/delivered-once": c.delivered}[r.ID()]
			if judged && want != "" {
				require.Equal(t, report.Fail, r.Verdict, c.steps)
				require.Contains(t, r.Message, want, c.steps)
			} else if judged {
				require.NotEqual(t, report.Fail, r.Verdict, "%s: %s", c.steps, r.Message)
			}
		}
	}
}

// Over stdio, the gateway orders what passes to the server; over HTTP, two POSTs may overtake each other.
func TestTheProgressOfASampleMayBeLateOverHTTP(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage",` +
		`"params":{"maxTokens":1,"messages":[],"_meta":{"progressToken":7}}}`
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`
	const response = `{"jsonrpc":"2.0","id":%s,"result":{"model":"m"}}`
	for _, c := range []struct {
		http *trace.HTTP
		want report.Verdict
	}{{nil, report.Fail}, {&trace.HTTP{}, report.Pass}} {
		var both twoLegs
		both.add(false, trace.ToClient, request, "1")
		both.add(true, trace.ToClient, request, `"a"`)
		both.add(true, trace.FromClient, progress)
		both.add(true, trace.FromClient, response, `"a"`)
		both.add(false, trace.FromClient, response, "1")
		both.add(false, trace.FromClient, progress)
		both[len(both)-1].Frame.HTTP = c.http
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/progress" })
		require.Equal(t, c.want, results[i].Verdict, "%+v: %s", c, results[i].Message)
	}
}

// In a modern revision, a gateway from stdio to HTTP closes the stream of a call that its client cancels.
func TestACancelOverHTTPIsNoMessage(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"basic-question"}}`
	for _, c := range []struct {
		revision string
		http     *trace.HTTP // of the call at the server; nil over stdio
		lost     bool
	}{{"2026-07-28", &trace.HTTP{}, false}, {"2026-07-28", nil, true}, {"2025-11-25", &trace.HTTP{}, true}} {
		frame := func(format string, words ...any) *trace.Frame {
			return &trace.Frame{Dir: trace.FromClient, Raw: fmt.Appendf(nil, format, words...)}
		}
		first, later := frame(call, "b"), frame(call, "d")
		first.HTTP, later.HTTP = c.http, c.http
		cancel := frame(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
		played := &trace.Trace{Header: trace.Header{Revision: c.revision}, Whole: true}
		played.Events = []trace.Event{{Front: frame(call, "a")}, {Frame: first, Case: "basic/question"}, {Front: cancel},
			{Front: frame(call, "c")}, {Frame: later, Case: "basic/question"}}
		results := oneResult(report.Pass, report.Must)
		results.Results[0].Revision = c.revision
		failed := slices.ContainsFunc(conformance.JudgeGateway(results, results, []*trace.Trace{played}).Results,
			func(r report.Result) bool { return r.Verdict == report.Fail && r.Check == "cancels" })
		require.Equal(t, c.lost, failed, "%+v", c)
	}
}
