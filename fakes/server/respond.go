package server

import (
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

func (s *Server) received(of scope, session string, in *inbound) {
	frame := trace.Frame{Dir: trace.FromClient, Raw: in.raw, Session: session}
	if in.conn != nil {
		frame.Session = in.conn.name
	} else if frame.HTTP = s.http(in.r.Method, 0, in.r.Header); frame.HTTP != nil {
		frame.HTTP.Address = trace.SelectAddress(in.r.URL, s.opts.IsPlantedSecret)
	}
	s.frame(of, frame)
}

// refuse records a message and responds with a status and an error. The error has no id when the message is not a valid
// request (2025-11-25, basic/transports#sending-messages-to-the-server).
func (s *Server) refuse(in *inbound, status int, why *RPCError) {
	if in.conn != nil {
		in.conn.refuse(in, why)
		return
	}
	session := in.header(headerSession)
	s.received(scope{}, session, in)
	var id json.RawMessage
	if in.message != nil && in.isRequest() {
		id = in.ID
	}
	newExchange(s, in, scope{}, session).respond(status, errorFrame(id, why), false)
}

func (s *Server) result(x *exchange, id json.RawMessage, revision Revision, name schema.Name, result any) {
	raw := mustEncode(result)
	s.validate(x.scope, revision, name, raw)
	s.respond(x, resultFrame(id, raw), false)
}

func (s *Server) fail(x *exchange, id json.RawMessage, why *RPCError) {
	s.respond(x, errorFrame(id, why), false)
}

func (s *Server) respond(x *exchange, frame []byte, hostile bool) {
	if x.responses == SSE {
		x.open("post")
	}
	x.respond(http.StatusOK, frame, hostile)
}
