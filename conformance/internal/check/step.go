package check

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The parties on the wires.
const (
	theServer  = "server"
	theGateway = "gateway"
	theClient  = "client"
	theModel   = "model"
)

func worthALine(e *trace.Event) bool {
	switch {
	case e.Process != nil:
		return e.Process.State == trace.Ended
	case e.Mark != nil:
		return describeMark(e.Mark) != ""
	}
	return e.Frame != nil || e.Front != nil || e.Request != nil || e.End != nil
}

// describe describes an event in a few words.
func describe(s *evidence.Session, e *trace.Event) report.Step {
	step := report.Step{Case: e.Case, Seq: e.Seq}
	switch {
	case e.Front != nil:
		step.From, step.To = directed(e.Front, theClient, theGateway)
		step.Text = DescribeFrame(e.Front)
	case e.Frame != nil:
		client := theClient
		if s.Trace.HasFront() {
			client = theGateway
		}
		step.From, step.To = directed(e.Frame, client, theServer)
		step.Text = DescribeFrame(e.Frame)
		if e.Frame.Dir == trace.FromClient && s.Order[e.Ref()] > s.Stopped {
			step.Text += ", because the harness ended the client"
		}
	case e.Request != nil:
		step.From, step.To, step.Text = theClient, theModel, e.Request.Method+" "+e.Request.Path
	case e.End != nil:
		step.From, step.To, step.Text = theModel, theClient, describeEnd(e.End)
		if s.Order[e.Ref()] > s.Stopped {
			step.Text = "nothing more: the harness ended the client"
		}
	case e.Process != nil && e.Process.State == trace.Ended:
		step.From, step.Text = theClient, s.Ending().Text
	case e.Mark != nil:
		step.From, step.Text = theServer, describeMark(e.Mark)
		if e.Mark.Name == trace.MarkOutcome {
			step.From = theClient
		}
	}
	return step
}

func directed(f *trace.Frame, client, server string) (from, to string) {
	if f.Dir == trace.FromClient {
		return client, server
	}
	return server, client
}

// describeMark describes a mark; "" for one that is not worth a line.
func describeMark(m *trace.Mark) string {
	switch m.Name {
	case trace.MarkOutcome:
		return "reports on its call: " + m.Text
	case trace.MarkBatch:
		return m.Text
	case trace.MarkStderr:
		return "writes to standard error: " + m.Text
	case trace.MarkWithheld:
		return "sends no sampling request: the client does not declare " + m.Text
	}
	return ""
}

// DescribeFrame describes a frame in a line.
func DescribeFrame(f *trace.Frame) string {
	what := describeMessage(f)
	if f.Closed || f.Raw.IsZero() {
		what = describeWithoutMessage(f)
	}
	if f.HTTP != nil && f.HTTP.Status >= 400 && !f.Raw.IsZero() {
		what = fmt.Sprintf("HTTP %d, %s", f.HTTP.Status, what)
	}
	if f.Lost {
		what += " (the stream was gone)"
	}
	return oneLine(what)
}

// describeWithoutMessage describes the end of a stream, or an HTTP request, status or event without a message.
func describeWithoutMessage(f *trace.Frame) string {
	switch {
	case f.Closed && f.Event != "":
		return fmt.Sprintf("closes the connection after event %s, to be resumed after %s", f.Event, f.Retry)
	case f.Closed:
		return "ends the stream"
	case f.HTTP != nil && f.HTTP.Header["Last-Event-Id"] != "":
		return fmt.Sprintf("%s with Last-Event-ID %s", f.HTTP.Method, f.HTTP.Header["Last-Event-Id"])
	case f.HTTP != nil && f.HTTP.Method != "":
		return f.HTTP.Method
	case f.Event != "":
		return "event " + f.Event + ", without a message"
	case f.HTTP != nil:
		return fmt.Sprintf("HTTP %d", f.HTTP.Status)
	}
	return "an empty frame"
}

func describeMessage(f *trace.Frame) string {
	m := evidence.ReadMessage(f.Raw)
	switch {
	case m.Method != "" && m.ID == nil:
		return m.Method
	case m.Method != "" && evidence.HasMember(m.Params, "inputResponses"):
		return fmt.Sprintf("%s again with its inputResponses, id %s", m.Method, m.ID)
	case m.Method != "":
		return fmt.Sprintf("%s, id %s", m.Method, m.ID)
	case m.Err != nil:
		return fmt.Sprintf("error response %d, %s: %s", m.Err.Code, describeID(m.ID), m.Err.Message)
	case m.Result != nil:
		return fmt.Sprintf("%s, %s", describeResult(m.Result), describeID(m.ID))
	}
	return "invalid JSON-RPC: " + evidence.Compact(json.RawMessage(f.Raw))
}

func describeID(id json.RawMessage) string {
	if id == nil {
		return "no id"
	}
	return "id " + string(id)
}

// oneLine keeps a step to a line.
func oneLine(text string) string {
	const most = 110
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func describeResult(result json.RawMessage) string {
	var o jsonvalue.Object
	_ = json.Unmarshal(result, &o) // a value that is not an object has no type
	if t := o.Text("resultType"); t != "" {
		return "result (" + t + ")"
	}
	return "result"
}

func describeEnd(end *trace.ModelEnd) string {
	switch {
	case end.HungUp:
		return "nothing more: the client hung up"
	case end.Closed:
		return "nothing more: the model was closed"
	case end.Refused != "":
		return oneLine(fmt.Sprintf("%d, refused: %s", end.Status, end.Refused))
	case end.Unmatched != "":
		return oneLine(fmt.Sprintf("%d, no rule matches: %s", end.Status, end.Unmatched))
	case end.Stream:
		return fmt.Sprintf("%d, a stream", end.Status)
	}
	return fmt.Sprint(end.Status)
}
