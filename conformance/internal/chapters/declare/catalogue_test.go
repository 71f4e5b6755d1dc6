package declare

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The forms of a test: see package tracetest.
var (
	judges       = tracetest.Judging(Scenario)
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	warns        = tracetest.Warns
	unobserved   = tracetest.Unobserved
	inapplicable = tracetest.Inapplicable
	unsupported  = tracetest.Unsupported
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	declares     = tracetest.Declaring
)

var catalogue = check.Catalogue{Scenario}

type (
	session = tracetest.Story
	test    = tracetest.Test
	steps   = func(*session)
)

const nothing = `{}`

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

func ignored(s *session) { s.Asks(withTools).OnPurpose() }
