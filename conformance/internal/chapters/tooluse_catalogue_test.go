package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The forms of a test: see package tracetest.
var (
	toolUseJudges = tracetest.Judging(tooluse.Scenario)
	toolUseRow    = tracetest.Row
	rules         = tracetest.Judging(always.Scenario)
)

var toolUseCatalogue = check.Catalogue{tooluse.Scenario}

type (
	toolUseTest = tracetest.Test
)

// toolUseRefused are two tests of a client that refuses the request: with an error, or, in the era without errors, by
// no response.
func toolUseRefused(verdict report.Verdict, do steps) []toolUseTest {
	silent := toolUseRow("the client does not respond, but responds to others", do, verdict, tracetest.NotFulfilled)
	silent.In = tracetest.InB
	return []toolUseTest{legacy(toolUseRow("the client returns an error", do, verdict, refusal)), silent}
}

const refusal = `"refused" (code -32603)`

// toolUseRefusing is a client that asks the model and returns an error, silent one that returns nothing.
func toolUseRefusing(s *session) { toolUseSilent(s); s.Refuses(-32603, "refused").OtherwiseAnswers() }
func toolUseSilent(s *session) {
	s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).UsesTool("book_flight", story.Booking)
}

// ofModel are the tests of clients whose model uses another tool.
func ofModel(use tooluse.ToolUse, tests ...toolUseTest) []toolUseTest {
	for i, test := range tests {
		tests[i].Steps = func(s *session) {
			said := (&session{Dialect: s.Dialect, Trace: &trace.Trace{}, Seq: map[string]int64{}}).UsesTool(use.Name, use.Input)
			test.Steps(s)
			for _, e := range s.Trace.Events {
				if e.Chunk != nil {
					e.Chunk.Data = said.Trace.Events[0].Chunk.Data
				}
			}
		}
	}
	return tests
}

// unasked is a client that answers without a model.
func unasked(s *session) { s.Asks(tracetest.AskingForFlight()).Answers(tracetest.Booked()) }

// toolUseSaying is a client that answers with a text, holding one with content as it is written, unreadable one without
// content.
func toolUseSaying(text string) steps { return tracetest.Uses(tracetest.Saying(text)) }

func holding(content string) steps {
	return tracetest.Uses(tracetest.With(tracetest.Booked(), "content", content))
}

var unreadable = unobserved("the result has no content",
	tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), tracetest.NoContent)

// using is a client that answers with uses, each given as id, name and input.
func using(uses ...[3]string) steps { return tracetest.Uses(tracetest.Wanting(uses...)) }

// toolUseCalling is a client that itself calls a tool.
func toolUseCalling(s *session, tool string) {
	s.Frame("", trace.FromClient, 0,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
}

// edited is the request for a flight with an edit.
func edited(edit func(*server.CreateMessageParams)) *server.CreateMessageParams {
	p := tracetest.AskingForFlight()
	edit(p)
	return p
}
