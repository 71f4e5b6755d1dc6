package tracetest

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// key returns the input key of the latest sampling request.
func (s *Story) key() string { return fmt.Sprintf("x-%d", s.Samples) }

// ID returns the JSON-RPC id of the latest sampling request.
func (s *Story) ID() string { return fmt.Sprint(1000 + s.Asked) }

// Asks appends a sampling request of the server.
func (s *Story) Asks(params any) *Story {
	s.Samples++
	s.Asked++
	raw := jsonvalue.Marshal(params)
	if s.Revision.Modern() {
		s.requireInput(fmt.Sprintf(`{%q:{"method":"sampling/createMessage","params":%s}}`, s.key(), raw))
	} else {
		s.Frame(s.CaseID, trace.ToClient, 0,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":%s}`, s.ID(), raw))
	}
	return s
}

// AsksAll appends concurrent sampling requests.
func (s *Story) AsksAll(params ...any) *Story {
	if !s.Revision.Modern() {
		for _, p := range params {
			s.Asks(p)
		}
		return s
	}
	requests := story.Object{}
	for _, p := range params {
		s.Samples++
		requests[s.key()] = story.Object{"method": "sampling/createMessage", "params": p}
	}
	s.requireInput(string(jsonvalue.Marshal(requests)))
	return s
}

func (s *Story) requireInput(requests string) {
	s.Frame(s.CaseID, trace.ToClient, 200,
		`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","`+s.Revision.StateMember()+
			`":"s","inputRequests":`+requests+`}}`)
}

// OnPurpose marks the last message of the server as a deliberate violation of the protocol.
func (s *Story) OnPurpose() *Story {
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Hostile = true
	return s
}

// Answers appends the client's result for the latest sampling request.
func (s *Story) Answers(result string) *Story {
	if s.Revision.Modern() {
		s.Retries(fmt.Sprintf(`,"inputResponses":{%q:%s}`, s.key(), result))
	} else {
		s.Responds(s.ID(), `"result":`+result)
	}
	return s
}

// Retries appends a retry of the call, with more members of its params as they are written: "" or
// `,"inputResponses":{…}`.
func (s *Story) Retries(responses string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{`+s.Meta()+`"name":"x","`+
			s.Revision.StateMember()+`":"s"`+responses+`}}`)
	return s
}

// Refuses appends the client's error response. The second era has none: nothing is appended.
func (s *Story) Refuses(code int, message string) *Story {
	if !s.Revision.Modern() {
		s.Responds(s.ID(), fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message))
	}
	return s
}

// Responds appends a response with an id and the other members as they are written.
func (s *Story) Responds(id, rest string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
	return s
}

// CallsTool appends the client's call of a tool that starts no case, with its arguments as they are written.
func (s *Story) CallsTool(name, arguments string) *Story {
	s.toolFrame(name, trace.FromClient, 0, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":%q,"arguments":%s}}`, s.toolID(), s.Meta(), name,
		arguments))
	return s
}

// ToolReturns appends the result of the latest such call: a text, and whether it is an error.
func (s *Story) ToolReturns(name, text string, isError bool) *Story {
	s.toolFrame(name, trace.ToClient, 200, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}],"isError":%v}}`, s.toolID(), text, isError))
	return s
}

// toolID is the id of the latest call of a tool that starts no case.
func (s *Story) toolID() int { return 500 + int(s.Models) }

func (s *Story) toolFrame(name string, dir trace.Direction, status int, raw string) {
	s.Frame("", dir, status, raw)
	s.Trace.Events[len(s.Trace.Events)-1].Tool = name
}

// ToolCancelled appends the client's cancel of the latest such call.
func (s *Story) ToolCancelled(name string) *Story {
	s.toolFrame(name, trace.FromClient, 0, fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, s.toolID()))
	return s
}

// GivesUp appends the client's cancellation of a request, with its id as it is written.
func (s *Story) GivesUp(id string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

// Closes appends that the client closed the stream of its call.
func (s *Story) Closes() *Story {
	f := &trace.Frame{Dir: trace.FromClient, Stream: "post-1", Closed: true}
	if !s.Revision.Modern() {
		f.Session = SessionID
	}
	s.Add(s.CaseID, trace.Event{Call: s.Call, Frame: f})
	return s
}

// Asks returns a request that names a version in its _meta, as in the second era.
func Asks(id int, method, version string) trace.Event {
	return SpokenBy(trace.FromClient, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{%q:%q}}}`,
		id, method, evidence.MetaVersion, version)
}

// SpokenBy returns the event of a message.
func SpokenBy(who trace.Direction, format string, args ...any) trace.Event {
	return trace.Event{Frame: &trace.Frame{Dir: who, Raw: fmt.Appendf(nil, format, args...)}}
}
