package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// judgeWritten finds lines of the gateway's standard output, and events, that are not messages, such as those of its
// log. What the server wrote, the gateway may pass on. The last line may be cut: the session ends there.
func judgeWritten(_ *legs, j *legJudge) {
	ofServer, last := serversLines(j.trace)
	for i := range j.trace.Events {
		e := &j.trace.Events[i]
		if !wroteLine(e.Front) {
			continue
		}
		line := bytes.TrimSpace(e.Front.Raw)
		atEnd := e.Front.Stream == "" && (e.Front.Partial || last[e.Front.Session] == i)
		if len(line) == 0 || atEnd && line[0] == '{' && !json.Valid(line) {
			continue
		}
		j.compared++
		if ofServer[string(line)] || isMessage(line) {
			continue
		}
		shown := shownValue(string(line))
		text := "expected only messages on the gateway's standard output, found the line " + shown
		if e.Front.Stream != "" {
			text = "expected only messages in the gateway's events, found " + shown
		}
		j.add(&finding{"a line of its own", text,
			[]report.Evidence{{Label: "client received", Case: e.Case, Seq: e.Seq, Text: shown}}})
	}
}

// serversLines returns what the server wrote, and where the last line of each connection to the client is.
func serversLines(t *trace.Trace) (ofServer map[string]bool, last map[string]int) {
	ofServer, last = map[string]bool{}, map[string]int{}
	for i := range t.Events {
		e := &t.Events[i]
		if f := e.Frame; f != nil && f.Dir == trace.ToClient {
			ofServer[string(bytes.TrimSpace(f.Raw))] = true
		}
		if wroteLine(e.Front) {
			last[e.Front.Session] = i
		}
	}
	return ofServer, last
}

// wroteLine reports whether a frame of the front leg is a line of the gateway, or an event for clients. What else HTTP
// carries has a status and no stream.
func wroteLine(f *trace.Frame) bool {
	return f != nil && f.Dir == trace.ToClient && (f.HTTP == nil || f.Stream != "") && f.Type == ""
}

// isMessage reports whether a text is a message of JSON-RPC, or a batch of them.
func isMessage(text []byte) bool {
	all := messagesIn(text)
	for _, raw := range all {
		version, _ := jsonvalue.TextOf(trace.ReadMessage(raw).Version)
		if version != "2.0" {
			return false
		}
	}
	return len(all) > 0
}
