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
		"empty":                        {},
		"empty and whole":              {Whole: true},
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
			var in io.Reader = strings.NewReader(file)
			if len(file) <= 5000 {
				in = iotest.OneByteReader(in)
			}
			again, err := Read(in)
			require.NoError(t, err)
			require.Equal(t, trace, again)
			require.Equal(t, file, write(t, again))
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

func TestAFileIsReadableJSON(t *testing.T) {
	file := write(t, &Trace{
		Header: Header{Revision: "2025-11-25", Declare: json.RawMessage(`{"a":"<"}`)}, Whole: true,
		Events: []Event{{Seq: 1, At: 1500, Case: "a/b", Frame: &Frame{Dir: FromClient, Raw: Bytes(`{"x":"<ü>"}`)}}},
	})
	require.Equal(t, `{"mcpConformTrace":1,"header":{"revision":"2025-11-25","seed":0,"declare":{"a":"<"}}}
{"seq":1,"at":1500,"case":"a/b","frame":{"dir":"from-client","raw":"{\"x\":\"<ü>\"}"}}
{"footer":{"events":1,"whole":true}}
`, file)
}

func TestAnEmptyPayloadIsReadAsNil(t *testing.T) {
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
	const noFooter, foreign = "trace is truncated: the footer is missing ", "trace line 1: not a trace: "
	const onePayload, afterFooter = "trace line 2: expected an event with 1 payload, found ", "trace line 4: unexpected text after the footer"
	const badPayload = `trace line 2: invalid event: expected a payload as a string or {"base64": "…"}: `
	raw := func(json string) string {
		return header + `{"seq":1,"frame":{"dir":"to-client","raw":` + json + `}}` + "\n" + footed
	}
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", noFooter + "(the file is empty)"},
		{"header only", header, noFooter + "(it ends after line 1)"},
		{"no footer", header + mark, noFooter + "(it ends after line 2)"},
		{"cut in the header", header[:30], noFooter + "(it ends in the middle of line 1)"},
		{"cut in the header's first letters", header[:3], noFooter + "(it ends in the middle of line 1)"},
		{"cut in a header with other spacing", `{ "header" : {"see`, noFooter + "(it ends in the middle of line 1)"},
		{"cut before the header's newline", strings.TrimSpace(header), noFooter + "(it ends in the middle of line 1)"},
		{"cut in an event", header + mark[:20], noFooter + "(it ends in the middle of line 2)"},
		{"cut in the footer", header + mark + footed[:20], noFooter + "(it ends in the middle of line 3)"},
		{"cut before the last newline", header + mark + strings.TrimSpace(footed), noFooter + "(it ends in the middle of line 3)"},
		{"not JSON", "hello\n", foreign + "invalid character 'h'"},
		{"not JSON, no newline", "hello", foreign + "invalid character 'h'"},
		{"not text", "\xff\xd8\xff\xe0", "trace line 1: invalid UTF-8"},
		{"other JSON", `{"name":"x"}` + "\n", foreign + `expected {"mcpConformTrace":…,"header":{…}}`},
		{"no header", `{"mcpConformTrace":1}` + "\n", foreign + `expected {"mcpConformTrace":…,"header":{…}}`},
		{"a later version", `{"mcpConformTrace":2,"header":{}}` + "\n" + footed, "trace line 1: format version 2, but this program reads version 1"},
		{"a wrong header", `{"mcpConformTrace":1,"header":{"seed":"x"}}` + "\n", foreign + "json: cannot unmarshal string into Go struct field Header.header.seed"},
		{"too few events", header + footed, "trace line 2: the footer counts 1 events, the file has 0"},
		{"too many events", header + mark + mark + footed, "trace line 4: the footer counts 1 events, the file has 2"},
		{"an event after the footer", header + mark + footed + mark, afterFooter},
		{"a trace after the footer", header + mark + footed + header + mark + footed, afterFooter},
		{"half a line after the footer", header + mark + footed + mark[:3], afterFooter},
		{"an empty line after the footer", header + mark + footed + "\n", afterFooter},
		{"a null footer", header + `{"footer":null}` + "\n", "trace line 2: the footer is null"},
		{"a footer that is a number", header + `{"footer":7}` + "\n", "trace line 2: invalid footer: json: "},
		{"two payloads", header + `{"seq":1,"mark":{"name":"m"},"modelEnd":{"exchange":1}}` + "\n" + footed, onePayload + "2"},
		{"no payload", header + `{"seq":1}` + "\n" + footed, onePayload + "0"},
		{"an unknown payload", header + `{"seq":1,"audio":{}}` + "\n" + footed, onePayload + "0"},
		{"a null event", header + "null\n" + footed, onePayload + "0"},
		{"an empty line", header + "\n" + mark + footed, "trace line 2: invalid event: unexpected end of JSON input"},
		{"two events in a line", header + strings.TrimSpace(mark) + mark + footed, "trace line 2: invalid event: invalid character '{'"},
		{"a damaged event", header + "{\"seq\":1,\"mark\":{\"name\":\"\xff\"}}\n" + footed, "trace line 2: invalid UTF-8"},
		{"a numeric payload", raw("7"), badPayload + "json: cannot unmarshal number"},
		{"an unknown encoding", raw(`{"hex":"00"}`), badPayload + `json: unknown field "hex"`},
		{"an empty object as payload", raw("{}"), badPayload + "base64 is missing"},
		{"a null payload", raw("null"), badPayload + "base64 is missing"},
		{"invalid base64", raw(`{"base64":"?"}`), badPayload + "illegal base64 data at input byte 0"},
	} {
		trace, err := Read(strings.NewReader(test.file))
		require.ErrorContains(t, err, test.want, test.name)
		require.Equal(t, strings.HasPrefix(test.want, noFooter), errors.Is(err, ErrTruncated), test.name)
		require.Nil(t, trace, test.name)
	}
}

func TestAFileCutAnywhereIsTruncated(t *testing.T) {
	file := write(t, full())
	for i := range len(file) {
		_, err := Read(strings.NewReader(file[:i]))
		require.ErrorIs(t, err, ErrTruncated, "cut after %d of %d bytes", i, len(file))
	}
}

func TestAReadErrorIsNotATruncatedFile(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(header+mark), iotest.ErrReader(errors.New("disk on fire")))
	_, err := Read(broken)
	require.EqualError(t, err, "trace line 3: disk on fire")
	require.NotErrorIs(t, err, ErrTruncated)
}

func TestReadAcceptsCRLF(t *testing.T) {
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
		{"no payload", Trace{Events: []Event{one, {Seq: 2}}}, "writing event 2 of the trace: expected 1 payload, found 0"},
		{"two payloads", Trace{Events: []Event{{Mark: &Mark{}, Frame: &Frame{}}}}, "writing event 1 of the trace: expected 1 payload, found 2"},
		{"a declare that is not JSON", Trace{Header: Header{Declare: json.RawMessage("{")}},
			"writing the trace's header: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var file bytes.Buffer
			require.EqualError(t, test.trace.Write(&file), test.want)
			_, err := Read(&file)
			require.ErrorIs(t, err, ErrTruncated, "a partial file is not a trace")
		})
	}
	require.ErrorContains(t, full().Write(&fullDisk{}), "no space")
}

type fullDisk struct{}

func (*fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// FuzzRead checks that whatever Read accepts survives a second file, and that Read refuses every part of it.
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
		if diff := cmp.Diff(trace, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		require.NoError(t, again.Write(&twice))
		require.Equal(t, string(written), twice.String())

		_, err = Read(bytes.NewReader(file[:at%uint(len(file))]))
		require.ErrorIs(t, err, ErrTruncated)
	})
}
