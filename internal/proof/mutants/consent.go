package mutants

import (
	"fmt"
	"regexp"

	"github.com/mcp-conform/mcp-conform/harness"
)

var consentEdits = edits{
	"overrules-the-person": overrules(harness.Decline, nil),
	"asks-ahead-of-the-person": overrules(harness.Decline, func(w *Wire, s *Sample) {
		if w.Serves(s.Asked) {
			s.Refuse(codeDeclined, "the user declined the request")
		}
	}),
	"refusal-as-internal-error": answered(func(s *Sample) {
		if isDeclined(s) && s.Wire.Env.Decision == harness.Decline {
			s.Refuse(codeInternal, "broken on purpose: another code")
		}
	}),
	"makes-up-refusals": asked(func(s *Sample) {
		if s.Wire.Env.Decision == harness.Decline && s.Wire.Serves(s.Asked) {
			s.Answer(object{"role": "assistant", "content": textBlock("The user declined this request."),
				"model": "none", "stopReason": "endTurn"})
		}
	}),
	"retries-without-input": insteadOfDeclining(func(s *Sample) { s.Withhold() }),
	"error-as-input": insteadOfDeclining(func(s *Sample) {
		s.Answer(object{"error": object{"code": codeDeclined, "message": "the user declined"}})
	}),
	"delivers-unseen": overrules(harness.DeclineAnswer, nil),
	"tells-what-was-refused": overrules(harness.DeclineAnswer, func(_ *Wire, s *Sample) {
		if s.Result != nil {
			s.Refuse(codeDeclined, "the user declined this answer: "+said(s.Result))
		}
	}),
	"dies-when-declined": func(w *Wire) Edit {
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
	},
	"limits-bursts": refuses(isBeyondNine),
	"leaves-out-of-bursts": asked(func(s *Sample) {
		if isBeyondNine(s) {
			s.Withhold()
		}
	}),
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
	eachBlock("text", func(b object) { over = over || manyth.MatchString(text(b, "text")) })(s.Asked)
	return over
}
