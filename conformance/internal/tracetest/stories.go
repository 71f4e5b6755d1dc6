package tracetest

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Right is a correct answer to [story.Question].
var Right = AnswersWith(Saying(story.Answer))

// AnswersWith answers [story.Question] with a result.
func AnswersWith(result string) func(*Story) {
	return func(s *Story) { s.Asks(Asking(story.Question)).Prompts(Asking(story.Question)).Answers(result) }
}

// Asked is a sampling request that the client passes to the model and answers with a result.
func Asked(p *server.CreateMessageParams, result string) func(*Story) {
	return func(s *Story) { s.Asks(p).Prompts(p).Answers(result) }
}

// Pondering is the question of a case in which the model waits (see [story.Gated]).
var Pondering = Asking("Take your time over this (ponder1well).")

// Fish is a question that the model answers at once.
var Fish = Asking("Name a fish.")

// WhenOpen is the question of provider errors.
const WhenOpen = "When does the bridge open?"

// Parts of messages of several chapters.
const (
	NotFulfilled = "it did not fulfil the input request"
	NoAnswer     = "no result for sampling request 1: no response to request 1"
	NoContent    = "the content of the result cannot be decoded"
)
