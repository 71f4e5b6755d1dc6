package check

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// NotReached is the verdict for a case that ended before a step of the server.
func NotReached(e *evidence.Case, step string) Verdict {
	return NotObserved("the case ended before %s%s", step, e.WhySilent(e.FirstCall))
}

// Unanswered returns nil if the client responded to a request of the server, and otherwise the verdict.
func Unanswered(e *evidence.Case, r *evidence.ServerRequest) *Verdict {
	if r.Response != nil {
		return nil
	}
	if v := Survived(e, r.Place, "the client did not continue after "+r.Method); v != nil {
		return v
	}
	return Unless(false, Missing("expected a response to %s, found none%s", r.Method, e.WhySilent(r.Ref)).At(r.Place))
}

// ShowRequest adds a request of the server, and the response to it, if there is one.
func (v Verdict) ShowRequest(r *evidence.ServerRequest) Verdict {
	if v = v.At(r.Place); r.Response != nil {
		v = v.ShowJSON(r.Response.Place, r.Response.Body())
	}
	return v
}

// NotRefused returns nil if the client responded to a request with the error -32602, and otherwise the verdict. What
// describes the invalid params.
func NotRefused(e *evidence.Case, r *evidence.ServerRequest, what string) *Verdict {
	if v := Unanswered(e, r); v != nil {
		return v
	}
	return Unless(r.Response.Err != nil && r.Response.Err.Code == evidence.CodeInvalidParams,
		Fail("expected the error -32602 for %s of %s, found %s", r.Method, what, r.Response.Outcome()).ShowRequest(r))
}

// ShowTask adds a state of a task to a verdict.
func (v Verdict) ShowTask(s *evidence.TaskState) Verdict {
	return v.ShowJSON(s.Place, jsonvalue.Marshal(s.Object))
}
