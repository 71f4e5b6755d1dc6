package server

import (
	"encoding/json"
	"fmt"
)

// RequestOption changes how [Session.Sample] and [Session.Start] send a request. A [Method] is one too.
type RequestOption interface{ apply(*outgoing) }

type outgoing struct {
	params  json.RawMessage
	hostile bool
	method  Method          // "" is sampling/createMessage
	id      json.RawMessage // nil for an id of the server's choice

	listening bool // use the client's GET stream
	asCall    bool // use the id of the client's call
}

type requestOption func(*outgoing)

func (o requestOption) apply(to *outgoing) { o(to) }

// Hostile sends a request that breaks the protocol on purpose: invalid params, or params that need what the client has
// not declared. The trace marks the frame as hostile.
func Hostile() RequestOption { return requestOption(func(o *outgoing) { o.hostile = true }) }

// OnGETStream sends a request on the client's GET stream instead of the call's own: see [Transport.WaitForGETStream].
// Without a GET stream it is not sent, and the error is ErrNoStream.
func OnGETStream() RequestOption { return requestOption(func(o *outgoing) { o.listening = true }) }

// WithCallID sends a request under the id of the client's pending request. Each side chooses its own ids, so the two
// are independent (2025-11-25, basic#requests). A second one in a call gets an id of the server's choice. It has no
// effect in 2026-07-28, where samples have no id.
func WithCallID() RequestOption { return requestOption(func(o *outgoing) { o.asCall = true }) }

// WithID sends a request under an id of the handler's choice: a JSON string or number, as it is written. Any other type
// is ErrInvalid. The server chooses another id if the session has already used this one or the client's pending request
// has it. It has no effect in 2026-07-28.
func WithID(id string) RequestOption {
	return requestOption(func(o *outgoing) { o.id = json.RawMessage(id) })
}

// Method is a request other than sampling/createMessage, as an option of [Session.Start]:
//
//	asked, err := s.Start(server.TaskParams{TaskID: "t1"}, server.TasksGet)
type Method string

// Ping asks whether the other side is alive; its params may be nil. Modern revisions have no ping: there the error is
// ErrRevision (2025-11-25, basic/utilities/ping).
const Ping Method = "ping"

func (m Method) apply(to *outgoing) { to.method = m }

// outgoing encodes the params of a request and checks them, unless they are hostile.
func (s *Session) outgoing(params any, options []RequestOption) (outgoing, error) {
	var request outgoing
	for _, o := range options {
		o.apply(&request)
	}
	if request.listening && s.revision.Modern() {
		return outgoing{}, s.hasNo("a GET stream")
	}
	if request.id != nil && (!json.Valid(request.id) || !isID(request.id)) {
		return outgoing{}, s.invalid(request.name(),
			fmt.Errorf("the request id must be a string or a number, found %s", show(request.id)))
	}
	var err error
	switch request.method {
	case "":
		err = s.outgoingSample(&request, params)
	case Ping:
		err = s.outgoingPing(&request, params)
	default:
		err = s.outgoingTask(&request, params)
	}
	return request, err
}

func (o *outgoing) name() string {
	if o.method == "" {
		return "sampling/createMessage"
	}
	return string(o.method)
}

func (s *Session) outgoingSample(request *outgoing, params any) error {
	if value, ok := params.(CreateMessageParams); ok {
		params = &value
	}
	built, _ := params.(*CreateMessageParams)
	if built != nil && built.err != nil {
		return built.err
	}
	raw, err := encode(params)
	if err != nil {
		return s.invalid(request.name(), err)
	}
	request.params = s.onOneLine(s.echoMeta(raw))
	if request.hostile {
		return nil
	}
	return s.checkSample(request.params, built != nil && built.quotes)
}

func (s *Session) outgoingPing(request *outgoing, params any) error {
	if s.revision.Modern() {
		return s.hasNo("ping")
	}
	if params == nil {
		return nil
	}
	raw, err := encode(params)
	if err != nil {
		return s.invalid(request.name(), err)
	}
	request.params = s.onOneLine(raw)
	return nil
}
