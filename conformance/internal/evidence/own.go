package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Host reports whether the client is a host with a model of its own.
func (s *Session) Host() bool { return s.Trace.Header.PromptMark != "" }

// OwnRequest is a request to the model that belongs to no case.
type OwnRequest struct {
	Place
	Request  *trace.ModelRequest
	exchange *Exchange
}

// addOwnRequest adds a request to the model without a case. Side requests and unknown addresses ask the model nothing.
func (s *Session) addOwnRequest(e *trace.Event) {
	switch {
	case e.Request != nil && !e.Request.SideRequest && e.Request.Dialect != "":
		p := Place{e.Ref(), "", "a model request without a mark"}
		if !e.Request.Host {
			s.Unmarked = append(s.Unmarked, p)
		}
		s.Own = append(s.Own, &OwnRequest{p, e.Request, s.exchange(e)})
	case e.Chunk != nil:
		for _, own := range s.Own {
			if own.Request.Exchange == e.Chunk.Exchange {
				own.exchange.Answer = append(own.exchange.Answer, e.Chunk.Data...)
			}
		}
	case e.End != nil:
		for _, own := range s.Own {
			if own.Request.Exchange == e.End.Exchange {
				own.exchange.End = *e.End
			}
		}
	}
}

// HostTurns returns the turns of a host's own conversation, in order: its requests with tools, and the replies. Others,
// such as one for a title, are not among them.
func (s *Session) HostTurns() []*Exchange {
	var turns []*Exchange
	for _, own := range s.Own {
		x := own.exchange
		if own.Request.Host && x.Request != nil &&
			(len(x.Request.Tools) > 0 || len(BlocksOf(x.Request.Messages, dialect.ToolUse)) > 0) {
			x.Label = fmt.Sprintf("the host's model request %d", len(turns)+1)
			turns = append(turns, x)
		}
	}
	return turns
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
	if req := r.exchange.Request; req != nil {
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
	}
	return names
}

// Uses returns the name of the tool that the model used in its answer; "" for none.
func (r *OwnRequest) Uses() string {
	if uses := r.exchange.Calls(); len(uses) > 0 {
		return uses[0].Name
	}
	return ""
}

// LastResult returns the text of the last tool result in the request; "" for none.
func (r *OwnRequest) LastResult() string {
	if r.exchange.Request == nil {
		return ""
	}
	results := r.exchange.Request.ToolResults()
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
