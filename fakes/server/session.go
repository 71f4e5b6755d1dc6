package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Session is a play's view of the client: one call of one tool, with the means to ask something back. Its methods are safe for
// concurrent use, until the play returns; samples that are to be in flight together go through [Session.SampleAll] all the same,
// because in 2026-07-28 each Sample costs a round of its own.
type Session struct {
	server    *Server
	tool      *offered
	number    int // how often the tool has been called
	ctx       context.Context
	revision  Revision
	arguments json.RawMessage
	carrier   carrier
	lines     bool // each message is a line, so that none of ours may hold a line end

	mu       sync.Mutex
	asks     int             // how many conversations the play has begun
	meta     object          // of the request that carries the play now
	declared json.RawMessage // the client's capabilities, as it told them last
}

// carrier brings a play's wishes before the client, in the manner of its era.
type carrier interface {
	// sample has the client answer the requests, all at once, and returns when each is answered or given up.
	sample(requests []outgoing) []Answer
	// start has the client answer one request, and returns once that is on its way.
	start(request outgoing) (*Pending, error)
	// inputRequired is sample in the raw; only the second era has it.
	inputRequired(in Input) (*Retry, error)
	// ping is Ping.
	ping(ctx context.Context) error
	// send writes a frame as it is onto the stream of the call. Where there is none and one may come, it waits until ctx ends.
	send(ctx context.Context, frame []byte, hostile bool) error
	// notify writes a notification that is not bound to the call, where there is one on another stream once the call was given up.
	notify(frame []byte) error
	// style is Style.
	style(style Style)
	// callID is the id of the client's request that is pending.
	callID() json.RawMessage
	// connection is what that request came on; nil over HTTP.
	connection() *conn
}

// outgoing is a sampling request on its way.
type outgoing struct {
	params  json.RawMessage
	hostile bool
	method  string          // "" for sampling/createMessage
	id      json.RawMessage // what the request is to be known by; nil leaves it to the carrier

	listening bool // it goes out on the client's GET stream
	asCall    bool // it has the id of the client's call
}

// Answer is what came of a sampling request.
type Answer struct {
	// Result is the CreateMessageResult as the client sent it, whatever it holds; nil where Err is set.
	Result json.RawMessage
	Err    error
}

// Errors of sampling. None of them means that the client refused.
var (
	// ErrInvalid is returned for a request that is not valid by the revision's schema and was not marked [Hostile]. It is not sent.
	ErrInvalid = errors.New("the request is not valid by the protocol's schema")
	// ErrUndeclared is returned where the client has not declared what the request needs. It is not sent: a server must not
	// (2025-11-25, client/sampling#tools-in-sampling). A play that returns it has its call answered with a result that is an error or,
	// in 2026-07-28, with a JSON-RPC error that names the capability.
	ErrUndeclared = errors.New("the client has not declared the capability")
	// ErrNoStream is returned where there is no stream left to send on.
	ErrNoStream = errors.New("there is no stream to the client")
	// ErrEra is returned for what the client's revision does not have.
	ErrEra = errors.New("the client's revision does not have this")
)

// undeclaredError is ErrUndeclared with the capability that is missing, such as "sampling.tools".
type undeclaredError struct{ capability string }

func (e *undeclaredError) Error() string        { return fmt.Sprintf("%v: %s", ErrUndeclared, e.capability) }
func (e *undeclaredError) Is(target error) bool { return target == ErrUndeclared }

// errNotFulfilled is what a play sees in the second era when the client did not answer: no retry came, or one without the key.
var errNotFulfilled = errors.New("the client did not fulfil the input request")

// Refused reports whether err says that the client would not or could not answer: in the first era it answered with an
// error, in the second it did not fulfil the request.
func Refused(err error) bool {
	var rpc *RPCError
	return errors.As(err, &rpc) || errors.Is(err, errNotFulfilled)
}

// hostile marks what breaks the protocol on purpose.
type hostile struct{ params any }

// Hostile marks the parameters of a sampling request as wrong on purpose: they are sent although they are not valid, or although the
// client has not declared what they need, and the trace says that it was meant.
func Hostile(params any) any {
	if _, already := params.(hostile); already {
		return params
	}
	return hostile{params}
}

// onGET and underCallID mark how a request is to be sent.
type (
	onGET       struct{ params any }
	underCallID struct{ params any }
)

// OnGET marks the parameters of a sampling request that is to go out on the client's GET stream in place of the call's own: see [Session.Listens]. Where
// there is none it is not sent, and the error is ErrNoStream.
func OnGET(params any) any { return onGET{params} }

// UnderCallID marks the parameters of a sampling request that is to have the id of the client's own request that waits for the play's result: each side
// chooses ids for itself, so that the two have nothing to do with each other (2025-11-25, basic#requests). A second one of a call gets an id of the
// server's. In the second era, where samples have none, it means nothing.
func UnderCallID(params any) any { return underCallID{params} }

// unwrapped returns what the parameters are marked as, and the parameters.
func unwrapped(params any) (outgoing, any) {
	var as outgoing
	for {
		switch marked := params.(type) {
		case hostile:
			as.hostile, params = true, marked.params
		case onGET:
			as.listening, params = true, marked.params
		case underCallID:
			as.asCall, params = true, marked.params
		default:
			return as, params
		}
	}
}

func (s *Session) scope() scope { return scope{s.tool.Name, s.number} }

// Arguments returns the arguments of the call, as JSON; nil when it had none.
func (s *Session) Arguments() json.RawMessage { return s.arguments }

// Revision returns the revision that the client speaks.
func (s *Session) Revision() Revision { return s.revision }

// Context ends when the call is given up: the client cancelled it, its session ended, or the server is being closed.
func (s *Session) Context() context.Context { return s.ctx }

// Declares reports whether the client has declared the capability, given by its path such as "sampling", "tools". What it
// declared counts as soon as it is there and not null: whether it has the right shape is judged elsewhere.
func (s *Session) Declares(path ...string) bool {
	s.mu.Lock()
	value := s.declared
	s.mu.Unlock()
	for _, name := range path {
		value = objectOf(value)[name]
	}
	return len(value) > 0 && !isNull(value)
}

// update takes over what the request says by which the client goes on with the call.
func (s *Session) update(meta object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta, s.declared = meta, meta[metaCapabilities]
}

func (s *Session) carrying() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta
}

// Mark leaves a note in the trace, at this point of the play.
func (s *Session) Mark(name, text string) { s.server.mark(s.scope(), name, text) }

// Sample asks the client to sample and returns its answer, whatever that holds. Params are anything that marshals to
// CreateMessageRequestParams: a [CreateMessageParams], a map, raw JSON, which is sent byte for byte. Params that are
// not valid, or that need what the client has not declared, are not sent (ErrInvalid, ErrUndeclared) unless they are [Hostile].
// Where the client refuses, [Refused] tells that from our own failures; in the second era a client that refuses sends
// nothing, and Sample returns when the server is closed, or when a thousand newer rounds of the tool wait or have waited for a retry.
func (s *Session) Sample(params any) (json.RawMessage, error) {
	answer := s.SampleAll(params)[0]
	return answer.Result, answer.Err
}

// SampleAll asks the client for several samples at once and returns the answers in the order of the requests, when all are
// there. In the first era they are requests in flight together, in the second one InputRequiredResult with several keys.
func (s *Session) SampleAll(params ...any) []Answer {
	answers := make([]Answer, len(params))
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
		for i, answer := range s.carrier.sample(requests) {
			answers[places[i]] = answer
		}
	}
	return answers
}

// SampleAs is Sample with a request id of the play's choosing, a JSON string or number, which is sent as it is written. One that is
// taken, because the session has had it or the client waits for an answer of its own under it, gives way to the server's own, and
// so does every id in the second era, where samples have none. An id of another type is ErrInvalid.
func (s *Session) SampleAs(id json.RawMessage, params any) (json.RawMessage, error) {
	if !json.Valid(id) || !isID(id) {
		return nil, s.invalid(fmt.Errorf("the request id must be a string or a number, got %s", show(id)))
	}
	request, err := s.outgoing(params)
	if err != nil {
		return nil, err
	}
	request.id = id
	answer := s.carrier.sample([]outgoing{request})[0]
	return answer.Result, answer.Err
}

// outgoing readies params for the wire.
func (s *Session) outgoing(params any) (outgoing, error) {
	request, params := unwrapped(params)
	if request.listening && s.revision.Modern() {
		return outgoing{}, fmt.Errorf("%w: a GET stream, the client speaks %s", ErrEra, s.revision)
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
		return outgoing{}, s.invalid(err)
	}
	raw = s.onOneLine(s.echoMeta(raw))
	if request.params = raw; request.hostile {
		return request, nil
	}
	members := objectOf(raw)
	needsTools := members["tools"] != nil || members["toolChoice"] != nil
	if needsTools && !s.revision.HasTools() {
		return outgoing{}, fmt.Errorf("%w: tools in sampling came with %s, the client speaks %s", ErrEra, V20251125, s.revision)
	}
	if members["task"] != nil && s.revision != V20251125 {
		return outgoing{}, s.noTasks()
	}
	if err := schema.Validate(string(s.revision), schema.CreateMessageRequestParams, raw); err != nil {
		if built != nil && built.quotes {
			return outgoing{}, fmt.Errorf("the client's answer cannot be gone on from: %w: %w", ErrInvalid, err)
		}
		return outgoing{}, s.invalid(err)
	}
	switch {
	case !s.Declares("sampling"):
		return outgoing{}, s.withheld("sampling")
	case needsTools && !s.Declares("sampling", "tools"):
		return outgoing{}, s.withheld("sampling", "tools")
	case members["task"] != nil && !s.Declares(tasksOfSampling...):
		return outgoing{}, s.withheld(tasksOfSampling...)
	}
	return request, nil
}

// withheld notes that the play wanted sent what the client has not declared.
func (s *Session) withheld(capability ...string) error {
	missing := strings.Join(capability, ".")
	s.Mark(trace.MarkWithheld, missing)
	return &undeclaredError{missing}
}

// invalid notes that the play wanted sent what is not valid.
func (s *Session) invalid(why error) error {
	s.server.problem(s.scope(), "the play of tool %s samples with invalid params (wrap them in server.Hostile if that is meant): %v", s.tool.Name, why)
	return fmt.Errorf("%w: %w", ErrInvalid, why)
}

// echoMeta adds the carrying call's _meta to the params, where there is something to add and they are an object that allows it.
// Without anything to add the params stay as they are, byte for byte.
func (s *Session) echoMeta(params json.RawMessage) json.RawMessage {
	echo := map[string]json.RawMessage{}
	for name, value := range s.carrying() {
		if name != "progressToken" && !strings.HasPrefix(name, "io.modelcontextprotocol/") {
			echo[name] = value
		}
	}
	if len(echo) == 0 || s.server.opts.NoMetaEcho {
		return params
	}
	to := objectOf(params)
	own := objectOf(to["_meta"])
	if to == nil || to["_meta"] != nil && own == nil { // wrong on purpose, or ErrInvalid will say so
		return params
	}
	maps.Copy(echo, own)
	to["_meta"] = mustEncode(echo)
	return mustEncode(to)
}

// Send writes a frame onto the stream of the call, byte for byte: whatever it is, the trace says that it was meant. Over HTTP line ends
// reach the client as "\n", of whatever kind they are, for such is SSE, and in the second era the call is then answered by a stream; over
// a connection the frame goes out as it is, line ends and all, with one more behind it. It returns ErrNoStream where the client has
// hung up; over a connection that is when this has ended, for a call that was given up leaves it as it is.
func (s *Session) Send(frame []byte) error {
	return s.carrier.send(s.ctx, bytes.Clone(frame), true) // the trace keeps what it is given
}

// Progress sends notifications/progress for the call, where the client asked for it with a progress token, and does
// nothing where it did not. A total of 0 is left out. It must rise from call to call (2025-11-25, basic/utilities/progress).
// It returns ErrNoStream where the client has hung up or, with [JSON] responses, has no GET stream open, and ErrInvalid for
// numbers that are none.
func (s *Session) Progress(progress, total float64) error {
	if !s.WantsProgress() {
		return nil
	}
	token := s.carrying()["progressToken"]
	params, err := encode(struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
	}{token, progress, total})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return s.carrier.send(ended, requestFrame(nil, "notifications/progress", params), false)
}

// ended is a context that has ended, for what does not wait.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// Input is an InputRequiredResult in the making.
type Input struct {
	// Requests are the input requests by key, each anything that marshals to {"method": …, "params": …}; nil leaves
	// inputRequests out.
	Requests map[string]any
	// State is the requestState; nil leaves it out, and the retry is then known by its keys.
	State *string
}

// Retry is what the client's retry brought.
type Retry struct {
	// Responses are the inputResponses by key; nil when the retry had none.
	Responses map[string]json.RawMessage
	// State is the requestState that came back, as JSON; nil when none did.
	State json.RawMessage

	meta object
}

// InputRequired answers the pending request with an InputRequiredResult, whatever it holds, and returns the retry. Where it is not valid,
// or asks for what the client has not declared, the trace says that it was meant. It is for plays about MRTR itself (2026-07-28, basic/patterns/mrtr); in the first era it returns ErrEra. When no retry comes it returns, with an
// error that [Refused] knows, as the server is closed.
func (s *Session) InputRequired(in Input) (*Retry, error) { return s.carrier.inputRequired(in) }

// run plays the play to its end, however that comes, and hands on the result of the call, with the play's error.
func (s *Session) run(answer func(CallToolResult, error)) {
	s.Mark(trace.MarkHandlerStarted, "")
	var value any
	err, returned := errors.New("the play did not return: it called runtime.Goexit, as t.FailNow does"), false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the play panicked: %v", p)
		}
		note := ""
		if err != nil {
			note = err.Error()
		}
		if !returned {
			s.server.problem(s.scope(), "tool %s: %s", s.tool.Name, note)
		}
		s.Mark(trace.MarkHandlerEnded, note)
		result := callResult(value, err)
		result.raw = s.onOneLine(result.raw)
		answer(result, err)
	}()
	value, err = s.tool.Handler(s)
	returned = true
}

// validFrame holds a result of ours against the schema before it is sent; a mistake of ours is never to pass for the client's.
func (s *Server) validFrame(of scope, revision Revision, name schema.Name, raw []byte) {
	if err := schema.Validate(string(revision), name, raw); err != nil {
		s.problem(of, "the server's own %s is not valid in %s: %v", name, revision, err)
	}
}
