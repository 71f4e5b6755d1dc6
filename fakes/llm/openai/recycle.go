package openai

import (
	"net/http"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// requests holds the memory of finished requests. A [dialect.Request] does not point into it.
var requests = sync.Pool{New: func() any {
	return &request{Members: make(dialect.Members, 0, 16), messages: make([]message, 0, 16), tools: make([]tool, 0, 8)}
}}

// scratch is the memory of a finished answer. Taking a part removes it. The zero value is empty.
type scratch struct {
	header http.Header
	body   []byte
}

// takeHeader returns an empty header, takeBody an empty body with that capacity.
func (s *scratch) takeHeader() http.Header {
	h := s.header
	if s.header = nil; h == nil {
		h = make(http.Header, headers)
	}
	return h
}

func (s *scratch) takeBody(size int) []byte {
	b := s.body
	if s.body = nil; cap(b) < size {
		b = make([]byte, 0, size)
	}
	return b[:0]
}

// maxKeptBody limits the answer memory that is kept, in bytes; maxKeptMessages limits the conversations, in messages.
const (
	maxKeptBody     = 16 << 10
	maxKeptMessages = 256
)

// Recycle implements [dialect.Recycler].
func (chat) Recycle(req *dialect.Request, a dialect.Answer) {
	q, ok := req.Decoded.(*request)
	if !ok {
		return
	}
	req.Decoded = nil
	if cap(q.messages) > maxKeptMessages {
		return
	}
	clear(q.Members)
	clear(q.messages)
	clear(q.tools)
	empty := request{Members: q.Members[:0], messages: q.messages[:0], tools: q.tools[:0]}
	clear(a.Header)
	empty.answered.header = a.Header
	if len(a.Chunks) == 1 && cap(a.Chunks[0]) <= maxKeptBody {
		empty.answered.body = a.Chunks[0]
	}
	*q = empty
	requests.Put(q)
}
