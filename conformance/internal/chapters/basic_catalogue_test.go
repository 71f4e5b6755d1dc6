package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The forms of a test: see package tracetest.
var (
	basicJudges = tracetest.Judging(basic.Scenario)
	basicRow    = tracetest.Row
)

type (
	basicTest = tracetest.Test
)

var (
	whole      = tracetest.Saying(story.Answer)
	basicAsked = tracetest.Asking(story.Question)
)

// answers is a client that returns the right result, less its changes: name and JSON value, "" for no value.
func answers(name, value string) steps {
	return tracetest.AnswersWith(tracetest.With(whole, name, value))
}

// basicPrompts is a client that changes the question on its way to the model.
func basicPrompts(edit func(*server.CreateMessageParams)) steps {
	return func(s *session) {
		changed := tracetest.Asking(story.Question)
		edit(changed)
		s.Asks(basicAsked).Prompts(changed).Answers(whole)
	}
}

// basicSilent is a client that never responds, refusing one that returns an error.
func basicSilent(s *session)   { s.Asks(basicAsked) }
func basicRefusing(s *session) { s.Asks(basicAsked).Refuses(-1, "no") }

// noModel is a client that never calls the model.
func noModel(s *session) { s.Asks(basicAsked).Answers(whole) }
