package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// full is a trace with every field of every payload.
func full() *Trace {
	return &Trace{
		Header: Header{
			Tool: "v1", Client: "node client.js", Revision: "2025-11-25", Seed: -7, Declare: json.RawMessage(`{"sampling":{"x":"<&>"}}`),
			Key: "sk-planted", Timeout: time.Minute, Cases: []Case{{ID: "basic/text", Tool: "t1", Mark: "m1"}, {ID: "basic/two", Tool: "t2"}},
		},
		Events: []Event{
			{Seq: 1, Process: &Process{State: Started, Argv: []string{"node", "client.js"}}},
			{Seq: 1, At: time.Millisecond, Case: "basic/text", Call: 1, Frame: &Frame{
				Dir: FromClient, Raw: Bytes(`{"jsonrpc":"2.0","id":9007199254740993,"x":"a<b>&c"}`),
				HTTP:   &HTTP{Method: "POST", Status: 202, Header: map[string]string{"Accept": "text/event-stream"}},
				Stream: "s1", Session: "abc", Lost: true, Closed: true, Hostile: true,
			}},
			{Seq: 2, Case: "basic/text", Request: &ModelRequest{
				Exchange: 1, Dialect: "openai-chat", Method: "POST", Path: "/v1/chat/completions",
				Header: map[string]string{"Authorization": "Bearer sk-planted"}, Body: Bytes("line\nline\u2028\x00"),
			}},
			{Seq: 3, Case: "basic/text", Chunk: &ModelChunk{Exchange: 1, Data: Bytes("half of a rune: \xe2\x82")}},
			{Seq: 4, Case: "basic/text", End: &ModelEnd{Exchange: 1, Status: 200, Stream: true, HungUp: true, Closed: true, Fault: "f", Miss: "m", Refused: "r"}},
			{Seq: 5, Case: "basic/text", Mark: &Mark{Name: MarkHandlerEnded, Text: "text"}},
			{Seq: 2, At: time.Hour, Process: &Process{
				State: Ended, ExitCode: -1, Signal: "killed", Deadline: true, Interrupted: true, Err: "e", Panic: "p", Leak: "l",
				Stdout: "out", Stderr: "err",
			}},
		},
		Whole: false, Dropped: 3,
	}
}

func write(t testing.TB, trace *Trace) string {
	var file strings.Builder
	require.NoError(t, trace.Write(&file))
	return file.String()
}

func TestATraceSurvivesAFile(t *testing.T) {
	frame := func(raw Bytes) []Event { return []Event{{Seq: 1, Frame: &Frame{Dir: ToClient, Raw: raw}}} }
	for name, trace := range map[string]*Trace{
		"every field":                  full(),
		"nothing":                      {},
		"nothing, and whole":           {Whole: true},
		"no payload":                   {Events: frame(nil)},
		"an empty declare":             {Header: Header{Declare: json.RawMessage(`{}`)}},
		"payloads that are not UTF-8":  {Events: frame(Bytes("\xff\xfe\x00")), Whole: true},
		"half of a surrogate pair":     {Events: frame(Bytes("\xed\xa0\x80")), Whole: true},
		"a replacement character":      {Events: frame(Bytes("\ufffd")), Whole: true},
		"a payload that looks encoded": {Events: frame(Bytes(`{"base64":"aGk="}`)), Whole: true},
		"a payload that looks escaped": {Events: frame(Bytes(`"\u003c\n"`)), Whole: true},
		"every byte":                   {Events: frame(everyByte()), Whole: true},
		"a long line":                  {Events: frame(bytes.Repeat([]byte("\x01"), 1<<20)), Whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, trace)
			again, err := Read(strings.NewReader(file))
			require.NoError(t, err)
			require.Equal(t, trace, again)
			require.Equal(t, file, write(t, again))

			slowly, err := Read(iotest.OneByteReader(strings.NewReader(file[:min(len(file), 5000)])))
			if len(file) <= 5000 {
				require.NoError(t, err)
				require.Equal(t, trace, slowly)
			}
		})
	}
}

func everyByte() Bytes {
	b := make(Bytes, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func TestAFileCanBeReadByPeople(t *testing.T) {
	file := write(t, &Trace{
		Header: Header{Revision: "2025-11-25", Declare: json.RawMessage(`{"a":"<"}`)}, Whole: true,
		Events: []Event{{Seq: 1, At: 1500, Case: "a/b", Frame: &Frame{Dir: FromClient, Raw: Bytes(`{"x":"<ü>"}`)}}},
	})
	require.Equal(t, `{"mcpConformTrace":1,"header":{"revision":"2025-11-25","seed":0,"declare":{"a":"<"}}}
{"seq":1,"at":1500,"case":"a/b","frame":{"dir":"from-client","raw":"{\"x\":\"<ü>\"}"}}
{"footer":{"events":1,"whole":true}}
`, file)
}

func TestThereIsOneWayToHaveNoPayload(t *testing.T) {
	for _, none := range []string{`""`, `{"base64":""}`} {
		trace, err := Read(strings.NewReader(header + `{"seq":1,"frame":{"dir":"to-client","raw":` + none + `}}` + "\n" + footed))
		require.NoError(t, err)
		require.Equal(t, &Frame{Dir: ToClient}, trace.Events[0].Frame)
	}
}

const (
	header = `{"mcpConformTrace":1,"header":{"revision":"2025-11-25","seed":1}}` + "\n"
	mark   = `{"seq":1,"at":0,"mark":{"name":"m"}}` + "\n"
	footed = `{"footer":{"events":1,"whole":true}}` + "\n"
)

func TestReadErrors(t *testing.T) {
	const truncated = "trace is truncated: the footer is missing "
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", truncated + "(the file is empty)"},
		{"header only", header, truncated + "(it ends after line 1)"},
		{"no footer", header + mark, truncated + "(it ends after line 2)"},
		{"cut in the header", header[:30], truncated + "(it ends in the middle of line 1)"},
		{"cut in the header's first letters", header[:3], truncated + "(it ends in the middle of line 1)"},
		{"cut in a header of other spacing", `{ "header" : {"see`, truncated + "(it ends in the middle of line 1)"},
		{"cut before the header's newline", strings.TrimSpace(header), truncated + "(it ends in the middle of line 1)"},
		{"cut in an event", header + mark[:20], truncated + "(it ends in the middle of line 2)"},
		{"cut in the footer", header + mark + footed[:20], truncated + "(it ends in the middle of line 3)"},
		{"cut before the last newline", header + mark + strings.TrimSpace(footed), truncated + "(it ends in the middle of line 3)"},
		{"not JSON", "hello\n", "trace line 1: not a trace: invalid character 'h' looking for beginning of value"},
		{"not JSON, no newline", "hello", "trace line 1: not a trace: invalid character 'h' looking for beginning of value"},
		{"not text", "\xff\xd8\xff\xe0", "trace line 1: not valid UTF-8: the file is damaged, or no trace"},
		{"other JSON", `{"name":"x"}` + "\n", `trace line 1: not a trace: want {"mcpConformTrace":…,"header":{…}}`},
		{"no header", `{"mcpConformTrace":1}` + "\n", `trace line 1: not a trace: want {"mcpConformTrace":…,"header":{…}}`},
		{"a later version", `{"mcpConformTrace":2,"header":{}}` + "\n" + footed, "trace line 1: format version 2, this program reads version 1"},
		{"a wrong header", `{"mcpConformTrace":1,"header":{"seed":"x"}}` + "\n",
			"trace line 1: not a trace: json: cannot unmarshal string into Go struct field Header.header.seed of type int64"},
		{"too few events", header + footed, "trace line 2: the footer counts 1 events, the file has 0: lines were lost or added"},
		{"too many events", header + mark + mark + footed, "trace line 4: the footer counts 1 events, the file has 2: lines were lost or added"},
		{"an event after the footer", header + mark + footed + mark, "trace line 4: there is more after the footer"},
		{"a trace after the footer", header + mark + footed + header + mark + footed, "trace line 4: there is more after the footer"},
		{"half a line after the footer", header + mark + footed + mark[:3], "trace line 4: there is more after the footer"},
		{"an empty line after the footer", header + mark + footed + "\n", "trace line 4: there is more after the footer"},
		{"a footer that is null", header + `{"footer":null}` + "\n", "trace line 2: the footer is null"},
		{"a footer that is no object", header + `{"footer":7}` + "\n",
			"trace line 2: unreadable footer: json: cannot unmarshal number into Go struct field footerLine.footer of type trace.footer"},
		{"two payloads", header + `{"seq":1,"mark":{"name":"m"},"modelEnd":{"exchange":1}}` + "\n" + footed,
			"trace line 2: an event has exactly one payload, this one has 2"},
		{"no payload", header + `{"seq":1}` + "\n" + footed, "trace line 2: an event has exactly one payload, this one has 0"},
		{"an unknown payload", header + `{"seq":1,"audio":{}}` + "\n" + footed, "trace line 2: an event has exactly one payload, this one has 0"},
		{"null for an event", header + "null\n" + footed, "trace line 2: an event has exactly one payload, this one has 0"},
		{"an empty line", header + "\n" + mark + footed, "trace line 2: unreadable event: unexpected end of JSON input"},
		{"two events in a line", header + strings.TrimSpace(mark) + mark + footed, "trace line 2: unreadable event: invalid character '{' after top-level value"},
		{"a damaged event", header + "{\"seq\":1,\"mark\":{\"name\":\"\xff\"}}\n" + footed, "trace line 2: not valid UTF-8: the file is damaged, or no trace"},
		{"a payload of another kind", header + `{"seq":1,"frame":{"dir":"to-client","raw":7}}` + "\n" + footed,
			`trace line 2: unreadable event: payload is neither a string nor {"base64": "…"}: json: cannot unmarshal number into Go value of type trace.base64Bytes`},
		{"a payload of an unknown form", header + `{"seq":1,"frame":{"dir":"to-client","raw":{"hex":"00"}}}` + "\n" + footed,
			`trace line 2: unreadable event: payload is neither a string nor {"base64": "…"}: json: unknown field "hex"`},
		{"a payload of no form", header + `{"seq":1,"frame":{"dir":"to-client","raw":{}}}` + "\n" + footed,
			`trace line 2: unreadable event: payload is neither a string nor {"base64": "…"}`},
		{"a payload that is null", header + `{"seq":1,"frame":{"dir":"to-client","raw":null}}` + "\n" + footed,
			`trace line 2: unreadable event: payload is neither a string nor {"base64": "…"}`},
		{"bad base64", header + `{"seq":1,"frame":{"dir":"to-client","raw":{"base64":"?"}}}` + "\n" + footed,
			`trace line 2: unreadable event: payload is neither a string nor {"base64": "…"}: illegal base64 data at input byte 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			trace, err := Read(strings.NewReader(test.file))
			require.EqualError(t, err, test.want)
			require.Equal(t, strings.HasPrefix(test.want, truncated), errors.Is(err, ErrTruncated))
			require.Nil(t, trace)
		})
	}
}

func TestAFileCutAnywhereIsTruncated(t *testing.T) {
	file := write(t, full())
	for i := range len(file) {
		_, err := Read(strings.NewReader(file[:i]))
		require.ErrorIs(t, err, ErrTruncated, "cut after %d of %d bytes", i, len(file))
	}
}

func TestAFailingReaderIsNoTruncatedFile(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(header+mark), iotest.ErrReader(errors.New("disk on fire")))
	_, err := Read(broken)
	require.EqualError(t, err, "trace line 3: disk on fire")
	require.NotErrorIs(t, err, ErrTruncated)
}

func TestLineEndsOfWindowsAreRead(t *testing.T) {
	trace, err := Read(strings.NewReader(strings.ReplaceAll(header+mark+footed, "\n", "\r\n")))
	require.NoError(t, err)
	require.Len(t, trace.Events, 1)
}

func TestWriteErrors(t *testing.T) {
	one := Event{Mark: &Mark{Name: "m"}}
	for _, test := range []struct {
		name  string
		trace Trace
		want  string
	}{
		{"no payload", Trace{Events: []Event{one, {Seq: 2}}}, "writing event 2 of the trace: it has 0 payloads, want 1"},
		{"two payloads", Trace{Events: []Event{{Mark: &Mark{}, Frame: &Frame{}}}}, "writing event 1 of the trace: it has 2 payloads, want 1"},
		{"a declare that is not JSON", Trace{Header: Header{Declare: json.RawMessage("{")}},
			"writing the trace's header: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var file bytes.Buffer
			require.EqualError(t, test.trace.Write(&file), test.want)
			_, err := Read(&file)
			require.ErrorIs(t, err, ErrTruncated, "what was written must not pass for a trace")
		})
	}
	require.ErrorContains(t, full().Write(&fullDisk{}), "no space")
}

type fullDisk struct{}

func (*fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// FuzzRead holds that whatever Read accepts survives being written and read again, and that no part of it, cut
// anywhere before its end, is accepted.
func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	require.NoError(f, full().Write(&file))
	f.Add(file.Bytes(), uint(100))
	f.Add([]byte(header+mark+footed), uint(70))
	f.Add([]byte(header+mark+strings.TrimSpace(footed)), uint(0))
	f.Add([]byte(header+mark+footed+mark), uint(0))
	f.Add([]byte(`{"mcpConformTrace":1,"header":{"declare": [ "<" ],"cases":[]}}`+"\n"+
		`{"seq":1,"frame":{"raw":"","http":{"header":{}}}}`+"\n"+footed), uint(3))
	f.Add([]byte(header+`{"SEQ":1,"process":{"argv":[]},"process":{"state":"\ud800"}}`+"\n"+footed), uint(3))
	f.Add([]byte(header+`{"seq":1,"modelChunk":{"data":{"base64":""}}}`+"\n"+footed), uint(3))
	f.Add([]byte(header+`{"seq":1,"modelChunk":{"data":{"base64":"aGk="}}}`+"\r\n"+footed), uint(3))
	f.Add([]byte(" "+header+mark+footed), uint(1))
	f.Add([]byte("hello"), uint(0))
	f.Fuzz(func(t *testing.T, file []byte, at uint) {
		trace, err := Read(bytes.NewReader(file))
		if err != nil {
			require.Nil(t, trace)
			return
		}
		var once, twice bytes.Buffer
		require.NoError(t, trace.Write(&once))
		written := bytes.Clone(once.Bytes())
		again, err := Read(&once)
		require.NoError(t, err)
		// No events, no cases and the like may be written in several ways.
		if diff := cmp.Diff(trace, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		require.NoError(t, again.Write(&twice))
		require.Equal(t, string(written), twice.String())

		_, err = Read(bytes.NewReader(file[:at%uint(len(file))]))
		require.ErrorIs(t, err, ErrTruncated)
	})
}
