package server

import "bytes"

// Transport is what a handler does with the transport itself, rather than with the protocol on it: see
// [Session.Transport].
type Transport struct{ s *Session }

// Transport returns the transport of the call, for handlers that test the client's.
func (s *Session) Transport() Transport { return Transport{s} }

// Send writes a frame onto the stream of the call, byte for byte; the trace marks it as hostile. Over HTTP each line
// end reaches the client as "\n", as SSE requires, and a modern call then gets a stream as its response. On a
// connection the frame goes out unchanged, with a line feed after it. It returns ErrNoStream when the client has
// disconnected; on a connection it still works after the call was abandoned.
func (t Transport) Send(frame []byte) error {
	return t.s.protocol.send(t.s.ctx, bytes.Clone(frame), true) // the trace keeps the slice
}
