package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Schemas by method: of what a server sends, and of what it answers.
var (
	sentSchemas = map[string]schema.Name{
		sampling:                 schema.CreateMessageRequest,
		evidence.MethodCancelled: schema.CancelledNotification,
		evidence.MethodProgress:  schema.ProgressNotification,
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
	ofServer := map[string]bool{}
	l.back.eachToClient(func(m *legMessage, asked string) {
		if wrong := invalid(j.trace.Header.Revision, m, asked); wrong != nil {
			ofServer[kindOfFault(wrong)] = true
		}
	})
	revision := agreed(l.front, j.trace.Header.Revision)
	l.front.eachToClient(func(m *legMessage, asked string) {
		j.compared++
		wrong := invalid(revision, m, asked)
		if wrong == nil || ofServer[kindOfFault(wrong)] {
			return
		}
		text := fmt.Sprintf("%s from the gateway: %s", cmp.Or(m.Method, "a response to "+asked), wrong)
		j.add(&finding{general(wrong.Path), text, []report.Evidence{shownMessage("client received", m, wrong.Path)}})
	})
	for i := range j.trace.Events {
		e := &j.trace.Events[i]
		if f := e.Front; f != nil && f.Type != "" && isMessage(bytes.TrimSpace(f.Raw)) {
			m := &legMessage{Message: trace.ReadMessage(f.Raw), frame: f, ref: e.Ref()}
			text := fmt.Sprintf("expected the type message for an event with a message, found %q: clients skip other types",
				f.Type)
			j.add(&finding{"the type of an event", text, []report.Evidence{shownMessage("client received", m, "")}})
		}
	}
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

// eachToClient calls f with each message to the client. asked is the method that a response answers; "" for others.
func (l *leg) eachToClient(f func(m *legMessage, asked string)) {
	see := func(m *legMessage, asked string) {
		if m != nil && m.frame.Dir == trace.ToClient {
			f(m, asked)
		}
	}
	for _, r := range l.requests {
		see(&r.legMessage, "")
		see(r.response, r.Method)
		see(r.again, r.Method)
	}
	for _, m := range l.notes {
		see(m, "")
	}
}

// invalid returns what is wrong with a message of a server; nil for nothing.
func invalid(revision string, m *legMessage, asked string) *schema.Error {
	has := func(name string) bool { return jsonvalue.Part(m.raw, name) != nil }
	envelope, name := schema.JSONRPCResponse, answerSchemas[asked]
	switch {
	case m.Method != "":
		envelope, name = schema.JSONRPCNotification, sentSchemas[m.Method]
		if has("id") {
			envelope = schema.JSONRPCRequest
		}
	case has("result") && has("error"):
		return &schema.Error{Message: "expected a result or an error, found both"}
	case has("error"):
		envelope, name = schema.JSONRPCError, ""
	default:
		if kind, _ := jsonvalue.TextOf(jsonvalue.Part(m.Result, "resultType")); kind == "input_required" {
			name = schema.InputRequiredResult
		} else if has("result.task") && schema.Has(revision, schema.CreateTaskResult) {
			name = schema.CreateTaskResult
		}
	}
	wrong := faultOf(revision, envelope, m.raw)
	switch {
	case wrong != nil || !schema.Has(revision, name):
		return wrong
	case m.Method != "":
		return faultOf(revision, name, m.raw)
	}
	if wrong = faultOf(revision, name, m.Result); wrong != nil {
		wrong.Path = strings.TrimSuffix("result."+wrong.Path, ".")
	}
	return wrong
}

// faultOf returns a copy: the schema keeps its errors.
func faultOf(revision string, name schema.Name, raw json.RawMessage) *schema.Error {
	var wrong *schema.Error
	if !errors.As(schema.Validate(revision, name, raw), &wrong) { // valid, or the revision lacks the type
		return nil
	}
	fault := *wrong
	return &fault
}

// kindOfFault names a fault without the place in a list.
func kindOfFault(wrong *schema.Error) string { return general(wrong.Path) + ": " + wrong.Message }
