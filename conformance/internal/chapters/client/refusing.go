package client

import (
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

const (
	// fewestRefusals is how many plain questions a client must refuse with the same error to be one that refuses most.
	fewestRefusals = 20
	// refusalsPerResult is how many it must refuse for each result.
	refusalsPerResult = 4
)

// refusal is a question that the client refused.
type refusal struct {
	ev *evidence.Case
	r  *evidence.Round
}

// questions are what a client makes of plain questions.
type questions struct {
	n, results int
	answers    bool // it answers something with a result
	refused    map[string][]refusal
}

// add adds the questions of a case, but for those for which the model failed.
func (q *questions) add(ev *evidence.Case) {
	for _, r := range ev.Rounds {
		q.answers = q.answers || r.Result() != nil
		if !isQuestion(r) || len(r.Answers) == 0 || len(r.Model) > 0 && !r.AnsweredWhole() {
			continue
		}
		q.n++
		if e := r.Answers[0].Err; e == nil {
			q.results++
		} else {
			q.refused[e.Message] = append(q.refused[e.Message], refusal{ev, r})
		}
	}
}

// refusesMost is the verdict for a client that refuses nearly every plain question with the same error: one cause for
// all that is missing then. It is nil for any other client, and for one that says that it limits the requests.
func refusesMost(sessions []*evidence.Session) *check.Verdict {
	all := questions{refused: map[string][]refusal{}}
	for _, s := range sessions {
		if excused(s) || !mayAnswer(s) {
			continue
		}
		for _, c := range s.Trace.Header.Cases {
			if check.Limited(s.Case(c.ID)) != nil {
				return nil
			}
			all.add(s.Case(c.ID))
		}
	}
	var most []refusal
	for _, said := range slices.Sorted(maps.Keys(all.refused)) {
		if len(all.refused[said]) > len(most) {
			most = all.refused[said]
		}
	}
	if !all.answers || len(most) < max(fewestRefusals, all.results*refusalsPerResult) {
		return nil
	}
	ev, r := most[0].ev, most[0].r
	v := check.Fail("expected results for plain questions, found the same error for %d of %d%s", len(most), all.n,
		ev.WhyNoResult(r.N)).At(r.Answers[0].Place).In(ev.Case.ID).
		Because("the client asks more of a request than the specification does, or its sampling handler fails",
			"Serve a request that has only messages and maxTokens. All other members are optional.")
	return &v
}

// isQuestion reports whether a request is valid, and only has texts.
func isQuestion(r *evidence.Round) bool {
	hasOther := func(m dialect.Message) bool { return len(evidence.Only(m.Content, dialect.Text)) < len(m.Content) }
	return r.IsValid() && len(r.Params.Tools) == 0 && !slices.ContainsFunc(r.Params.Messages, hasOther)
}
