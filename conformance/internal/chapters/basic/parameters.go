package basic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Parameters that every provider takes, and a word that is known again among the metadata, whose form is the provider's own affair.
const (
	temperature  = 0.5
	stopSequence = "###END###"
	metadataWord = "conformance-user-seven"
)

// parameterCases ask with parameters: first with those that every provider has, then with metadata, over which a provider may fall out
// with a client that passes them on.
var parameterCases = []harness.Case{{
	ID: "basic/tuned",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Count to three.")
		warmth := temperature
		ask.Temperature, ask.StopSequences = &warmth, []string{stopSequence}
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		ask = s.Ask("Count to four.")
		ask.Metadata = story.Object{"user_id": metadataWord}
		return s.Sample(ask)
	},
	Script: func(string) []*llm.Rule {
		return llm.Script(
			llm.When(llm.LastUser("to three")).Reply(llm.Text("One, two, ")).StopReason(llm.StopStopSequence),
			llm.When().Reply(llm.Text("One, two, three, four.")),
		)
	},
}}

var stopReasonTrue = check.Check{
	ID: "stop-reason-true", Rule: "no standard stop reason is used falsely", Levels: check.Everywhere(report.Robust), Results: 1, Cases: plainly,
	Cause: "the stop reason is a constant, or whatever the provider says for an end becomes endTurn",
	Fix:   "map the provider's reason, length to maxTokens first of all, and leave out what cannot be told",
	Judge: func(e *evidence.Case) check.Verdict {
		due := string(dialect.EndTurn)
		if strings.HasSuffix(e.Case.ID, "/truncated") {
			due = string(dialect.StopMaxTokens)
		}
		a := e.Rounds[0].Result()
		got, given := a.Text("stopReason")
		switch {
		case !given:
			return check.Pass("no stop reason is given, which is allowed")
		case got == due:
			return check.Pass("the stop reason is %s", due).Show(a.At("stopReason"), "%q", got)
		case slices.Contains(evidence.StandardStopReasons, got):
			return check.Fail("the stop reason is %s, and the model stopped for %s", got, due).Show(a.At("stopReason"), "%q", got)
		}
		return check.Pass("the stop reason is the client's own word %q", got).Show(a.At("stopReason"), "%q", got)
	},
}

var stopReason = check.Check{
	ID: "stop-reason", Rule: "what the model's reason to stop becomes", Levels: check.Everywhere(report.May), Results: 1,
	Cases: []string{"question", "truncated", "tuned"},
	Cause: "stop reasons beyond the standard ones are the client's to choose",
	Fix:   "nothing: the client may do as it likes",
	Judge: func(e *evidence.Case) check.Verdict {
		reason := map[string]llm.StopReason{"basic/question": llm.EndTurn, "basic/truncated": llm.StopMaxTokens, "basic/tuned": llm.StopStopSequence}[e.Case.ID]
		a := e.Rounds[0].Result()
		if got, given := a.Text("stopReason"); given {
			return check.Info("where the model stopped for %s, the result says %q", reason, got).Show(a.At("stopReason"), "%q", got)
		}
		return check.Info("where the model stopped for %s, the result gives no reason", reason)
	},
}

var MaxTokens = check.Check{
	ID: "max-tokens", Rule: "the model is asked for no more than maxTokens", Levels: check.Levels(report.Robust, report.Must), Requests: 1, Cases: plainly,
	Statements: []string{"2026-07-28/sampling/18"},
	Cause:      "a default or minimum of the client takes the place of what the server asked for",
	Fix:        "pass maxTokens on, or less",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		asked := r.Params.MaxTokens
		if asked == nil {
			return check.NotObserved("the server asked for no limit")
		}
		switch got := x.Request.MaxTokens; {
		case got == nil:
			return check.Fail("the model was asked without a limit, where the server asked for at most %d tokens", *asked).
				ShowAs("server sent", r.Asked.At("maxTokens"), "%d", *asked).ShowAs("model was given", x.Place, "no limit is given")
		case *got > *asked:
			return check.Fail("the model was asked for %d tokens, where the server asked for at most %d", *got, *asked).
				ShowAs("server sent", r.Asked.At("maxTokens"), "%d", *asked).ShowAs("model was given", x.Place, "%d", *got)
		}
		return check.Pass("the model was asked for no more than maxTokens")
	},
}

var parameters = check.Check{
	ID: "parameters", Rule: "what becomes of temperature, stop sequences and metadata", Levels: check.Everywhere(report.May), Requests: 2, Cases: []string{"tuned"},
	Cause: "parameters are the client's to change or leave out",
	Fix:   "nothing: the client may do as it likes",
	Judge: func(e *evidence.Case) check.Verdict {
		var became []string
		x, missing := check.ModelRequest(e.Rounds[0])
		if missing != nil {
			return *missing
		}
		switch t := x.Request.Temperature; {
		case t == nil:
			became = append(became, "temperature is left out")
		case *t == temperature:
			became = append(became, "temperature is passed on")
		default:
			became = append(became, fmt.Sprintf("temperature is changed to %v", *t))
		}
		if slices.Contains(x.Request.StopSequences, stopSequence) {
			became = append(became, "stop sequences are passed on")
		} else {
			became = append(became, "stop sequences are left out")
		}
		y, missing := check.ModelRequest(e.Rounds[1])
		switch {
		case missing != nil:
			became = append(became, "with metadata the model is not asked")
		case y.Says(metadataWord):
			became = append(became, "metadata are passed on")
		default:
			became = append(became, "metadata are left out")
		}
		return check.Info("%s", strings.Join(became, ", ")).ShowAs("model was given", x.Place, "")
	},
}

var parametersHarmless = check.Check{
	ID: "parameters-harmless", Rule: "parameters that every provider takes do no harm", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"tuned"},
	Cause: "a parameter that the client does not know is an error to it, or goes to the provider under a name that it does not know",
	Fix:   "pass temperature and stopSequences on in the provider's own terms, or leave them out; leave metadata out where the provider does not take them",
	Judge: func(e *evidence.Case) check.Verdict {
		for i, what := range []string{"temperature and stop sequences", "metadata"} {
			if len(e.Rounds) <= i {
				return check.NotObserved("the play did not get as far as sampling request %d%s", i+1, e.WhyNoResult(i))
			}
			r := e.Rounds[i]
			if r.Result() != nil {
				continue
			}
			if x := r.LastExchange(); i == 1 && x != nil && x.End.Refused != "" {
				return check.Pass("metadata are passed on, and the provider does not take them: %s", x.End.Refused)
			}
			if !e.Session.AnswersAny() {
				return check.NotObserved("the client answers no request at all (see basic/answered)")
			}
			return check.Fail("a request with %s was not answered%s", what, e.WhyNoResult(r.N)).Show(r.Asked, "%s", evidence.Compact(r.Raw))
		}
		return check.Pass("requests with parameters are answered")
	},
}
