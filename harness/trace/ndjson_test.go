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

// full is a trace with every kind of payload.
func full() *Trace {
	return &Trace{
		Header: Header{
			Tool: "v1", Client: "node c.js", Revision: "2025-11-25", Seed: -7, Key: "sk-planted", Timeout: time.Minute,
			Declare: json.RawMessage(`{"sampling":{"x":"<&>"}}`),
			Cases:   []Case{{ID: "basic/text", Tool: "t1", Mark: "m1"}, {ID: "basic/two", Tool: "t2"}},
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
			{Seq: 4, Case: "basic/text", End: &ModelEnd{
				Exchange: 1, Status: 200, Stream: true, HungUp: true, Closed: true, Fault: "f", Unmatched: "m",
				Refused: "r", RefusedFor: RefusedForMedia}},
			{Seq: 5, Case: "basic/text", Mark: &Mark{Name: MarkHandlerEnded, Text: "text"}},
			{Seq: 2, At: time.Hour, Process: &Process{
				State: Ended, ExitCode: -1, Signal: "killed", Deadline: true, Interrupted: true, Err: "e",
				Panic: "p", Leak: "l", Stdout: "out", Stderr: "err",
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
	frame := func(raw Bytes) *Trace {
		return &Trace{Events: []Event{{Seq: 1, Frame: &Frame{Dir: ToClient, Raw: raw}}}, Whole: true}
	}
	everyByte := make(Bytes, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	for name, trace := range map[string]*Trace{
		"every payload":                full(),
		"empty":                        {},
		"empty and whole":              {Whole: true},
		"written while it is recorded": {Whole: true, Cut: true},
		"an empty declare":             {Header: Header{Declare: json.RawMessage(`{}`)}},
		"no bytes":                     frame(nil),
		"invalid UTF-8":                frame(Bytes("\xff\xfe\x00")),
		"half of a surrogate pair":     frame(Bytes("\xed\xa0\x80")),
		"a replacement character":      frame(Bytes("\ufffd")),
		"a payload that looks encoded": frame(Bytes(`{"base64":"aGk="}`)),
		"a payload that looks escaped": frame(Bytes(`"\u003c\n"`)),
		"every byte":                   frame(everyByte),
		"a long line":                  frame(bytes.Repeat([]byte("\x01"), 1<<20)),
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

const (
	header = `{"mcpConformTrace":1,"header":{"revision":"2025-11-25","seed":1}}` + "\n"
	mark   = `{"seq":1,"at":0,"mark":{"name":"m"}}` + "\n"
	footed = `{"footer":{"events":1,"whole":true}}` + "\n"
)

// withRaw is a file with a frame whose payload is the JSON.
func withRaw(json string) string {
	return header + `{"seq":1,"frame":{"dir":"to-client","raw":` + json + `}}` + "\n" + footed
}

func TestAnEmptyPayloadIsReadAsNil(t *testing.T) {
	for _, empty := range []string{`""`, `{"base64":""}`} {
		trace, err := Read(strings.NewReader(withRaw(empty)))
		require.NoError(t, err)
		require.Equal(t, &Frame{Dir: ToClient}, trace.Events[0].Frame)
	}
}

func TestReadErrors(t *testing.T) {
	const noFooter, cutIn = "trace is truncated: the footer is missing ", "(it ends in the middle of line "
	const foreign, onePayload = "line 1: not a trace: ", "line 2: expected an event with 1 payload, found "
	const afterFooter = "line 4: unexpected text after the footer"
	const badPayload = `line 2: invalid event: expected a payload as a string or {"base64": "…"}: `
	for _, test := range []struct{ file, want string }{
		{"", noFooter + "(the file is empty)"},
		{header, noFooter + "(it ends after line 1)"},
		{header + mark, noFooter + "(it ends after line 2)"},
		{header[:30], noFooter + cutIn + "1)"},
		{header[:3], noFooter + cutIn + "1)"},
		{`{ "header" : {"see`, noFooter + cutIn + "1)"},
		{strings.TrimSpace(header), noFooter + cutIn + "1)"},
		{header + mark[:20], noFooter + cutIn + "2)"},
		{header + mark + footed[:20], noFooter + cutIn + "3)"},
		{header + mark + strings.TrimSpace(footed), noFooter + cutIn + "3)"},
		{"hello\n", foreign + "invalid character 'h'"},
		{"hello", foreign + "invalid character 'h'"},
		{"\xff\xd8\xff\xe0", "line 1: invalid UTF-8"},
		{`{"name":"x"}` + "\n", foreign + `expected {"mcpConformTrace":…,"header":{…}}`},
		{`{"mcpConformTrace":1}` + "\n", foreign + `expected {"mcpConformTrace":…,"header":{…}}`},
		{`{"mcpConformTrace":2,"header":{}}` + "\n" + footed, "line 1: format version 2, but this program"},
		{`{"mcpConformTrace":1,"header":{"seed":"x"}}` + "\n", foreign +
			"header.seed: expected a whole number, found a string"},
		{header + footed, "line 2: the footer counts 1 events, the file has 0"},
		{header + mark + mark + footed, "line 4: the footer counts 1 events, the file has 2"},
		{header + mark + footed + mark, afterFooter},
		{header + mark + footed + header + mark + footed, afterFooter},
		{header + mark + footed + mark[:3], afterFooter},
		{header + mark + footed + "\n", afterFooter},
		{header + `{"footer":null}` + "\n", "line 2: the footer is null"},
		{header + `{"footer":7}` + "\n", "line 2: invalid footer: footer: expected an object, found a number"},
		{header + `{"seq":1,"mark":{"name":"m"},"modelEnd":{"exchange":1}}` + "\n" + footed, onePayload + "2"},
		{header + `{"seq":1}` + "\n" + footed, onePayload + "0"},
		{header + `{"seq":1,"audio":{}}` + "\n" + footed, onePayload + "0"},
		{header + "null\n" + footed, onePayload + "0"},
		{header + "\n" + mark + footed, "line 2: invalid event: unexpected end of JSON input"},
		{header + strings.TrimSpace(mark) + mark + footed, "line 2: invalid event: invalid character '{'"},
		{header + "{\"seq\":1,\"mark\":{\"name\":\"\xff\"}}\n" + footed, "line 2: invalid UTF-8"},
		{withRaw("7"), badPayload + "expected an object, found a number"},
		{withRaw(`{"hex":"00"}`), badPayload + `unknown member "hex"`},
		{withRaw("{}"), badPayload + "base64 is missing"},
		{withRaw("null"), badPayload + "base64 is missing"},
		{withRaw(`{"base64":"?"}`), badPayload + "illegal base64 data at input byte 0"},
	} {
		trace, err := Read(strings.NewReader(test.file))
		require.ErrorContains(t, err, test.want, test.file)
		require.Equal(t, strings.HasPrefix(test.want, noFooter), errors.Is(err, ErrTruncated), test.file)
		require.Nil(t, trace, test.file)
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
	for want, trace := range map[string]Trace{
		"event 2 of the trace: expected 1 payload, found 0": {Events: []Event{{Mark: &Mark{Name: "m"}}, {Seq: 2}}},
		"event 1 of the trace: expected 1 payload, found 2": {Events: []Event{{Mark: &Mark{}, Frame: &Frame{}}}},
		"the trace's header: json: error":                   {Header: Header{Declare: json.RawMessage("{")}},
	} {
		var file bytes.Buffer
		require.ErrorContains(t, trace.Write(&file), "writing "+want)
		_, err := Read(&file)
		require.ErrorIs(t, err, ErrTruncated, "a partial file is not a trace")
	}
	require.ErrorContains(t, full().Write(fullDisk{}), "no space")
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// FuzzRead checks that whatever Read accepts survives a second file, and that Read refuses every part of it.
func FuzzRead(f *testing.F) {
	for _, seed := range []struct {
		file string
		at   uint
	}{
		{write(f, full()), 100}, {header + mark + footed, 70}, {header + mark + strings.TrimSpace(footed), 0},
		{header + mark + footed + mark, 0}, {" " + header + mark + footed, 1}, {"hello", 0},
		{`{"mcpConformTrace":1,"header":{"declare": [ "<" ],"cases":[]}}` + "\n" +
			`{"seq":1,"frame":{"raw":"","http":{"header":{}}}}` + "\n" + footed, 3},
		{header + `{"SEQ":1,"process":{"argv":[]},"process":{"state":"\ud800"}}` + "\n" + footed, 3},
		{withRaw(`{"base64":""}`), 3}, {strings.ReplaceAll(withRaw(`{"base64":"aGk="}`), "\n", "\r\n"), 3},
	} {
		f.Add([]byte(seed.file), seed.at)
	}
	f.Fuzz(func(t *testing.T, file []byte, at uint) {
		trace, err := Read(bytes.NewReader(file))
		if err != nil {
			require.Nil(t, trace)
			return
		}
		once := write(t, trace)
		again, err := Read(strings.NewReader(once))
		require.NoError(t, err)
		if diff := cmp.Diff(trace, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		require.Equal(t, once, write(t, again))
		_, err = Read(bytes.NewReader(file[:at%uint(len(file))]))
		require.ErrorIs(t, err, ErrTruncated)
	})
}
