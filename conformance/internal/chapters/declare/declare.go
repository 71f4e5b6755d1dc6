package declare

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// What the client declares is served, and nothing else is. First it is asked for all that a client can declare, whatever it does declare. Then
// it is told to declare less, in sessions of their own, and asked for what it then must not be asked for.
var Scenario = check.Scenario{
	ID:        "declare",
	Purpose:   "what the client declares, and what it does when it is asked for more",
	Revisions: check.AllRevisions(),
	Cases: slices.Concat([]harness.Case{
		regardless("declare/sampling", []string{"sampling"}, func(s *server.Session) any { return s.Ask("Which river flows through Paris?") }),
		regardless("declare/tools", []string{"sampling", "tools"}, func(s *server.Session) any { return s.Ask("What is the weather in Paris?", story.GetWeather) }),
	}, undeclared),
	Checks: []check.Check{
		samplingDeclared, toolsDeclared, declaredShape, metaFields, clientInfo, httpHeaders, overDeclared,
		undeclaredSamplingRefused, undeclaredToolsRefused, undeclaredToolChoiceRefused, undeclaredNoModelCall, undeclaredAlive,
	},
}

// Capabilities that the client is told to declare.
var (
	declareNothing  = json.RawMessage(`{}`)
	declareSampling = json.RawMessage(`{"sampling":{}}`)
)

// undeclared are the cases in which the client is asked for what it was told not to declare: one forbidden request each.
var undeclared = []harness.Case{
	forbidden("declare/undeclared-sampling", declareNothing, []string{"sampling"}, func(s *server.Session) *server.CreateMessageParams {
		return s.Ask("Which river flows through London?")
	}),
	forbidden("declare/undeclared-tools", declareSampling, []string{"sampling", "tools"}, func(s *server.Session) *server.CreateMessageParams {
		return s.Ask("What is the weather in London?", story.GetWeather)
	}),
	forbidden("declare/undeclared-toolchoice", declareSampling, []string{"sampling", "tools"}, func(s *server.Session) *server.CreateMessageParams {
		ask := s.Ask("What is the weather in Rome?")
		ask.ToolChoice = &server.ToolChoice{Mode: "auto"}
		return ask
	}),
}

// regardless is a case in which the client is asked, whether it declares the capability or not.
func regardless(id string, capability []string, ask func(*server.Session) any) harness.Case {
	return harness.Case{
		ID: id, Revisions: having(capability),
		Handler: func(s *server.Session) (any, error) {
			if s.Declares(capability...) {
				return s.Sample(ask(s))
			}
			return s.Sample(server.Hostile(ask(s)))
		},
		Script: obliging,
	}
}

// forbidden is a case in which the client, told what to declare, is asked for what takes a capability beyond that. A client that declares
// the capability all the same may be asked for it, so that there is nothing to see.
func forbidden(id string, declare json.RawMessage, capability []string, ask func(*server.Session) *server.CreateMessageParams) harness.Case {
	return harness.Case{
		ID: id, Revisions: having(capability), Declare: declare, Barrier: true,
		Handler: func(s *server.Session) (any, error) {
			switch {
			case s.Declares(capability...):
				return "The client declares more than it was told to.", nil
			case len(capability) > 1 && !s.Declares("sampling"):
				return s.Sample(s.Ask("Which river flows through Rome?")) // withheld, which is noted
			}
			return s.Sample(server.Hostile(ask(s)))
		},
		Script: obliging,
	}
}

// having are the revisions that have a capability: all, or those that have tools.
func having(capability []string) []server.Revision {
	if len(capability) > 1 {
		return check.WithTools
	}
	return nil
}

// obliging is a model that uses a tool where it is offered one, and else talks.
func obliging(string) []*llm.Rule {
	return llm.Script(
		llm.When(llm.Offers("get_weather")).Reply(llm.Call("get_weather", `{"city":"Paris"}`)),
		llm.When().Reply(llm.Text("A long one.")),
	)
}
