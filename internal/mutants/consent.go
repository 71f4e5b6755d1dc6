package mutants

import (
	"fmt"
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var consentMutants = chapter("consent",
	m("overrules-the-person", "asks the model although the user declined the request", "declined no-model-call",
		overrules(harness.Decline, nil), wire),
	m("asks-ahead-of-the-person", "asks the model before the user has decided", "no-model-call",
		overrules(harness.Decline, func(w *Wire, s *Sample) {
			if w.Serves(s.Asked) {
				s.Refuse(codeDeclined, "the user declined the request")
			}
		}), wire),
	m("refusal-as-internal-error", "uses the code of internal errors if the user declines", "declined-code",
		answered(func(s *Sample) {
			if isDeclined(s) && s.Wire.Env.Decision == harness.Decline {
				s.Refuse(codeInternal, "broken on purpose: another code")
			}
		}), wire, during(server.V20251125)),
	m("makes-up-refusals", "answers in place of the model that the user declined", "declined no-made-up-answer",
		asked(func(s *Sample) {
			if s.Wire.Env.Decision == harness.Decline && s.Wire.Serves(s.Asked) {
				s.Answer(object{"role": "assistant", "content": textBlock("The user declined this request."),
					"model": "none", "stopReason": "endTurn"})
			}
		}), wire),
	m("retries-without-input", "retries the call without the input that the user declined", "declined-mrtr",
		insteadOfDeclining(func(s *Sample) { s.Withhold() }), wire, modern),
	m("error-as-input", "retries the call with an error in place of the input", "no-made-up-answer | declined",
		insteadOfDeclining(func(s *Sample) {
			s.Answer(object{"error": object{"code": codeDeclined, "message": "the user declined"}})
		}), wire, modern),
	m("delivers-unseen", "sends the answer to the server before the user has seen it", "declined-after",
		overrules(harness.DeclineAnswer, nil), wire),
	m("tells-what-was-refused", "quotes the model's answer in the error when the user declines it", "declined-after",
		overrules(harness.DeclineAnswer, func(_ *Wire, s *Sample) {
			if s.Result != nil {
				s.Refuse(codeDeclined, "the user declined this answer: "+said(s.Result))
			}
		}), wire, during(server.V20251125)),
	m("dies-when-declined", "exits when the user declines", "alive | client/ends-cleanly", func(w *Wire) Edit {
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
	}, wire),
	m("limits-bursts", "refuses all but the first few of many requests", "burst", refuses(isBeyondNine), wire, legacy),
	m("leaves-out-of-bursts", "answers the first few of many input requests and retries without the others",
		"declined-mrtr burst", asked(func(s *Sample) {
			if isBeyondNine(s) {
				s.Withhold()
			}
		}), wire, modern),
)

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
