package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Host reports whether the client is a host with a model of its own.
func (s *Session) Host() bool { return s.Trace.Header.PromptMark != "" }

// OwnRequest is a request to the model that belongs to no case.
type OwnRequest struct {
	Place
	Request *trace.ModelRequest
	answer  []byte
}

// addOwnRequest adds a request to the model without a case. Side requests and unknown addresses ask the model nothing.
func (s *Session) addOwnRequest(e *trace.Event) {
	switch {
	case e.Request != nil && !e.Request.SideRequest && e.Request.Dialect != "":
		p := Place{e.Ref(), "", "a model request without a mark"}
		if !e.Request.Host {
			s.Unmarked = append(s.Unmarked, p)
		}
		s.Own = append(s.Own, &OwnRequest{Place: p, Request: e.Request})
	case e.Chunk != nil:
		for _, own := range s.Own {
			if own.Request.Exchange == e.Chunk.Exchange {
				own.answer = append(own.answer, e.Chunk.Data...)
			}
		}
	}
}

// UnmarkedSince returns the requests in Unmarked after an event.
func (s *Session) UnmarkedSince(after Place) []Place {
	return slices.DeleteFunc(slices.Clone(s.Unmarked), func(p Place) bool { return s.Order[p.Ref] < s.Order[after.Ref] })
}

// Prompted reports whether the request has the prompt.
func (r *OwnRequest) Prompted(s *Session) bool {
	return strings.Contains(string(r.Request.Body), s.Trace.Header.PromptMark)
}

// Tools returns the names of the tools that the request offers.
func (r *OwnRequest) Tools() []string {
	var names []string
	if req, err := llm.Decode(r.Request.Dialect, r.Request.Path, r.Request.Body); err == nil {
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
	}
	return names
}

// Uses returns the name of the tool that the model used in its answer; "" for none.
func (r *OwnRequest) Uses() string {
	reply, err := llm.DecodeReply(r.Request.Dialect, r.answer)
	if err != nil {
		return ""
	}
	for _, b := range reply.Content {
		if b.Type == dialect.ToolUse {
			return b.Name
		}
	}
	return ""
}

// LastResult returns the text of the last tool result in the request; "" for none.
func (r *OwnRequest) LastResult() string {
	req, err := llm.Decode(r.Request.Dialect, r.Request.Path, r.Request.Body)
	if err != nil {
		return ""
	}
	results := dialect.Blocks(req.LastUserTurn(), dialect.ToolResult)
	if len(results) == 0 {
		return ""
	}
	return dialect.PlainText(results[len(results)-1:])
}

// String describes the request: where it went, and the tools that it offers.
func (r *OwnRequest) String() string {
	tools := r.Tools()
	text := fmt.Sprintf("%s %s", r.Request.Method, r.Request.Path)
	const most = 4
	switch {
	case len(tools) > most:
		text += fmt.Sprintf(", %d tools (%s, …)", len(tools), strings.Join(tools[:most], ", "))
	case len(tools) > 0:
		text += fmt.Sprintf(", tools %s", strings.Join(tools, ", "))
	default:
		text += ", no tools"
	}
	return text
}
