package sequence_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/harness/trace/sequence"
)

func played(events ...trace.Event) *trace.Trace {
	header := trace.Header{Revision: "2025-11-25", Client: "c", Cases: []trace.Case{{ID: "basic/question"}}}
	return &trace.Trace{Header: header, Events: events, Whole: true}
}

func frame(d trace.Direction, raw string) trace.Event {
	return trace.Event{Case: "basic/question", Frame: &trace.Frame{Dir: d, Raw: trace.Bytes(raw)}}
}

// show returns the sequence of a trace that was written and read.
func show(t testing.TB, o sequence.Options, tr *trace.Trace) string {
	t.Helper()
	var file, out bytes.Buffer
	for i := range tr.Events {
		tr.Events[i].Seq = int64(i + 1)
	}
	require.NoError(t, tr.Write(&file))
	require.NoError(t, trace.Scan(&file, sequence.New(&out, o).Add))
	return out.String()
}

// A gateway's other side is shown beside the case during which its messages passed.
func TestACaseIsShownWithWhatPassesAtTheFrontOfAGateway(t *testing.T) {
	front := func(name string) trace.Event {
		return trace.Event{Front: &trace.Frame{Dir: trace.FromClient, Raw: fmt.Appendf(nil, `{"method":%q}`, name)}}
	}
	of := func(id string) trace.Event { return trace.Event{Case: id, Mark: &trace.Mark{Name: "in " + id}} }
	text := show(t, sequence.Options{Case: "basic/question"}, played(front("a"), of("basic/other"), front("b"),
		of("basic/question"), trace.Event{Mark: &trace.Mark{Name: "session"}}, front("c"), of("basic/question"), front("d"),
		of("basic/other"), front("e")))
	require.Regexp(t, `(?s)^2025-.*\n\nbasic/question\n.* b\n.*in basic/question\n.* c\n.*in basic/question\n$`, text)
	require.NotRegexp(t, ` [ade]\n|other|session`, text)
	require.Empty(t, show(t, sequence.Options{Case: "basic/missing"}, played(of("basic/question"))),
		"a trace without the case has no line")
}

func TestEachEventHasALine(t *testing.T) {
	for want, e := range map[string]trace.Event{
		"client → server  tools/call 3  {\"name\":\"x\"}": frame(trace.FromClient,
			`{"id":3,"method":"tools/call","params":{"_meta":{"a":1},"name":"x"}}`),
		"server → client  sampling/createMessage \"a\"  \"Hello\"": frame(trace.ToClient,
			`{"id":"a","method":"sampling/createMessage","params":{"messages":[`+
				`{"role":"user","content":{"type":"text","text":"Hello"}}]}}`),
		"client → server  result 7  [{\"type\":\"text\"},{\"type\":\"image\"}]": frame(trace.FromClient,
			`{"id":7,"result":{"content":[{"type":"text"},{"type":"image"}]}}`),
		"server → client  result 3  asks a: sampling/createMessage \"Hello\", asks b: roots/list": frame(trace.ToClient,
			`{"id":3,"result":{"inputRequests":{"b":{"method":"roots/list"},"a":{"method":`+
				`"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}]}}}}}`),
		"client → server  tools/call 4  answers a: \"Hi\", answers b: 7": frame(trace.FromClient,
			`{"id":4,"method":"tools/call","params":{"name":"x","inputResponses":{"b":7,"a":{"content":`+
				`{"type":"text","text":"Hi"}}}}}`),
		"client → server  error 7  {\"code\":-1}": frame(trace.FromClient,
			`{"id":7,"error":{"code":-1}}`),
		"client → server  not a message  \"no\\u0001JSON\"": frame(trace.FromClient, "no\x01JSON"),
		"client → server  ping 1 (lost) (again)": {Frame: &trace.Frame{Dir: trace.FromClient, Lost: true, Resent: true,
			Raw: trace.Bytes(`{"id":1,"method":"ping"}`)}},
		"client → server  GET":               {Frame: &trace.Frame{Dir: trace.FromClient, HTTP: &trace.HTTP{Method: "GET"}}},
		"server → client  HTTP 202":          {Frame: &trace.Frame{Dir: trace.ToClient, HTTP: &trace.HTTP{Status: 202}}},
		"server → client  closed the stream": {Frame: &trace.Frame{Dir: trace.ToClient, Closed: true}},
		"client → model   POST /v1  anthropic \"Hello\"": {Request: &trace.ModelRequest{Method: "POST", Path: "/v1",
			Dialect: "anthropic", Body: trace.Bytes(`{"messages":[{"role":"user","content":"Hello"}]}`)}},
		"model → client   HTTP 200  0 parts, the client hung up": {End: &trace.ModelEnd{Status: 200, Stream: true,
			HungUp: true}},
		"model → client   HTTP 400  no tools": {End: &trace.ModelEnd{Status: 400, Refused: "no tools"}},
		"client           started  node c.js": {Process: &trace.Process{State: trace.Started,
			Argv: []string{"node", "c.js"}}},
		"client           ended  with status 3": {Process: &trace.Process{State: trace.Ended,
			ExitCode: 3}},
		"client           ended  panic: nil map": {Process: &trace.Process{State: trace.Ended,
			Panic: "nil map"}},
		"client           ended  by the signal KILL": {Process: &trace.Process{State: trace.Ended,
			Signal: "KILL"}},
		"client           ended  by the harness: its time was up": {Process: &trace.Process{State: trace.Ended,
			Deadline: true}},
		"harness          outcome  done": {Mark: &trace.Mark{Name: "outcome", Text: "done"}},
	} {
		t.Run(want, func(t *testing.T) {
			require.Contains(t, show(t, sequence.Options{}, played(e)), "#1   "+want+"\n")
		})
	}
}

func TestPartsOfAnAnswerAreShownWithTheBodies(t *testing.T) {
	answer := played(trace.Event{Chunk: &trace.ModelChunk{Exchange: 1, Data: trace.Bytes("data: 1")}},
		trace.Event{End: &trace.ModelEnd{Exchange: 1, Status: 200, Stream: true}})
	require.Contains(t, show(t, sequence.Options{}, answer), "HTTP 200  1 part")
	require.NotContains(t, show(t, sequence.Options{}, answer), "data: 1")
	require.Contains(t, show(t, sequence.Options{Bodies: true}, answer), `part  "data: 1"`)
}

func TestABodyIsIndentedAndCut(t *testing.T) {
	long := frame(trace.FromClient, fmt.Sprintf(`{"id":1,"result":{"a":"%s"}}`, strings.Repeat("x", 9000)))
	text := show(t, sequence.Options{Bodies: true}, played(long))
	require.Contains(t, text, "\n                 \"id\": 1,\n")
	require.Contains(t, text, "… (9026 bytes)\n")
	require.Less(t, len(text), 5000)
}

func TestOneCaseIsShownWithItsMarks(t *testing.T) {
	two := played(frame(trace.FromClient, `{"id":1,"result":{}}`),
		trace.Event{Case: "basic/other", Mark: &trace.Mark{Name: "m"}})
	text := show(t, sequence.Options{Case: "basic/question",
		Marked: map[trace.Ref]bool{{Case: "basic/question", Seq: 1}: true}}, two)
	require.Contains(t, text, "\n>   0.000 s  #1   client → server  result 1  {}\n")
	require.NotContains(t, text, "basic/other")
}

// A thousand events take a thousandth of what they may: 10,000 a second.
func BenchmarkSequence(b *testing.B) {
	var events []trace.Event
	for range 1000 {
		events = append(events, frame(trace.ToClient, `{"id":1,"method":"sampling/createMessage","params":{}}`))
	}
	tr := played(events...)
	for b.Loop() {
		show(b, sequence.Options{}, tr)
	}
}

// An answer to a request of the server, and how it is shown.
func ExampleWriter() {
	at := func(e trace.Event, seq int64, d time.Duration) trace.Event {
		e.Seq, e.At = seq, d
		return e
	}
	var file bytes.Buffer
	if err := played(
		at(frame(trace.ToClient, `{"id":9,"method":"sampling/createMessage","params":{"messages":[{"role":"user",`+
			`"content":{"type":"text","text":"Is it warm?"}}]}}`), 1, 0),
		at(frame(trace.FromClient, `{"id":9,"result":{"role":"assistant","content":{"type":"text","text":"Yes."}}}`), 2,
			time.Millisecond),
	).Write(&file); err != nil {
		panic(err)
	}
	if err := trace.Scan(&file, sequence.New(os.Stdout, sequence.Options{}).Add); err != nil {
		panic(err)
	}
	// Output:
	// 2025-11-25 · c · 1 case · seed 0
	//
	// basic/question
	//     0.000 s  #1   server → client  sampling/createMessage 9  "Is it warm?"
	//     0.001 s  #2   client → server  result 9 of sampling/createMessage  "Yes."
}
