package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/declare"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The forms of a test: see package tracetest.
var (
	declareJudges = tracetest.Judging(declare.Scenario)
)

var declareCatalogue = check.Catalogue{declare.Scenario}

type (
	declareTest = tracetest.Test
)

const declareNothing = `{}`

var (
	plain     = tracetest.Asking("Which river?")
	withTools = tracetest.Asking("What is the weather?", story.GetWeather)
	seine     = tracetest.Saying("The Seine.")
	toolUse   = tracetest.Wanting([3]string{"call_1", "get_weather", `{"city":"Paris"}`})
)

// forced is a client that answers a forbidden request, ignored one that is silent.
func forced(p *server.CreateMessageParams, result string) steps {
	return func(s *session) { s.Asks(p).OnPurpose().Prompts(p).Answers(result) }
}

func declareIgnored(s *session) { s.Asks(withTools).OnPurpose() }
