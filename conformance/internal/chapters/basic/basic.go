package basic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Texts with what careless code trips over: runs of blanks, newlines, quotes, backslashes, scripts of several bytes.
const ()

// One question and its answer: a plain one, with answers that the model cuts short, leaves empty or refuses, with ids of all kinds and texts that
// are long; then with everything else that a question can have: parameters, hints, a history, several blocks, media, extras, a context.
var Scenario = check.Scenario{
	ID:        "basic",
	Purpose:   "one question and its answer, with all that a question can have",
	Revisions: check.AllRevisions(),
	Cases: slices.Concat([]harness.Case{
		story.Once("basic/question", func(s *server.Session) any { return s.Ask(story.Question) }, llm.When().Reply(llm.Text(story.Answer))),
		story.Once("basic/truncated", func(s *server.Session) any {
			ask := s.Ask("Tell me a long story.")
			ask.MaxTokens = 16 // the least that every provider takes
			return ask
		}, llm.When().Reply(llm.Text("Once upon a time there")).StopReason(llm.StopMaxTokens)),
		story.Once("basic/empty", func(s *server.Session) any { return s.Ask("Say nothing at all.") }, llm.When().Reply()),
		story.Once("basic/failing", func(s *server.Session) any { return s.Ask("What is the answer?") },
			llm.When().Fail(&llm.Error{Status: 400, Message: "the scripted model refuses this conversation"})),
		{ID: "basic/ids", Handler: withIDs, Script: story.Says("Yes.")},
		{ID: "basic/long", Handler: withLongTexts, Script: func(string) []*llm.Rule {
			return llm.Script(llm.When(llm.LastUser("at length")).Reply(llm.Text(longText)), llm.When().Reply(llm.Text("That was long.")))
		}},
	}, parameterCases, []harness.Case{hinted}, messageCases, mediaCases, extraCases, []harness.Case{inContext, thinking}),
	Checks: []check.Check{
		Answered, answersOnce, idEchoed, jsonRPC, hasContent, hasModel, roleAssistant, validResult, errorShape, noArray, emptyAnswer, oneModelCall,
		textIntact, promptReachesModel, modelNamed, stopReasonTrue, stopReason, systemPrompt, systemPromptNotEchoed,
		MaxTokens, parameters, parametersHarmless, hintsRespected, hintsInOrder, hintSubstring, hintsOverNumbers,
		multiTurn, singleAndArray, sameEffect, contentArray, media, textBesideMedia,
		unknownExtras, metaPreserved, includeContext, noForeignContext, thinkingApart,
	},
}

// plainly are the cases in which a question is asked that every client answers.
var plainly = []string{"question", "truncated"}

// requestIDs are ids of both types, one that is only to be told from another by its type, and the largest integer that every client can hold.
var requestIDs = []string{`1`, `"a-b"`, `9007199254740991`, `"1"`}

func withIDs(s *server.Session) (any, error) {
	for _, id := range requestIDs {
		if _, err := s.SampleAs(json.RawMessage(id), s.Ask("Is this all right?")); err != nil {
			return nil, err
		}
	}
	return "done", nil
}

// Long texts, in characters of one to four bytes: an answer of a megabyte, and a prompt that is beyond the buffers of careless readers and
// within what every model takes.
var (
	longLine   = "Many bytes: “a”, é, 答え, 🗼, \\ and \"quotes\" in one line.\n"
	longText   = strings.Repeat(longLine, 1<<20/len(longLine)+1)
	longPrompt = strings.Repeat(longLine, 100<<10/len(longLine)+1)
)

// withLongTexts has the model speak at length, and then the user.
func withLongTexts(s *server.Session) (any, error) {
	if _, err := s.Sample(s.Ask("Speak at length.")); err != nil {
		return nil, err
	}
	return s.Sample(s.Ask(longPrompt))
}
