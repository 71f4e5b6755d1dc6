package declare

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// question returns a sampling request.
type question = func(*server.Session) *server.CreateMessageParams

// The harness asks the client to declare less, and the server makes one forbidden request.
var (
	undeclaredSampling = forbidden("declare/undeclared-sampling", forSampling,
		func(s *server.Session) *server.CreateMessageParams { return s.Ask("Which river flows through London?") })
	undeclaredTools = forbidden("declare/undeclared-tools", forTools, func(s *server.Session) *server.CreateMessageParams {
		return s.Ask("What is the weather in London?", story.GetWeather)
	})
	undeclaredToolChoice = forbidden("declare/undeclared-toolchoice", forTools,
		func(s *server.Session) *server.CreateMessageParams {
			ask := s.Ask("What is the weather in Rome?")
			ask.ToolChoice = &server.ToolChoice{Mode: "auto"}
			return ask
		})
)

// everyForbidden are the names of these cases.
var everyForbidden = []string{"undeclared-sampling", "undeclared-tools", "undeclared-toolchoice"}

// forbidden returns a case in which the server requests a capability beyond those that the client was asked to declare.
// If the client declares the capability nevertheless, the request is allowed, and there is nothing to judge.
func forbidden(id string, needed capability, ask question) harness.Case {
	declare, code := `{}`, evidence.CodeMethodNotFound
	if len(needed) > 1 {
		declare, code = `{"sampling":{}}`, evidence.CodeInvalidParams
	}
	return harness.Case{
		ID: id, Revisions: needed.revisions(), Declare: json.RawMessage(declare), Barrier: true,
		Expect: check.Refusal{What: "a request for " + needed.String() + ", which the client does not declare",
			Codes: []int{code}, Reserved: true, RefusesAll: true},
		Handler: func(s *server.Session) (any, error) {
			switch {
			case s.Declares(needed...):
				return "The client declares more than it was asked to.", nil
			case len(needed) > 1 && !s.Declares("sampling"):
				return s.Sample(s.Ask("Which river flows through Rome?")) // is withheld, and recorded as such
			}
			return s.Sample(ask(s), server.Hostile())
		},
		Script: callsTools,
	}
}

// requestSent needs the forbidden request, as the first sampling request of the case.
func requestSent(e *evidence.Case) *check.Verdict {
	needed := forTools
	if e.Case.ID == undeclaredSampling.ID {
		needed = forSampling
	}
	switch {
	case len(e.Rounds) > 0 && e.Rounds[0].Hostile:
		return nil
	case e.Declared.Declares(needed...) && e.Session.Supports[harness.FixedCapabilities]:
		return check.Instead(showDeclared(check.NotApplicable("the client declares %s in every session "+
			"(--has fixed-capabilities)", needed), e.Declared))
	case e.Declared.Declares(needed...):
		return check.Instead(showDeclared(check.Unsupported("the client was asked to declare %s, but declares %s: this "+
			"check needs a client whose capabilities can be set (capabilities in MCP_CONFORMANCE_CONTEXT, Env.Declare); if "+
			"they are always the same, declare that (--has fixed-capabilities)",
			evidence.Compact(e.Session.Trace.Header.Declare), needed), e.Declared))
	}
	return check.Instead(check.NotObserved("the server did not send the forbidden request"))
}

func judgeForbidden(e *evidence.Case) check.Verdict {
	v, declared := check.RefusedWithCode(e), e.Rounds[0].Declared
	if v.Kind == check.Failed {
		v = v.ShowAs("client declared", declared.CapabilitiesAt(), "%s", check.OrMissing(declared.Declared()))
	}
	return v
}

var samplingRefused = check.Check{
	ID: "undeclared-sampling-refused", Cases: []string{"undeclared-sampling"},
	Rule:   "A client that does not declare sampling MUST refuse it",
	Levels: check.Must, Statements: samplingRule, Needs: []check.Need{requestSent}, Judge: judgeForbidden,
	Cause: "the handler answers every request, without a look at what the client declares",
	Fix: "If sampling is not declared, respond to sampling/createMessage with an error (-32601), " +
		"and fulfil no input request for it.",
}

var toolsRefused = check.Check{
	ID: "undeclared-tools-refused", Cases: []string{"undeclared-tools"},
	Rule:       "A client that does not declare sampling.tools MUST refuse requests with tools",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"schema/01"},
	Needs:      []check.Need{requestSent}, Judge: judgeForbidden,
	Cause: "the client drops the tools and answers the rest, or passes the tools on to the model",
	Fix:   "If sampling.tools is not declared, respond to a request that has tools with an error (-32602).",
}

var toolChoiceRefused = check.Check{
	ID: "undeclared-toolchoice-refused", Cases: []string{"undeclared-toolchoice"},
	Rule:       "A client that does not declare sampling.tools MUST refuse a tool choice, even without tools",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"schema/02"},
	Needs:      []check.Need{requestSent}, Judge: judgeForbidden,
	Cause: "the client looks only for tools",
	Fix:   "If sampling.tools is not declared, respond to a request that has toolChoice with an error (-32602).",
}

var noModelCall = check.Check{
	ID: "no-model-call", Cases: everyForbidden,
	Rule:   "A request that the client must refuse costs no model call",
	Levels: check.Robust, Needs: []check.Need{requestSent}, Judge: check.CostsNoModelCall,
	Cause: "the client calls the model first, and then looks at what it declares",
	Fix:   "Check the declared capabilities before the model call.",
}

var alive = check.Check{
	ID: "alive", Cases: everyForbidden,
	Rule:   "The session continues after a request that the client must refuse",
	Levels: check.Robust, Needs: []check.Need{requestSent}, Judge: check.Alive,
	Cause: "an exception in the handler ends the connection or the process",
	Fix:   "Turn the exception into an error response to that one request, and continue.",
}
