package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Schemas by method: of what a server sends, and of what it answers.
var (
	sentSchemas = map[string]schema.Name{
		sampling:                  schema.CreateMessageRequest,
		"notifications/cancelled": schema.CancelledNotification,
		"notifications/progress":  schema.ProgressNotification,
	}
	answerSchemas = map[string]schema.Name{
		"initialize":      schema.InitializeResult,
		"server/discover": schema.DiscoverResult,
		"tools/list":      schema.ListToolsResult,
		"tools/call":      schema.CallToolResult,
		"prompts/get":     schema.GetPromptResult,
		"resources/read":  schema.ReadResourceResult,
	}
)

// judgeValid finds messages for the client that are invalid, and that the server did not send as invalid.
func judgeValid(l *legs, j *legJudge) {
	if len(j.trace.Header.ServerRevisions) > 0 {
		return // it speaks no revision that is known beforehand
	}
	revision := agreed(l.front, j.trace.Header.Revision)
	ofServer := map[string]bool{}
	eachToClient(j.trace, l.back, func(e *trace.Event) *trace.Frame { return e.Frame },
		func(_ *trace.Event, raw json.RawMessage, asked string) {
			if wrong := invalid(j.trace.Header.Revision, raw, asked); wrong != nil {
				ofServer[kindOfFault(wrong)] = true
			}
		})
	for i := range j.trace.Events {
		e := &j.trace.Events[i]
		if f := e.Front; f != nil && f.Type != "" && isMessage(bytes.TrimSpace(f.Raw)) {
			text := fmt.Sprintf("expected a message in an event of the type message, found the type %q: clients read no other",
				f.Type)
			j.add(&finding{"an event of another type", text, []report.Evidence{{Label: "client received", Case: e.Case,
				Seq: e.Seq, Text: shownValue(jsonvalue.Decode(f.Raw))}}})
		}
	}
	eachToClient(j.trace, l.front, func(e *trace.Event) *trace.Frame { return e.Front },
		func(e *trace.Event, raw json.RawMessage, asked string) {
			j.compared++
			wrong := invalid(revision, raw, asked)
			if wrong == nil || ofServer[kindOfFault(wrong)] {
				return
			}
			what := "a response to " + asked
			if m := trace.ReadMessage(raw); m.Method != "" {
				what = m.Method
			}
			j.add(&finding{general(wrong.Path), fmt.Sprintf("%s from the gateway: %s", what, wrong), []report.Evidence{{
				Label: "client received", Case: e.Case, Seq: e.Seq, Path: wrong.Path, Text: shownValue(jsonvalue.Decode(raw))}}})
		})
}

// agreed is the revision that the client and the gateway agreed on. It need not be that of the run.
func agreed(front *leg, revision string) string {
	for _, r := range front.requests {
		if r.Method == "initialize" && r.response != nil {
			chosen, _ := jsonvalue.TextOf(jsonvalue.Part(r.response.Result, "protocolVersion"))
			if schema.Has(chosen, schema.Tool) {
				return chosen
			}
		}
	}
	return revision
}

// eachToClient calls f with each message to the client on a leg. asked is the method that a response answers; "" if it
// answers nothing.
func eachToClient(t *trace.Trace, l *leg, pick func(*trace.Event) *trace.Frame,
	f func(e *trace.Event, raw json.RawMessage, asked string)) {
	type key struct {
		at int
		id string
	}
	asked := map[key]string{}
	for _, r := range l.requests {
		for _, answer := range []*legMessage{r.response, r.again} {
			if answer != nil {
				asked[key{answer.at, string(answer.ID)}] = r.Method
			}
		}
	}
	for i := range t.Events {
		frame := pick(&t.Events[i])
		if frame == nil || frame.Dir != trace.ToClient || frame.Partial || frame.Lost || frame.Resent ||
			frame.Type != "" {
			continue
		}
		for _, raw := range messagesIn(frame.Raw) {
			m := trace.ReadMessage(raw)
			if method := asked[key{i, string(m.ID)}]; m.Method != "" || method != "" {
				f(&t.Events[i], raw, method)
			}
		}
	}
}

// invalid returns what is wrong with a message of a server; nil for nothing.
func invalid(revision string, raw json.RawMessage, asked string) *schema.Error {
	has := func(name string) bool { return jsonvalue.Part(raw, name) != nil }
	m := trace.ReadMessage(raw)
	envelope, part, name := schema.JSONRPCResponse, raw, schema.Name("")
	switch {
	case m.Method != "":
		envelope, name = schema.JSONRPCNotification, sentSchemas[m.Method]
		if has("id") {
			envelope = schema.JSONRPCRequest
		}
	case has("result") && has("error"):
		return &schema.Error{Message: "expected a result or an error, found both"}
	case has("error"):
		envelope = schema.JSONRPCError
	default:
		part, name = m.Result, answerSchemas[asked]
		if kind, _ := jsonvalue.TextOf(jsonvalue.Part(part, "resultType")); kind == "input_required" {
			name = schema.InputRequiredResult
		} else if jsonvalue.Part(part, "task") != nil && schema.Has(revision, schema.CreateTaskResult) {
			name = schema.CreateTaskResult
		}
	}
	if wrong := faultOf(revision, envelope, raw); wrong != nil || !schema.Has(revision, name) {
		return wrong
	}
	return faultOf(revision, name, part)
}

func faultOf(revision string, name schema.Name, raw json.RawMessage) *schema.Error {
	var wrong *schema.Error
	errors.As(schema.Validate(revision, name, raw), &wrong) // else the schema has no such type
	return wrong
}

// kindOfFault names a fault without the place in a list.
func kindOfFault(wrong *schema.Error) string { return general(wrong.Path) + ": " + wrong.Message }
