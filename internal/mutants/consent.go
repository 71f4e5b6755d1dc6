package mutants

import (
	"fmt"
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var in20251125 = []server.Revision{server.V20251125}

var consentMutants = []Mutant{
	{Name: "overrules-the-person", Wire: true, Doc: "asks the model although the user declined the request",
		Kills: []string{"consent/declined", "consent/no-model-call"}, edit: overrules(harness.Decline, nil)},
	{Name: "asks-ahead-of-the-person", Wire: true, Doc: "asks the model before the user has decided",
		Kills: []string{"consent/no-model-call"}, edit: overrules(harness.Decline, func(w *Wire, s *Sample) {
			if w.Serves(s.Asked) {
				s.Refuse(codeDeclined, "the user declined the request")
			}
		})},
	{Name: "refusal-as-internal-error", Wire: true, Doc: "uses the code of internal errors if the user declines",
		Kills: []string{"consent/declined-code"}, In: in20251125, edit: func(w *Wire) Edit {
			return Edit{Answered: func(s *Sample) {
				if isDeclined(s) && w.Env.Decision == harness.Decline {
					s.Refuse(codeInternal, "broken on purpose: another code")
				}
			}}
		}},
	{Name: "makes-up-refusals", Wire: true, Doc: "answers in place of the model that the user declined",
		Kills: []string{"consent/declined", "consent/no-made-up-answer"}, edit: func(w *Wire) Edit {
			return Edit{Asked: func(s *Sample) {
				if w.Env.Decision == harness.Decline && w.Serves(s.Asked) {
					s.Answer(map[string]any{"role": "assistant", "content": textBlock("The user declined this request."),
						"model": "none", "stopReason": "endTurn"})
				}
			}}
		}},
	{Name: "retries-without-input", Wire: true, Doc: "retries the call without the input that the user declined",
		Kills: []string{"consent/declined-mrtr"}, Era: "modern",
		edit: insteadOfDeclining(func(s *Sample) { s.Withhold() })},
	{Name: "error-as-input", Wire: true, Doc: "retries the call with an error in place of the input",
		Kills: []string{"consent/no-made-up-answer"}, Also: []string{"consent/declined"}, Era: "modern",
		edit: insteadOfDeclining(func(s *Sample) {
			s.Answer(map[string]any{"error": map[string]any{"code": codeDeclined, "message": "the user declined"}})
		})},
	{Name: "delivers-unseen", Wire: true, Doc: "sends the answer to the server before the user has seen it",
		Kills: []string{"consent/declined-after"}, edit: overrules(harness.DeclineAnswer, nil)},
	{Name: "tells-what-was-refused", Wire: true, Doc: "quotes the model's answer in the error when the user declines it",
		Kills: []string{"consent/declined-after"}, In: in20251125,
		edit: overrules(harness.DeclineAnswer, func(_ *Wire, s *Sample) {
			if s.Result != nil {
				s.Refuse(codeDeclined, "the user declined this answer: "+said(s.Result))
			}
		})},
	{Name: "dies-when-declined", Wire: true, Doc: "exits when the user declines", Kills: []string{"consent/alive"},
		Also: []string{"client/ends-cleanly"}, edit: func(w *Wire) Edit {
			return Edit{
				Sent: func(m *Message) {
					if m.Sample != nil && isDeclined(m.Sample) {
						w.Die("the user declined")
					}
				},
				Ended: func(o *harness.Outcome) {
					if o.Ended == harness.InputRequired && w.Env.Decision != "" && w.Env.Decision != harness.Approve {
						w.Die("the user declined")
					}
				},
			}
		}},
	{Name: "limits-bursts", Wire: true, Doc: "refuses all but the first few of many requests",
		Kills: []string{"consent/burst"}, Era: "legacy", edit: refuses(isBeyondNine)},
	{Name: "leaves-out-of-bursts", Wire: true, Era: "modern",
		Doc:   "answers the first few of many input requests and retries without the others",
		Kills: []string{"consent/declined-mrtr", "consent/burst"}, edit: asked(func(s *Sample) {
			if isBeyondNine(s) {
				s.Withhold()
			}
		})},
}

// overrules is a client that acts as if the user had approved what the decision declines. Answered edits what it then
// answers; nil for nothing.
func overrules(decision string, answered func(w *Wire, s *Sample)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		e := Edit{Env: func(env *harness.Env) {
			if env.Decision == decision {
				env.Decision = harness.Approve
			}
		}}
		if answered != nil && w.Env.Decision == decision {
			e.Answered = func(s *Sample) { answered(w, s) }
		}
		return e
	}
}

// insteadOfDeclining edits the input that the user declines, before or after the model is asked.
func insteadOfDeclining(f func(s *Sample)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		switch w.Env.Decision {
		case harness.Decline:
			return Edit{Asked: f}
		case harness.DeclineAnswer:
			return overrules(harness.DeclineAnswer, func(_ *Wire, s *Sample) { f(s) })(w)
		}
		return Edit{}
	}
}

// isDeclined reports whether the client's error says that the user declined (legacy era).
func isDeclined(s *Sample) bool { return fmt.Sprint(s.Error["code"]) == fmt.Sprint(codeDeclined) }

var manyth = regexp.MustCompile(`this is number [1-9][0-9]\.`)

// isBeyondNine reports whether a request is one of many at once, and not among the first nine.
func isBeyondNine(s *Sample) bool {
	over := false
	eachBlock("text", func(b map[string]any) { over = over || manyth.MatchString(text(b, "text")) })(s.Asked)
	return over
}
