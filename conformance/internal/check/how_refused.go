package check

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// HowRefused returns how the client refused a round; "" if it did not. In the first era a client refuses with an error
// response. In 2026-07-28 it sends nothing, which counts only if the client answers other requests and went on: it
// answered a later one, or ended cleanly.
func HowRefused(ev *evidence.Case, r *evidence.Round) string {
	anything := func(*evidence.Round) bool { return true }
	if r.CassetteMiss() != "" || !ev.Session.Answers(anything) { // after a miss, the error that follows is our doing
		return ""
	}
	if len(r.Answers) > 0 && r.Answers[0].Err != nil {
		return fmt.Sprintf("%q (code %d)", evidence.Clip(r.Answers[0].Err.Message), r.Answers[0].Err.Code)
	}
	if ev.Revision.Modern() && len(r.Answers) == 0 && ev.Session.WentOn(r.Asked.Ref) {
		return "it did not fulfil the input request"
	}
	return ""
}

// RefusedBeside returns how the client refused a request because of another one that was open; "" if it did not. A
// client may limit how many it handles at once (2025-11-25, client/sampling#security-considerations).
func RefusedBeside(ev *evidence.Case, r *evidence.Round) string {
	if len(r.Answers) == 0 || r.Answers[0].Err == nil || !tooMany.MatchString(r.Answers[0].Err.Message) {
		return ""
	}
	s := ev.Session
	for _, other := range ev.Rounds {
		if s.Order[other.Asked.Ref] < s.Order[r.Asked.Ref] && s.Order[r.Asked.Ref] < s.AnsweredAt(other) {
			return HowRefused(ev, r)
		}
	}
	return ""
}

// Limited returns the verdict for a case with a request that the client refused because of a limit of its own for the
// requests in a time or a session, or because the model failed before; nil for any other. It did not ask the model. It
// served some before, or had more at once in 2026-07-28, where one refusal ends the call, or it asked the model before.
func Limited(ev *evidence.Case) *Verdict {
	for _, r := range ev.Rounds {
		said := ""
		switch {
		case len(r.Answers) > 0 && r.Answers[0].Err != nil:
			said = r.Answers[0].Err.Message
		case len(r.Answers) > 0 || !ev.Revision.Modern():
		case ev.Outcome == nil:
			said = limitInStderr(ev.Session)
		case ev.Outcome.Error != nil:
			said = ev.Outcome.Error.Message
		}
		before := func(other *evidence.Round) bool {
			return ev.Session.Order[other.Asked.Ref] < ev.Session.Order[r.Asked.Ref]
		}
		served := ev.Session.Answers(before) || ev.Revision.Modern() && r != ev.Rounds[0]
		switch {
		case len(r.Model) > 0:
		case served && tooOften.MatchString(said):
			return Instead(Unsupported("the client limits the requests in a time or a session: %q. Lift its limit for the "+
				"run, as the cases follow each other at once", evidence.Clip(said)))
		case askedBefore(ev.Session, r):
			if v := Pausing(said); v != nil {
				return v
			}
		}
	}
	return nil
}

// Pausing returns the verdict for an error by which a client says that it asks no model for a while; nil for any other.
func Pausing(said string) *Verdict {
	return Unless(!pausing.MatchString(said), Unsupported("the client asks no model for a while: %q. Turn that off for "+
		"the run, as the cases follow each other at once", evidence.Clip(said)))
}

// askedBefore reports whether the client asked a model before the server asked for a sample.
func askedBefore(s *evidence.Session, r *evidence.Round) bool {
	for _, exchanges := range s.Exchanges {
		if slices.ContainsFunc(exchanges, func(x *evidence.Exchange) bool { return x.Began < s.Order[r.Asked.Ref] }) {
			return true
		}
	}
	return false
}

// limitInStderr returns the line in which a client wrote of such a limit to its standard error; "" without one, or if a
// provider's limit may be meant.
func limitInStderr(s *evidence.Session) string {
	for _, exchanges := range s.Exchanges {
		if slices.ContainsFunc(exchanges, func(x *evidence.Exchange) bool {
			return x.End.Status == http.StatusTooManyRequests
		}) {
			return ""
		}
	}
	if s.Ended != nil {
		for line := range strings.Lines(s.Ended.Stderr) {
			if tooOften.MatchString(line) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// RefusalWithTools is [HowRefused] for a client that answers some other request with tools. A client that answers none
// refuses all tools, not this request.
func RefusalWithTools(ev *evidence.Case, r *evidence.Round) string {
	withTools := func(other *evidence.Round) bool { return other.Params != nil && len(other.Params.Tools) > 0 }
	if !ev.Session.Answers(withTools) {
		return ""
	}
	return HowRefused(ev, r)
}
