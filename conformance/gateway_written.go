package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// judgeWritten finds lines of the gateway's standard output that are not messages, such as those of its log. What the
// server wrote, the gateway may pass on. The last line may be cut: the session ends there.
func judgeWritten(_ *legs, j *legJudge) {
	ofServer, last := map[string]bool{}, map[string]int{} // the last line of each connection
	for i := range j.trace.Events {
		e := &j.trace.Events[i]
		if f := e.Frame; f != nil && f.Dir == trace.ToClient {
			ofServer[string(bytes.TrimSpace(f.Raw))] = true
		}
		if wroteLine(e.Front) {
			last[e.Front.Session] = i
		}
	}
	for i := range j.trace.Events {
		e := &j.trace.Events[i]
		if !wroteLine(e.Front) {
			continue
		}
		line := bytes.TrimSpace(e.Front.Raw)
		cut := bytes.HasPrefix(line, []byte("{")) && (e.Front.Partial || last[e.Front.Session] == i)
		if len(line) == 0 || cut && !json.Valid(line) {
			continue
		}
		j.compared++
		if !ofServer[string(line)] && !isMessage(line) {
			shown := shownValue(string(line))
			text := "expected only messages on the gateway's standard output, found the line " + shown
			j.add(&finding{"a line of its own", text,
				[]report.Evidence{{Label: "client received", Case: e.Case, Seq: e.Seq, Text: shown}}})
		}
	}
}

// wroteLine reports whether a frame of the front leg is a line of the gateway. One of HTTP has a status or a stream.
func wroteLine(f *trace.Frame) bool {
	return f != nil && f.Dir == trace.ToClient && f.HTTP == nil && f.Stream == ""
}

// isMessage reports whether a text is a message of JSON-RPC, or a batch of them.
func isMessage(text []byte) bool {
	all := messagesIn(text)
	for _, raw := range all {
		version, _ := jsonvalue.TextOf(jsonvalue.Part(raw, "jsonrpc"))
		if version != "2.0" || !json.Valid(raw) {
			return false
		}
	}
	return len(all) > 0
}
