package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// serve reads a request, puts it into journal and trace, and answers it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{Method: r.Method, Path: r.URL.Path, Header: r.Header}
	var refusal dialect.Answer
	codec, misdirected := s.find(r)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody))
	x.Body = body
	tooLarge := errors.As(err, new(*http.MaxBytesError))
	if misdirected != nil {
		x.Refused, refusal = misdirected.text, misdirected.answer()
	} else {
		x.Dialect = codec.Name()
		if refused := s.read(codec, r, x, tooLarge); refused != nil {
			x.Refused, refusal = refused.Message, codec.EncodeError(refused)
		}
	}
	s.open(x)
	switch {
	case err != nil && !tooLarge:
		s.end(x, dialect.Answer{}, true)
		panic(http.ErrAbortHandler) // there is nobody left to answer
	case x.Refused != "":
		s.send(w, r, x, refusal)
	default:
		s.send(w, r, x, s.decide(codec, x))
	}
}

// read decodes and checks a request, and finds its owner: also of one that is refused, which is evidence all the same.
func (s *Server) read(codec dialect.Codec, r *http.Request, x *Exchange, tooLarge bool) *Error {
	s.mu.Lock()
	marks := s.marks // only ever appended to
	s.mu.Unlock()
	x.Marks = found(string(x.Body), marks)
	x.Owner = only(x.Marks)
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return &Error{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf(
			"the body has the content encoding %q, which the scripted model does not undo: send it without one", encoding)}
	}
	if tooLarge {
		return &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf(
			"the body is larger than the scripted model's limit of %d bytes", s.options.MaxBody)}
	}
	req, refused := codec.Decode(r, x.Body)
	if refused != nil {
		return refused
	}
	x.Request = req
	x.Owner, x.Marks = owner(req, marks)
	if s.options.Lenient {
		return nil
	}
	return codec.Check(req)
}

// decide finds the answer of the source, or of the owner's rules.
func (s *Server) decide(codec dialect.Codec, x *Exchange) dialect.Answer {
	if s.options.Source != nil {
		answer, err := s.options.Source.Answer(x.Request)
		if err == nil && (answer.Status < 200 || answer.Status > 599) {
			err = fmt.Errorf("the source answered with the status %d: want one from 200 to 599", answer.Status)
		}
		if err != nil {
			return s.miss(codec, x, err)
		}
		return answer
	}
	s.mu.Lock()
	owned := s.scripts[x.Owner]
	s.mu.Unlock()
	rule, err := owned.choose(x.Request)
	if err != nil {
		return s.miss(codec, x, err)
	}
	s.mu.Lock()
	x.Rule = fmt.Sprintf("%v of %s", rule, owned.name)
	s.mu.Unlock()
	if rule.fail != nil {
		return codec.EncodeError(rule.fail)
	}
	reply := rule.reply
	reply.Serial = owned.serial.Add(1)
	return codec.Encode(x.Request, &reply)
}

// miss is a 404: the SDKs try again after errors of the server, and each miss would cost seconds.
func (s *Server) miss(codec dialect.Codec, x *Exchange, why error) dialect.Answer {
	s.mu.Lock()
	x.Miss = why.Error()
	s.mu.Unlock()
	return codec.EncodeError(&Error{Status: http.StatusNotFound, Message: why.Error(), Header: http.Header{"X-Should-Retry": {"false"}}})
}

// send writes the answer, a chunk of a stream at a time. Chunks, and before the last of them the end, are recorded before they
// are written: what the caller does about the answer then comes after it in the trace, in every run.
func (s *Server) send(w http.ResponseWriter, r *http.Request, x *Exchange, a dialect.Answer) {
	for name, values := range a.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if !a.Stream {
		length := 0
		for _, chunk := range a.Chunks {
			length += len(chunk)
		}
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	w.WriteHeader(a.Status)
	if len(a.Chunks) == 0 {
		s.end(x, a, false)
	}
	for i, chunk := range a.Chunks {
		if r.Context().Err() != nil {
			if i == 0 {
				a.Status = 0 // the header was still to be sent
			}
			s.end(x, a, true)
			return
		}
		s.record(x, trace.Event{Chunk: &trace.ModelChunk{Exchange: x.Number, Data: chunk}})
		if i == len(a.Chunks)-1 {
			s.end(x, a, false)
		}
		_, err := w.Write(chunk)
		if err == nil && a.Stream {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			s.end(x, a, true)
			return
		}
	}
}

// open enters an exchange into the journal, which numbers it, and into the trace.
func (s *Server) open(x *Exchange) {
	s.mu.Lock()
	s.journal = append(s.journal, x)
	x.Number, x.Began = int64(len(s.journal)), time.Now()
	s.mu.Unlock()
	s.record(x, trace.Event{Request: &trace.ModelRequest{
		Exchange: x.Number, Dialect: x.Dialect, Method: x.Method, Path: x.Path,
		Header: trace.SelectHeader(x.Header, s.options.Key), Body: x.Body,
	}})
}

// end enters the end. A second one corrects the first: the last chunk could not be written after all.
func (s *Server) end(x *Exchange, a dialect.Answer, hungUp bool) {
	s.mu.Lock()
	x.Status, x.HungUp, x.Ended = a.Status, hungUp, time.Now()
	s.mu.Unlock()
	s.record(x, trace.Event{End: &trace.ModelEnd{
		Exchange: x.Number, Status: a.Status, Stream: a.Stream, HungUp: hungUp, Miss: x.Miss, Refused: x.Refused,
	}})
}

func (s *Server) record(x *Exchange, e trace.Event) {
	if s.options.Record != nil {
		e.Case = x.Owner
		s.options.Record(e)
	}
}
