package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// outcome is an answer and its delivery.
type outcome struct {
	dialect.Answer
	delivery delivery
	pace     Pace
	gate     *Gate // may be nil
}

// serve reads a request, records it in journal and trace, and answers it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == JournalPath && s.foreign(r) == "" && s.hasKey(r) {
		s.serveJournal(w, r)
		return
	}
	x := &Exchange{Method: r.Method, Path: r.URL.Path, Header: r.Header, url: r.URL}
	var refusal dialect.Answer
	to, routingError := s.find(r)
	body, err := s.readBody(w, r)
	x.Body = body
	tooLarge := err != nil && errors.As(err, new(*http.MaxBytesError))
	var req *Request
	if routingError != nil {
		refusal = routingError.answer()
		triesWebSocket := strings.EqualFold(r.Header.Get("Upgrade"), "websocket") // before it falls back to HTTP
		if !triesWebSocket || routingError.status != http.StatusMethodNotAllowed {
			x.Refused = routingError.text
		}
	} else {
		x.Dialect, x.SideRequest = to.Name(), to.side != nil
		var refused *Error
		if req, refused = s.read(to, r, x, tooLarge); refused != nil {
			x.Refused, refusal = refused.Message, to.EncodeError(refused.At(r.URL))
		}
	}
	s.open(x)
	switch {
	case err != nil && !tooLarge:
		s.end(x, dialect.Answer{}, hungUp)
		panic(http.ErrAbortHandler) // nobody waits for an answer
	case routingError != nil || x.Refused != "":
		s.send(w, r, x, outcome{Answer: refusal})
	case x.SideRequest:
		s.send(w, r, x, outcome{Answer: to.side.AnswerSideRequest(r, body)})
	default:
		s.send(w, r, x, s.decide(to.Codec, x, req))
	}
}

// readBody reads the body, with one allocation if its length is known. It keeps nothing of one that is too large.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	bounded := http.MaxBytesReader(w, r.Body, s.options.MaxBody)
	if r.ContentLength > s.options.MaxBody {
		_, err := io.Copy(io.Discard, bounded) // as much as a server takes before it refuses
		return nil, err
	}
	if r.ContentLength < 0 {
		body, err := io.ReadAll(bounded)
		if errors.As(err, new(*http.MaxBytesError)) {
			body = nil // nobody reads the beginning, and the trace would keep it
		}
		return body, err
	}
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, body)
	return body[:n:n], err
}

// read decodes and checks a request and finds its owner, even if it is refused.
func (s *Server) read(to target, r *http.Request, x *Exchange, tooLarge bool) (*Request, *Error) {
	s.mu.Lock()
	marks := s.marks // append-only
	s.mu.Unlock()
	req, refused := s.decode(to, r, x, tooLarge)
	switch {
	case len(marks) == 0 && s.agent == nil:
	case req != nil:
		s.attribute(x, req, marks)
	default:
		x.Marks = marksIn(marks, string(x.Body))
		x.Owner = single(x.Marks)
	}
	if req == nil || s.options.Lenient {
		return req, refused
	}
	return req, to.Check(req)
}

// attribute finds the owner of a request.
func (s *Server) attribute(x *Exchange, req *Request, marks []string) {
	x.Owner, x.Marks = owner(req, marks)
	if s.agent == nil {
		return
	}
	if x.Host = s.agent.host(req, marks); x.Host {
		x.Owner = ""
	}
}

// decode decodes a request. A side request gives nil.
func (s *Server) decode(to target, r *http.Request, x *Exchange, tooLarge bool) (*Request, *Error) {
	if !s.hasKey(r) {
		return nil, &Error{Status: http.StatusUnauthorized, Message: noKey}
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, &Error{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf(
			"the body has the content encoding %q, which the scripted model does not undo: send it without one", encoding)}
	}
	if tooLarge {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf(
			"the body is larger than the scripted model's limit of %d bytes", s.options.MaxBody)}
	}
	if x.SideRequest {
		return nil, nil
	}
	body, refused := s.complete(to.Codec, x)
	if refused != nil && !s.options.Lenient {
		return nil, refused
	}
	if refused != nil {
		body = x.Body
	}
	req, refused := to.Decode(r, body)
	if refused != nil {
		return nil, refused
	}
	x.codec = to.Codec
	return req, nil
}

// decide returns the answer of the source or of the owner's rules.
func (s *Server) decide(codec dialect.Codec, x *Exchange, req *Request) outcome {
	if s.agent != nil && x.Owner == "" {
		return outcome{Answer: codec.Encode(req, s.agent.reply(req)), pace: s.options.Pace}
	}
	if s.options.Source != nil {
		answer, err := s.options.Source.Answer(req)
		if err == nil && (answer.Status < 200 || answer.Status > 599) {
			err = fmt.Errorf("the source answered with the status %d: expected one from 200 to 599", answer.Status)
		}
		if err != nil {
			return s.miss(codec, x, err)
		}
		return outcome{Answer: answer, pace: s.options.Pace}
	}
	s.mu.Lock()
	script := s.scripts[x.Owner]
	s.mu.Unlock()
	rule, err := script.choose(req)
	if err != nil {
		return s.miss(codec, x, err)
	}
	o := outcome{delivery: rule.delivery, pace: s.options.Pace}
	if rule.pace != nil {
		o.pace = *rule.pace
	}
	s.mu.Lock()
	x.Rule, x.Fault = rule.label, rule.delivery.names
	s.mu.Unlock()
	reply := rule.reply
	if rule.fail != nil {
		o.Answer = codec.EncodeError(rule.fail.At(x.url))
	} else {
		o.gate = rule.gate
		if rule.content != nil {
			reply.Content = rule.content(req)
		}
		reply.Serial = script.serial.Add(1)
		o.Answer = codec.Encode(req, &reply)
		s.keep(codec, req, o.Answer)
	}
	if o.delivery.cut.ending != whole {
		o.cutShort(codec, x, req, &reply)
	}
	rule.addHeaders(codec, &o.Answer)
	o.spreadOut()
	return o
}

// miss answers with 404: SDKs retry server errors, which would take seconds.
func (s *Server) miss(codec dialect.Codec, x *Exchange, why error) outcome {
	s.mu.Lock()
	x.Miss = why.Error()
	if x.dropped {
		s.journal.misses++
	}
	s.mu.Unlock()
	e := &Error{
		Status:  http.StatusNotFound,
		Code:    "no_rule_matches",
		Message: why.Error(),
		Header:  http.Header{"X-Should-Retry": {"false"}},
	}
	return outcome{Answer: codec.EncodeError(e.At(x.url))}
}

// open records the start of an exchange in journal and trace. The journal numbers it.
func (s *Server) open(x *Exchange) {
	s.mu.Lock()
	s.journal.open(x, s.options.MaxExchanges, s.options.MaxJournal)
	s.mu.Unlock()
	if s.options.Record != nil {
		s.record(x, trace.Event{Request: &trace.ModelRequest{
			Exchange: x.Number, Dialect: x.Dialect, SideRequest: x.SideRequest, Host: x.Host, Method: x.Method, Path: x.Path,
			Header: trace.SelectHeader(x.Header, s.options.planted), Body: x.Body,
		}})
	}
}

// endReason says how an exchange ended.
type endReason int

const (
	completed endReason = iota
	hungUp              // by the caller
	closed              // by Close
)

// end records the end of an exchange. A second call corrects the first: the last chunk could not be written.
func (s *Server) end(x *Exchange, a dialect.Answer, h endReason) {
	s.mu.Lock()
	s.journal.end(x, a.Status, h)
	s.mu.Unlock()
	if s.options.Record != nil {
		s.record(x, trace.Event{End: &trace.ModelEnd{
			Exchange: x.Number, Status: a.Status, Stream: a.Stream, HungUp: h == hungUp, Closed: h == closed,
			Fault: x.Fault, Unmatched: x.Miss, Refused: x.Refused, RefusedFor: dialects.RefusedFor(x.Refused), Host: x.Host,
		}})
	}
}

// record records an event. Callers first test Options.Record, to avoid building events in vain.
func (s *Server) record(x *Exchange, e trace.Event) {
	e.Case = x.Owner
	s.options.Record(e)
}
