// Package basic judges one question and its answer, with everything that a question can have: parameters, model hints,
// a history, several blocks, media, unknown fields and context; and a model that stops early, fails or thinks.
//
// Each file tells a story: first the cases, in which the server asks and the scripted model answers, then their checks.
// This file has what several stories share.
package basic

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.InOne(story.Retold(check.Scenario{
	ID:        "basic",
	Purpose:   "one question and its answer, with everything that a question can have",
	Revisions: server.AllRevisions(),
	Cases: []harness.Case{
		question, truncated, empty, failing, ids, long, tuned, hinted, turns, askedAgain, assistantFirst, assistantLast,
		blocks, image, audio, imageLater, audioLater, extras, meta, inContext, thinking,
		laterPage,
	},
	Checks: []check.Check{
		answered, stopReason, systemPrompt, parameters, parametersHarmless,
		hintsRespected, hintsInOrder, hintSubstring, hintsOverNumbers, media,
		metaPreserved, nextPage,
	},
},
	story.Again([]string{"truncated", "empty", "tuned", "hints", "extras", "blocks", "thinking"},
		story.ToolsOffered, story.SecondRound)),
	&question, &extras, &truncated, &empty, &tuned, &turns, &askedAgain, &assistantFirst, &blocks, &thinking, &shorter,
	&assistantLast)

// plain are the cases with a question that every client answers.
var plain = []string{"question", "truncated"}

// nothingToFix is the fix of checks that only report what the client chose.
const nothingToFix = "Nothing to fix: the client may do as it likes."

func asks(text string) server.Handler {
	return func(s *server.Session) (any, error) { return s.Sample(s.Ask(text)) }
}

func found(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return evidence.Compact(raw)
}

// noResult returns the verdict for a sampling request with something special that got no result. A client that returns
// no result at all has no problem with this request in particular.
func noResult(e *evidence.Case, r *evidence.Round, special string) check.Verdict {
	if !e.Session.AnswersAny() {
		return check.NotObserved("the client returns no result at all %s", evidence.See("basic/answered"))
	}
	return check.Fail("expected a result for a request with %s%s", special, e.WhyNoResult(r.N)).
		ShowJSON(r.Asked, r.Raw)
}

// both shows what the server sent beside what the model received.
func both(v check.Verdict, from evidence.Place, sent string, to evidence.Place, received string) check.Verdict {
	return v.ShowAs("server sent", from, "%s", sent).ShowAs("model received", to, "%s", received)
}
