package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/replay"
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

// Sample asks the client to sample and returns its result, valid or not. Params is anything that marshals to
// CreateMessageRequestParams: a [CreateMessageParams], a map, or raw JSON, which is sent byte for byte. Invalid params,
// and those that need what the client has not declared, are not sent (ErrInvalid, ErrUndeclared) unless they are
// [Hostile]. [Refused] distinguishes the client's refusal from our failures. A 2026-07-28 client that refuses sends
// nothing: Sample then returns when the server is closed, or after a thousand newer rounds of the tool.
func (s *Session) Sample(params any, options ...RequestOption) (json.RawMessage, error) {
	request, err := s.outgoing(params, options)
	if err != nil {
		return nil, err
	}
	answer := s.sample([]outgoing{request})[0]
	return answer.Result, answer.Err
}

// SampleAll asks for several samples at once and returns the answers in the order of the requests, when all have
// arrived. They are concurrent requests or, in 2026-07-28, one InputRequiredResult with several keys.
func (s *Session) SampleAll(params ...any) []Response {
	answers := make([]Response, len(params))
	var requests []outgoing
	var places []int
	for i, p := range params {
		request, err := s.outgoing(p, nil)
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
		if !s.revision.HasTasks() {
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

func (s *Session) undeclared(capability ...string) error {
	missing := strings.Join(capability, ".")
	s.Mark(trace.MarkWithheld, missing)
	return &undeclaredError{missing}
}

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
		if !replay.IsReserved(name) {
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
