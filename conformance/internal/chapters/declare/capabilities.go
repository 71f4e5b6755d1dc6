package declare

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// The server requests sampling, then sampling with tools.
var (
	sampling = regardless("declare/sampling", forSampling, func(s *server.Session) any {
		return s.Ask("Which river flows through Paris?")
	})
	tools = regardless("declare/tools", forTools, func(s *server.Session) any {
		return s.Ask("What is the weather in Paris?", story.GetWeather)
	})
)

// regardless returns a case in which the server requests a capability, whether or not the client declares it.
func regardless(id string, needed capability, ask func(*server.Session) any) harness.Case {
	return harness.Case{
		ID: id, Revisions: needed.revisions(), Expect: needed,
		Handler: func(s *server.Session) (any, error) {
			if s.Declares(needed...) {
				return s.Sample(ask(s))
			}
			return s.Sample(ask(s), server.Hostile())
		},
		Script: callsTools,
	}
}

var samplingDeclared = check.Check{
	ID: "sampling-declared", Cases: []string{"sampling"},
	Rule:   "A client that supports sampling MUST declare it",
	Levels: check.Must, Statements: samplingRule, Requests: 1,
	Cause: "the handler is registered without the capability, or only the first request declares it",
	Fix: "Declare sampling in initialize; from 2026-07-28, in the _meta of every tools/call, prompts/get and " +
		"resources/read, retries included.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		declares, a := r.Declared.Declares("sampling"), r.Result()
		switch {
		case a == nil && declares:
			return showDeclared(check.Pass("the client declares sampling"), r.Declared)
		case a == nil:
			return check.NotApplicable("the client neither declares nor supports sampling")
		case !declares:
			v := check.Fail("expected the client to declare sampling, found a result for an undeclared request")
			return showDeclared(v, r.Declared).ShowResult(a)
		case e.Revision.Modern():
			return declaredEverywhere(e.Session)
		}
		return showDeclared(check.Pass("the client declares and supports sampling"), r.Declared)
	},
}

// declaredEverywhere judges a client of 2026-07-28 that supports sampling. Every request whose result may ask for
// sampling must declare it; for other requests, this is only good practice.
func declaredEverywhere(s *evidence.Session) check.Verdict {
	var elsewhere *evidence.ClientRequest
	for i := range s.Requests {
		r := &s.Requests[i]
		switch {
		case r.Declares("sampling"):
		case replay.Carriers[r.Method] != "":
			return showDeclared(check.Fail("expected every %s to declare sampling, found one that does not", r.Method), r)
		case elsewhere == nil:
			elsewhere = r
		}
	}
	if elsewhere != nil {
		v := check.Warn("expected every request to declare sampling, found %s, which does not", elsewhere.Method)
		return showDeclared(v, elsewhere)
	}
	return check.Pass("every request declares sampling")
}

var toolsDeclared = check.Check{
	ID: "tools-declared", Cases: []string{"tools"},
	Rule:       "A client that supports tool use MUST declare sampling.tools",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"sampling/04"},
	Requests:   1,
	Cause:      "the client declares sampling as {}, and passes tools on to the model without a look at what it declares",
	Fix:        `Declare {"sampling": {"tools": {}}}, or refuse requests with tools.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		a := r.Result()
		switch {
		case r.Declared.Declares("sampling", "tools"):
			return showDeclared(check.Pass("the client declares sampling.tools"), r.Declared)
		case a == nil || len(a.Uses()) == 0:
			return check.NotApplicable("the client neither declares sampling.tools nor supports tool use")
		case !r.Declared.Declares("sampling"):
			return check.NotApplicable("the client does not declare sampling (see declare/sampling-declared)")
		}
		v := check.Fail("expected the client to declare sampling.tools, found tool use without it")
		return showDeclared(v, r.Declared).Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}

var overDeclared = check.Check{
	ID: "over-declared", Cases: []string{"sampling", "tools"},
	Rule:   "The client supports the capabilities that it declares",
	Levels: check.Robust, Requests: 1,
	Cause: "the library declares sampling or tools by default, without a handler",
	Fix:   "Declare only what the client supports.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, needed := e.Rounds[0], check.Expected[capability](e)
		if !r.Declared.Declares(needed...) {
			return check.NotApplicable("the client does not declare %s", needed)
		}
		if a := r.Result(); a != nil {
			return check.Pass("the client declares and supports %s", needed).At(a.Place)
		}
		v := check.Fail("expected a result for a request for %s, which the client declares%s", needed, e.WhyNoResult(1))
		return showDeclared(v, r.Declared).ShowJSON(r.Asked, r.Raw)
	},
}
