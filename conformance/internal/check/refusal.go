package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Refusal is what a case expects if the client must refuse one of its requests: the Expect of its [harness.Case]. A
// client refuses with an error response or, in 2026-07-28, by not retrying the call. [Refused], [RefusedWithCode],
// [HasCode], [CostsNoModelCall] and [Alive] judge such cases.
type Refusal struct {
	// What names the request, such as "a history in which a tool use has two results".
	What string
	// Path locates what is wrong in the params; "" for the params.
	Path string
	// Index is that of the request among those of the case, from 0.
	Index int
	// Codes are the right error codes; nil for any. If Reserved, those of JSON-RPC and -1 are right too, as the user may
	// have declined.
	Codes    []int
	Reserved bool
	// RefusesAll: the client has to refuse every request of its session. Of any other client that does, nothing shows
	// that it refuses this one.
	RefusesAll bool
	// Private: no request to the model may be made. Otherwise one that the model refuses does no harm.
	Private bool
	// MayBeEmpty: in 2026-07-28, an input response without content is a refusal too.
	MayBeEmpty bool
	// Unanswered is the check that judges a missing error response; "" if Refused does.
	Unanswered string
}

// Refused judges that the client refused the request, with any code.
func Refused(e *evidence.Case) Verdict { return Expected[Refusal](e).judge(e, nil) }

// RefusedWithCode is [Refused], and warns of another code.
func RefusedWithCode(e *evidence.Case) Verdict { return Expected[Refusal](e).judge(e, Warn) }

// HasCode judges the code of the error with which the client refused the request.
func HasCode(e *evidence.Case) Verdict {
	f := Expected[Refusal](e)
	r := e.Rounds[f.Index]
	if len(r.Answers) == 0 || r.Answers[0].Err == nil {
		return NotApplicable("the client did not refuse the request with an error")
	}
	return f.judgeCode(e, r, Fail)
}

// judge judges the response. Wrong makes the verdict on a wrong code; nil accepts all codes.
func (f Refusal) judge(e *evidence.Case, wrong func(string, ...any) Verdict) Verdict {
	switch r := e.Rounds[f.Index]; {
	case r.Result() != nil:
		return f.answered(e, r)
	case r.CassetteMiss() != "":
		return NotObserved("the model had no answer for sampling request %d", r.N)
	case len(r.Answers) == 0 && !e.Revision.Modern() && f.Unanswered != "":
		return NotObserved("the request got no response %s", evidence.See(f.Unanswered)).At(r.Asked)
	case len(r.Answers) == 0 && !e.Revision.Modern():
		return f.Show(Fail("expected an error for %s, found no response%s", f.What, e.WhySilent(r.Asked.Ref)).
			For(evidence.NoResponse), r)
	case !f.RefusesAll && !e.Session.AnswersAny():
		return AnswersNothing(e, r.N)
	case len(r.Answers) == 0:
		return UnsettledSince(e, r.Asked).
			Or(Pass("the client refused %s: it did not retry the call", f.What).At(r.Asked.At(f.Path)))
	case wrong == nil:
		return f.withCode(r)
	default:
		return f.judgeCode(e, r, wrong)
	}
}

func (f Refusal) answered(e *evidence.Case, r *evidence.Round) Verdict {
	found := "a result"
	if evidence.IsNoAnswer(r.Result()) {
		found = "a result without content"
		if e.Revision.Modern() && f.MayBeEmpty {
			return Pass("the client refused %s with an input response without content", f.What).ShowResult(r.Result())
		}
	}
	return f.Show(Fail("expected a refusal of %s, found %s", f.What, found), r).ShowResult(r.Result())
}

// judgeCode judges the code of an error response.
func (f Refusal) judgeCode(e *evidence.Case, r *evidence.Round, wrong func(string, ...any) Verdict) Verdict {
	a := r.Answers[0]
	code := a.Err.Code
	reserved := code >= -32768 && code <= -32000 || code == evidence.CodeDeclined
	if slices.Contains(f.Codes, code) || f.Reserved && reserved || e.Session.RefusesMedia(r, code) {
		return f.withCode(r)
	}
	var written jsonvalue.Object // the code may be of another type
	_ = json.Unmarshal(a.RawErr, &written)
	found := OrMissing(written["code"])
	if x := r.LastExchange(); x != nil && x.End.Refused != "" {
		found += ", after the model refused it"
	}
	var right []string
	for _, c := range f.Codes {
		right = append(right, strconv.Itoa(c))
	}
	return f.Show(wrong("expected the error code %s for %s, found %s", strings.Join(right, " or "), f.What, found), r).
		ShowJSON(a.At("code"), a.RawErr)
}

func (f Refusal) withCode(r *evidence.Round) Verdict {
	a := r.Answers[0]
	return Pass("the client refused %s: error code %d", f.What, a.Err.Code).ShowJSON(a.Place, a.RawErr)
}

// Show adds what is wrong in the request, and what the model received.
func (f Refusal) Show(v Verdict, r *evidence.Round) Verdict {
	sent := r.Raw
	var line bytes.Buffer
	if json.Compact(&line, sent) == nil {
		if start, end, found := jsonvalue.Locate(line.Bytes(), f.Path); found {
			sent = line.Bytes()[start:end]
		}
	}
	v = v.ShowAs("server sent", r.Asked.At(f.Path), "%s", evidence.Compact(sent))
	x := r.LastExchange()
	if x == nil || x.Request == nil {
		return v
	}
	var blocks []dialect.Block
	for _, m := range x.Request.Messages {
		blocks = append(blocks, m.Content...)
	}
	received := evidence.Describe(blocks)
	if x.End.Refused != "" {
		received += "\nthe model refused it: " + x.End.Refused
	}
	return v.ShowAs("model received", x.At("messages"), "%s", received)
}

// CostsNoModelCall judges that no call of the model was completed for the request.
func CostsNoModelCall(e *evidence.Case) Verdict {
	f := Expected[Refusal](e)
	r := e.Rounds[f.Index]
	completed := r.CompletedCalls()
	switch {
	case f.Private && len(r.Model) > 0:
		return Fail("expected no request to the model for %s, found one", f.What).At(r.Asked, r.Model[0].Place)
	case len(completed) > 0:
		v := Fail("expected no model call for %s, found one", f.What).At(r.Asked.At(f.Path))
		if completed[0].Request == nil {
			return v.At(completed[0].Place)
		}
		return v.ShowJSON(completed[0].Place, completed[0].Request.Body)
	}
	if v := Unmarked(e, r); v != nil {
		return *v
	}
	why := "no call of the model was completed"
	if len(r.Model) > 0 {
		why = "the model refused the client's request"
	}
	return UnsettledAfter(e.Session, r.Asked, why+", but a model call could still have come").
		Or(Pass("%s", why)).At(r.Asked)
}

// Alive judges that the client went on after the request.
func Alive(e *evidence.Case) Verdict {
	f, s := Expected[Refusal](e), e.Session
	r := e.Rounds[f.Index]
	switch {
	case s.ServedLater(s.Order[r.Asked.Ref]):
		return Pass("the client went on")
	case s.Ended != nil && s.Ended.Clean():
		return UnsettledAfter(s, r.Asked, "the client may not have gone on").At(r.Asked)
	}
	return Fail("expected the client to continue after %s: %s", f.What, s.Ending()).ShowJSON(r.Asked, r.Raw).ShowOutput(s)
}
