package evidence

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

// ToolCall is a call of a tool that starts no case: one of [trace.Case.Tools], or one that the server does not have.
type ToolCall struct {
	// Place is that of the params.
	Place
	Tool      string
	Arguments json.RawMessage
	// Result is the CallToolResult, or Err the error response; both nil if the server did not respond.
	Result json.RawMessage
	Err    *server.RPCError
	// Began is the index of the call's event, and Ended that of the response; [math.MaxInt] for none.
	Began, Ended int
	// Cancelled is where the client cancelled the call; nil if it did not.
	Cancelled *Place

	id      json.RawMessage
	session string
	number  int
}

// addToolCall adds a frame about a tool that starts no case.
func (s *Session) addToolCall(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case f.Closed:
		if call := s.openCall(func(c *ToolCall) bool { return c.Tool == e.Tool && c.number == e.Call }); call != nil &&
			f.Dir == trace.FromClient && call.Cancelled == nil {
			call.Cancelled = &Place{e.Ref(), "", "end of the stream"}
		}
	case f.Dir == trace.FromClient && m.Method == "tools/call" && m.ID != nil:
		var p jsonvalue.Object
		_ = jsonvalue.ReadPart(m.Params, &p) // a call with invalid params has no name
		s.ToolCalls = append(s.ToolCalls, &ToolCall{Place: Place{e.Ref(), "params", "tools/call"}, Tool: p.Text("name"),
			Arguments: p["arguments"], Began: s.Order[e.Ref()], Ended: math.MaxInt, id: m.ID, session: f.Session,
			number: e.Call})
	case f.Dir == trace.ToClient && m.IsResponse() && !f.Lost:
		call := s.openCall(func(c *ToolCall) bool { return SameID(c.id, m.ID) && c.session == f.Session })
		if call != nil {
			call.Ended, call.Result, call.Err = s.Order[e.Ref()], m.Result, m.Err
		}
	}
}

// openCall returns the latest call without a response for which is holds; nil for none.
func (s *Session) openCall(is func(*ToolCall) bool) *ToolCall {
	for _, call := range slices.Backward(s.ToolCalls) {
		if call.Ended == math.MaxInt && is(call) {
			return call
		}
	}
	return nil
}

// addToolCancel notes the client's cancel of such a call.
func (s *Session) addToolCancel(e *trace.Event, m *Message) {
	id, ok := CancelOf(m)
	if !ok {
		return
	}
	call := s.openCall(func(c *ToolCall) bool { return SameID(c.id, id) && c.session == e.Frame.Session })
	if call != nil && call.Cancelled == nil {
		call.Cancelled = &Place{e.Ref(), "params", "cancel of the tool call"}
	}
}

// ServerTool returns the name on the server of a tool that the model used: the client may offer it under another one
// (see [offered.Match]). A name of no tool of the case stays as it is.
func (ev *Case) ServerTool(name string) string {
	tools := make([]dialect.Tool, len(ev.Case.Tools))
	for i, tool := range ev.Case.Tools {
		tools[i].Name = tool
	}
	return cmp.Or(offered.Match(&dialect.Tool{Name: name}, tools), name)
}

// Uses returns the model's tool uses in the case, in order.
func (ev *Case) Uses() []dialect.Block {
	var all []dialect.Block
	for _, x := range ev.Session.Exchanges[ev.Case.ID] {
		all = append(all, x.Calls()...)
	}
	return all
}

// ToolCalls returns the calls that the client made of tools that the model used in the case, in order, each with the
// round that was open. The client's own calls, which have no arguments, are not among them.
func (ev *Case) ToolCalls() (calls []*ToolCall, rounds []*Round) {
	s := ev.Session
	for _, call := range s.ToolCalls {
		i := slices.IndexFunc(ev.Rounds, func(r *Round) bool {
			offers := r.Params != nil && slices.ContainsFunc(r.Params.Tools, func(t dialect.Tool) bool {
				return t.Name == call.Tool
			})
			return (offers || slices.Contains(ev.Case.Tools, call.Tool)) &&
				s.Order[r.Asked.Ref] < call.Began && call.Began < s.AnsweredAt(r)
		})
		if i >= 0 && ev.wasUsed(call) {
			calls, rounds = append(calls, call), append(rounds, ev.Rounds[i])
		}
	}
	return calls, rounds
}

// wasUsed reports whether the model used the tool before the call: with the same arguments, or with others that the
// client changed.
func (ev *Case) wasUsed(call *ToolCall) bool {
	return slices.ContainsFunc(ev.Session.Exchanges[ev.Case.ID], func(x *Exchange) bool {
		return x.Behind < call.Began && slices.ContainsFunc(x.Calls(), func(use dialect.Block) bool {
			return ev.ServerTool(use.Name) == call.Tool &&
				(len(ObjectOf(call.Arguments)) > 0 || jsonvalue.Same(Arguments(use), call.Arguments))
		})
	})
}

// runsTools reports whether the client called a tool for the model in the case, and then asked the model again.
func (ev *Case) runsTools() bool {
	calls, rounds := ev.ToolCalls()
	for i, r := range rounds {
		if slices.ContainsFunc(r.Model, func(x *Exchange) bool { return x.Began > calls[i].Ended }) {
			return true
		}
	}
	return false
}

// noteLoop notes in the sessions of a run whether the client runs the tool loop itself: as it is declared, or as some
// session shows.
func noteLoop(sessions []*Session) {
	runs := false
	for _, s := range sessions {
		declared := harness.Loop(s.Trace.Header.Loop)
		runs = runs || declared == harness.ClientLoop || declared == "" && s.runsTools()
	}
	for _, s := range sessions {
		s.ClientLoop = runs
	}
}

// runsTools reports whether the client runs tools in some case.
func (s *Session) runsTools() bool {
	if len(s.ToolCalls) == 0 {
		return false
	}
	for _, calls := range s.Calls {
		if slices.ContainsFunc(calls, (*Case).runsTools) {
			return true
		}
	}
	return false
}

// RunsTools reports whether a trace shows that the client runs the tool loop itself.
func RunsTools(t *trace.Trace) bool {
	for i := range t.Events { // most traces have no such call, and need no decoding
		if e := &t.Events[i]; e.Frame != nil && e.Case == "" && e.Frame.Dir == trace.FromClient &&
			trace.ReadMessage(e.Frame.Raw).Method == "tools/call" {
			return Decode(t).runsTools()
		}
	}
	return false
}

// ToolResult is what a CallToolResult says.
type ToolResult struct {
	Text    string // The text blocks, without a separator.
	IsError bool
}

// ReadToolResult reads a CallToolResult. An invalid one says nothing.
func ReadToolResult(raw json.RawMessage) ToolResult {
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	_ = json.Unmarshal(raw, &result)
	read := ToolResult{IsError: result.IsError}
	for _, b := range result.Content {
		read.Text += b.Text
	}
	return read
}
