package basic

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// messageCases ask with more than one message of one block: a history, in which the user speaks twice at its end; and content as a block,
// as an array of one, and as an array of several.
var messageCases = []harness.Case{{
	ID: "basic/turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("I have lost my keys.")
		ask.Messages = append(ask.Messages,
			server.SamplingMessage{Role: "assistant", Content: server.Text("Where did you see them last?")},
			server.SamplingMessage{Role: "user", Content: server.Text("In the kitchen drawer.")},
			server.SamplingMessage{Role: "assistant", Content: server.Text("Have you looked under the newspaper?")},
			server.SamplingMessage{Role: "user", Content: server.Text("There is no newspaper.")},
			server.SamplingMessage{Role: "user", Content: server.Text("What now?")})
		return s.Sample(ask)
	},
	Script: story.Says("Ask the cat."),
}, {
	ID: "basic/blocks", Revisions: check.WithTools,
	Handler: func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(blockText)); err != nil {
			return nil, err
		}
		ask := s.Ask(blockText)
		ask.Messages[0].Content = []any{ask.Messages[0].Content}
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		ask = s.Ask("And the third?")
		ask.Messages[0].Content = []any{server.Text("This is the first block."), server.Text("This is the second block."), ask.Messages[0].Content}
		return s.Sample(ask)
	},
	Script: story.Says("So it is."),
}}

// blockText cannot stand in JSON as it is, so that content that is handed on as its JSON is told from content that is read.
const blockText = "He said \"one block\",\nand meant it."

// place is how far into the messages a search has come.
type place struct{ message, offset int }

// after returns the place behind a text under a role, at or after the place; false where it does not stand there. Neighbours of one role
// may be one message.
func (p place) after(messages []dialect.Message, role dialect.Role, text string) (place, bool) {
	for ; p.message < len(messages); p = (place{p.message + 1, 0}) {
		m := &messages[p.message]
		if m.Role != role {
			continue
		}
		for _, said := range []string{dialect.PlainText(m.Content), evidence.Joined(m.Content)} {
			if i := strings.Index(said[min(p.offset, len(said)):], text); i >= 0 {
				return place{p.message, min(p.offset, len(said)) + i + len(text)}, true
			}
		}
	}
	return p, false
}

var multiTurn = check.Check{
	ID: "multi-turn", Rule: "a history reaches the model in its order and under its roles", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"turns"},
	Cause: "only the last message is given to the model, or all of them as one text",
	Fix:   "give the model every message, in order, under its role; neighbours of one role may become one",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		tell := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.Spoken(r.Params.Messages)).ShowAs("model was given", x.At("messages"), "%s", evidence.Spoken(x.Request.Messages))
		}
		var at place
		var found bool
		for i, m := range r.Params.Messages {
			if at, found = at.after(x.Request.Messages, m.Role, dialect.PlainText(m.Content)); !found {
				if flattened(r.Params.Messages, x.Request.Messages) {
					return tell(check.Warn("the history reached the model in its order, and without its roles: as one text of the user"))
				}
				return tell(check.Fail("message %d of the history did not reach the model in its place and under its role", i+1))
			}
		}
		return tell(check.Pass("the history reached the model in order"))
	},
}

// flattened reports whether all that was said stands in one message of the user, in order.
func flattened(said, given []dialect.Message) bool {
	return slices.ContainsFunc(given, func(m dialect.Message) bool {
		at, found := place{}, m.Role == dialect.User
		for _, turn := range said {
			if found {
				at, found = at.after([]dialect.Message{m}, dialect.User, dialect.PlainText(turn.Content))
			}
		}
		return found
	})
}

var singleAndArray = check.Check{
	ID: "single-and-array", Rule: "content is taken as a block and as an array of one", Levels: check.SinceTools(report.Must), Requests: 1, Cases: []string{"blocks"},
	Statements: []string{"2025-11-25/schema/SamplingMessage", "2026-07-28/schema/SamplingMessage"},
	Cause:      "the type of a message knows one of the two forms only",
	Fix:        "read content that is no array as an array of one",
	Judge: func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) < 2 {
			return check.NotObserved("the play did not get as far as sampling request 2%s", e.WhyNoResult(1))
		}
		if r := e.Rounds[1]; r.Result() == nil {
			return check.Fail("content as an array of one block was not answered, and as the block alone it was%s", e.WhyNoResult(2)).Show(r.Asked.At("messages[0].content"), "%s", evidence.Compact(r.Raw))
		}
		return check.Pass("both were answered").Show(e.Rounds[1].Result().Place, "")
	},
}

var sameEffect = check.Check{
	ID: "same-effect", Rule: "an array of one block is given to the model like the block alone", Levels: check.SinceTools(report.Robust), Requests: 2, Cases: []string{"blocks"},
	Cause: "content that is an array is handed on as its JSON, or as an empty text",
	Fix:   "read content that is no array as an array of one, and go on from there",
	Judge: func(e *evidence.Case) check.Verdict {
		var with [2]bool
		var seen [2]*evidence.Exchange
		for i := range with {
			x, missing := check.ModelRequest(e.Rounds[i])
			if missing != nil {
				return *missing
			}
			_, with[i] = place{}.after(x.Request.Messages, dialect.User, dialect.PlainText(e.Rounds[i].Params.LastUserTurn()[0].Content))
			seen[i] = x
		}
		tell := func(v check.Verdict) check.Verdict {
			for i, x := range seen {
				v = v.ShowAs("server sent", e.Rounds[i].Asked.At("messages[0].content"), "%s", evidence.Compact(e.Rounds[i].Params.Messages[0].Content[0].Raw)).
					ShowAs("model was given", x.At("messages"), "%s", evidence.Spoken(x.Request.Messages))
			}
			return v
		}
		switch {
		case with[0] && !with[1]:
			return tell(check.Fail("the text of an array of one block did not reach the model, and that of the block alone did"))
		case !with[0]:
			return check.NotObserved("the text of a block alone did not reach the model (see basic/prompt-reaches-model)")
		}
		return tell(check.Pass("both reached the model alike"))
	},
}

var contentArray = check.Check{
	ID: "content-array", Rule: "several blocks of a message reach the model in order", Levels: check.SinceTools(report.Robust), Requests: 3, Cases: []string{"blocks"},
	Cause: "the first block of a message is taken for the whole",
	Fix:   "give the model every block, in order",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		tell := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server sent", r.Asked.At("messages[0].content"), "%s", evidence.Spoken(r.Params.Messages)).ShowAs("model was given", x.At("messages"), "%s", evidence.Spoken(x.Request.Messages))
		}
		var at place
		var found bool
		for i, b := range r.Params.Messages[0].Content {
			if at, found = at.after(x.Request.Messages, dialect.User, b.Text); !found {
				return tell(check.Fail("block %d of the message did not reach the model in its place", i+1))
			}
		}
		return tell(check.Pass("the blocks reached the model in order"))
	},
}
