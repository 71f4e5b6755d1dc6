package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Response is the outcome of a sampling request.
type Response struct {
	// Result is the CreateMessageResult as the client sent it, valid or not; nil when Err is set.
	Result json.RawMessage
	Err    error
}

// Errors of sampling. None of them means that the client refused: see [Refused].
var (
	// ErrInvalid reports a request that breaks the revision's schema and is not [Hostile]. It is not sent.
	ErrInvalid = errors.New("the request is not valid by the protocol's schema")
	// ErrUndeclared reports a capability that the request needs and the client has not declared. The request is not
	// sent, as the protocol demands (2025-11-25, client/sampling#tools-in-sampling). When a handler returns this error,
	// the response to its call is an error result or, in 2026-07-28, a JSON-RPC error that names the capability.
	ErrUndeclared = errors.New("the client has not declared the capability")
	// ErrNoStream reports that no stream to the client is left.
	ErrNoStream = errors.New("there is no stream to the client")
	// ErrRevision reports a feature that the client's revision does not have.
	ErrRevision = errors.New("the client's revision does not have this feature")
)

// hasNo returns ErrRevision for a feature that the client's revision does not have.
func (s *Session) hasNo(feature string) error {
	return fmt.Errorf("%w: %s: the client speaks %s", ErrRevision, feature, s.revision)
}

// undeclaredError is ErrUndeclared with the missing capability, such as "sampling.tools".
type undeclaredError struct{ capability string }

func (e *undeclaredError) Error() string        { return fmt.Sprintf("%v: %s", ErrUndeclared, e.capability) }
func (e *undeclaredError) Is(target error) bool { return target == ErrUndeclared }

// errNotFulfilled reports that no retry came in 2026-07-28, or one without the key.
var errNotFulfilled = errors.New("the client did not fulfil the input request")

// Refused reports whether the client would not or could not sample: it returned an error or, in 2026-07-28, did not
// fulfil the input request.
func Refused(err error) bool {
	var rpc *RPCError
	return errors.As(err, &rpc) || errors.Is(err, errNotFulfilled)
}

type outgoing struct {
	params  json.RawMessage
	hostile bool
	method  string          // "" is sampling/createMessage
	id      json.RawMessage // nil for an id of the server's choice

	listening bool // use the client's GET stream
	asCall    bool // use the id of the client's call
}

// marked are parameters with a mark, which sets a field of their request.
type marked struct {
	params any
	mark   func(*outgoing)
}

// Hostile marks parameters that break the protocol on purpose. They are sent although they are invalid, or need what
// the client has not declared, and the trace marks the frame as hostile.
func Hostile(params any) any { return marked{params, func(o *outgoing) { o.hostile = true }} }

// OnGETStream marks the parameters of a request that goes out on the client's GET stream instead of the call's own: see
// [Session.WaitForGETStream]. Without a GET stream it is not sent, and the error is ErrNoStream.
func OnGETStream(params any) any { return marked{params, func(o *outgoing) { o.listening = true }} }

// WithCallID marks the parameters of a sampling request that uses the id of the client's pending request. Each side
// chooses its own ids, so the two are independent (2025-11-25, basic#requests). A second one in a call gets an id of
// the server's choice. It has no effect in 2026-07-28, where samples have no id.
func WithCallID(params any) any {
	return marked{params, func(o *outgoing) { o.asCall = true }}
}

func unwrapped(params any) (outgoing, any) {
	var as outgoing
	for {
		m, ok := params.(marked)
		if !ok {
			return as, params
		}
		m.mark(&as)
		params = m.params
	}
}

// Sample asks the client to sample and returns its result, valid or not. Params is anything that marshals to
// CreateMessageRequestParams: a [CreateMessageParams], a map, or raw JSON, which is sent byte for byte. Invalid params,
// and those that need what the client has not declared, are not sent (ErrInvalid, ErrUndeclared) unless they are
// [Hostile]. [Refused] distinguishes the client's refusal from our failures. A 2026-07-28 client that refuses sends
// nothing: Sample then returns when the server is closed, or after a thousand newer rounds of the tool.
func (s *Session) Sample(params any) (json.RawMessage, error) {
	answer := s.SampleAll(params)[0]
	return answer.Result, answer.Err
}

// SampleAll asks for several samples at once and returns the answers in the order of the requests, when all have
// arrived. They are concurrent requests or, in 2026-07-28, one InputRequiredResult with several keys.
func (s *Session) SampleAll(params ...any) []Response {
	answers := make([]Response, len(params))
	var requests []outgoing
	var places []int
	for i, p := range params {
		request, err := s.outgoing(p)
		if err != nil {
			answers[i].Err = err
			continue
		}
		requests = append(requests, request)
		places = append(places, i)
	}
	if len(requests) > 0 {
		for i, answer := range s.sample(requests) {
			answers[places[i]] = answer
		}
	}
	return answers
}

// SampleWithID is Sample with a request id of the handler's choice: a JSON string or number, sent as it is written. Any
// other type is ErrInvalid. The server chooses another id if the session has already used this one or the client's
// pending request has it. In 2026-07-28 the id has no effect.
func (s *Session) SampleWithID(id json.RawMessage, params any) (json.RawMessage, error) {
	if !json.Valid(id) || !isID(id) {
		why := fmt.Errorf("the request id must be a string or a number, got %s", show(id))
		return nil, s.invalid("sampling/createMessage", why)
	}
	request, err := s.outgoing(params)
	if err != nil {
		return nil, err
	}
	request.id = id
	answer := s.sample([]outgoing{request})[0]
	return answer.Result, answer.Err
}

// outgoing encodes the params of a sampling request and checks them, unless they are hostile.
func (s *Session) outgoing(params any) (outgoing, error) {
	request, params := unwrapped(params)
	if request.listening && s.revision.Modern() {
		return outgoing{}, s.hasNo("a GET stream")
	}
	if value, ok := params.(CreateMessageParams); ok {
		params = &value
	}
	built, _ := params.(*CreateMessageParams)
	if built != nil && built.err != nil {
		return outgoing{}, built.err
	}
	raw, err := encode(params)
	if err != nil {
		return outgoing{}, s.invalid("sampling/createMessage", err)
	}
	request.params = s.onOneLine(s.echoMeta(raw))
	if request.hostile {
		return request, nil
	}
	return request, s.checkSample(request.params, built != nil && built.quotes)
}

// checkSample returns why a sampling request must not be sent. With quotes, invalid params are the client's fault: they
// hold its earlier result.
func (s *Session) checkSample(params json.RawMessage, quotes bool) error {
	members := objectOf(params)
	needs := [][]string{{"sampling"}}
	if members["tools"] != nil || members["toolChoice"] != nil {
		if !s.revision.HasSamplingTools() {
			return s.hasNo("tools in sampling")
		}
		needs = append(needs, []string{"sampling", "tools"})
	}
	if members["task"] != nil {
		if s.revision != V20251125 {
			return s.hasNo("tasks")
		}
		needs = append(needs, tasksOfSampling)
	}
	if err := schema.Validate(string(s.revision), schema.CreateMessageRequestParams, params); err != nil {
		if quotes {
			return fmt.Errorf("the client's result cannot be continued: %w: %w", ErrInvalid, err)
		}
		return s.invalid("sampling/createMessage", err)
	}
	for _, capability := range needs {
		if !s.Declares(capability...) {
			return s.undeclared(capability...)
		}
	}
	return nil
}

// undeclared records that a request was not sent because of a missing capability.
func (s *Session) undeclared(capability ...string) error {
	missing := strings.Join(capability, ".")
	s.Mark(trace.MarkWithheld, missing)
	return &undeclaredError{missing}
}

// invalid records that the handler's request was not sent because it is invalid.
func (s *Session) invalid(method string, why error) error {
	s.server.problem(s.scope(), "the handler of tool %s sends an invalid %s (if intended, use server.Hostile): %v",
		s.tool.Name, method, why)
	return fmt.Errorf("%w: %w", ErrInvalid, why)
}

// echoMeta adds the _meta of the client's request to the params, because some clients match the two by it, without
// progressToken and the fields that the protocol reserves. The params stay as they are, byte for byte, when there
// is nothing to add or they are not an object that allows it.
func (s *Session) echoMeta(params json.RawMessage) json.RawMessage {
	echo := map[string]json.RawMessage{}
	for name, value := range s.currentMeta() {
		if name != "progressToken" && !strings.HasPrefix(name, "io.modelcontextprotocol/") {
			echo[name] = value
		}
	}
	if len(echo) == 0 || s.server.opts.NoMetaEcho {
		return params
	}
	to := objectOf(params)
	own := objectOf(to["_meta"])
	if to == nil || to["_meta"] != nil && own == nil { // hostile, or ErrInvalid follows
		return params
	}
	maps.Copy(echo, own)
	to["_meta"] = mustEncode(echo)
	return mustEncode(to)
}
