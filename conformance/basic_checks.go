package conformance

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

var resultSchema = []string{"2025-03-26/schema/CreateMessageResult", "2025-06-18/schema/CreateMessageResult", "2025-11-25/schema/CreateMessageResult", "2026-07-28/schema/CreateMessageResult"}

var answered = Check{
	ID: "answered", Says: "a sampling request is answered with a result", Levels: everywhere(report.Robust), Asked: 1,
	Usual: "the handler is not registered, waits for something that never comes, or turns a failure of its own into an error",
	Mend:  "answer sampling/createMessage with what the model says",
	Judge: func(e *Evidence) Verdict {
		for _, r := range e.Rounds {
			if r.Result() == nil {
				return Broken("the client did not answer a sampling request with a result%s", e.why(r.N)).See(r.Asked, "%s", compact(r.Raw))
			}
		}
		return Pass("every sampling request was answered with a result").See(e.Rounds[0].Result().Place, "")
	},
}

var answersOnce = Check{
	ID: "answers-once", Says: "there is exactly one response for each request", Levels: inLegacy(report.Must), Asked: 1,
	Requirements: []string{"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/responses"},
	Usual:        "the response is posted again by a retry that does not look whether the first one was taken",
	Mend:         "send one response for each request id, and none once it was sent",
	Judge: func(e *Evidence) Verdict {
		for _, r := range e.Rounds {
			if len(r.Answers) > 1 {
				return Broken("%d responses came for one request", len(r.Answers)).
					See(r.Answers[0].Place, "the first").See(r.Answers[1].Place, "one more for id %s", r.Answers[1].ID)
			}
		}
		for _, r := range e.Rounds {
			if len(r.Answers) == 0 {
				return NotObserved("no response came for request %d (see basic/answered)", r.N).See(r.Asked, "")
			}
		}
		return Pass("one response came for each request")
	},
}

var idEchoed = Check{
	ID: "id-echoed", Says: "a response has the id of its request, type and value", Levels: inLegacy(report.Must), Asked: 1,
	Requirements: []string{"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/responses"},
	Usual:        "ids are kept in a variable of one type: a number becomes a string, or a float64 that rounds it",
	Mend:         "keep the id as the JSON it came as",
	Judge: func(e *Evidence) Verdict {
		for _, r := range e.Rounds {
			for _, a := range r.Answers {
				if !sameID(r.rawID, a.ID) {
					return Broken("the response to request %s has the id %s", r.rawID, a.ID).
						See(Place{a.Ref, "id", a.Label}, "%s, where the request had %s", a.ID, r.rawID)
				}
			}
		}
		for _, r := range e.Rounds {
			if len(r.Answers) > 0 {
				continue
			}
			if strays := e.Session.Strays; len(strays) > 0 {
				id := orMissing(strays[0].ID)
				return Broken("no response came for request %s, and one came with an id that no request has: %s", r.rawID, id).
					See(r.Asked, "").See(strays[0].At("id"), "%s", id)
			}
			return NotObserved("no response came for request %d (see basic/answered)", r.N).See(r.Asked, "")
		}
		return Pass("ids came back as they were")
	},
}

var hasContent = Check{
	ID: "has-content", Says: "a result has content: a block, or an array of blocks", Levels: everywhere(report.Must), Answered: 1,
	Requirements: resultSchema,
	Usual:        "an empty completion becomes null, or a value without content goes out as it is",
	Mend:         "send a content block, if need be a text block with an empty text",
	Judge: func(e *Evidence) Verdict {
		return eachAnswer(e, "every result has content", func(a *Answer) Verdict {
			content := a.member("content")
			if content == nil || content[0] != '{' && content[0] != '[' {
				return Broken("the result has no content that is a block or an array of blocks").See(a.At("content"), "%s", orMissing(content))
			}
			return Verdict{}
		})
	},
}

var hasModel = Check{
	ID: "has-model", Says: "a result names the model, as a string", Levels: everywhere(report.Must), Answered: 1,
	Requirements: resultSchema,
	Usual:        "the name is left out because the client knows only one model",
	Mend:         "set model to the name of the model that answered",
	Judge: func(e *Evidence) Verdict {
		return eachAnswer(e, "every result names its model", func(a *Answer) Verdict {
			if _, ok := a.text("model"); !ok {
				return Broken("the result does not name the model").See(a.At("model"), "%s, where a string is due", orMissing(a.member("model")))
			}
			return Verdict{}
		})
	},
}

var roleAssistant = Check{
	ID: "role-assistant", Says: "a result has the role assistant", Levels: everywhere(report.Robust), Answered: 1,
	Usual: "the role of the request's last message is copied into the result",
	Mend:  `set role to "assistant"`,
	Judge: func(e *Evidence) Verdict {
		return eachAnswer(e, "every result has the role assistant", func(a *Answer) Verdict {
			if role, _ := a.text("role"); role != "assistant" {
				return Broken("the result's role is not assistant").See(a.At("role"), `%s, where "assistant" is due`, orMissing(a.member("role")))
			}
			return Verdict{}
		})
	},
}

var validResult = Check{
	ID: "valid-result", Says: "a result is valid by the revision's schema", Levels: everywhere(report.Must), Answered: 1,
	Requirements: resultSchema,
	Usual:        "a provider's own block is passed on, or a field that the schema requires is left out",
	Mend:         "build the result from the revision's own types",
	Judge: func(e *Evidence) Verdict {
		return eachAnswer(e, "every result is valid by the schema", func(a *Answer) Verdict {
			err := schema.Validate(string(e.Revision), schema.CreateMessageResult, a.Result)
			if err == nil {
				return Verdict{}
			}
			at, why := a.Place, err.Error()
			var invalid *schema.Error
			if errors.As(err, &invalid) {
				at, why = a.At(invalid.Path), invalid.Message
			}
			return Broken("the result is not a valid CreateMessageResult of %s", e.Revision).See(at, "%s", why).See(a.Place, "%s", compact(a.Result))
		})
	},
}

var textIntact = Check{
	ID: "text-intact", Says: "the model's text reaches the server byte for byte", Levels: everywhere(report.Robust), Answered: 1,
	Cases: []string{"question"},
	Usual: "the text is trimmed, re-encoded, or put together from a stream's pieces without regard to what they end in",
	Mend:  "pass the text on as the bytes that it is",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		if v := a.unreadable(); v != nil {
			return *v
		}
		var got strings.Builder
		for _, b := range only(a.blocks(), dialect.Text) {
			got.WriteString(b.Text)
		}
		if got.String() != answer {
			return Broken("the text that the model said is not the text that the server got").
				See(Place{Label: "model said"}, "%q", answer).See(a.At("content"), "%q", got.String())
		}
		return Pass("the text came through unchanged").See(a.At("content"), "%q", answer)
	},
}

var promptReachesModel = Check{
	ID: "prompt-reaches-model", Says: "the user's text reaches the model byte for byte", Levels: everywhere(report.Robust), Asked: 1,
	Usual: "the text is trimmed, put into a template, or cut where it holds quotes or markup",
	Mend:  "give the model the text as the bytes that it is; what the client adds goes beside it",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		asked := dialect.PlainText(r.Params.LastUserTurn()[0].Content)
		for _, m := range x.Request.Messages {
			if m.Role == dialect.User && holds(m.Content, asked) {
				return Pass("the model got the text unchanged").See(x.At(m.Path), "%q", asked)
			}
		}
		v := Broken("the text that the server sent is not what the model was given").Saw("server sent", r.Asked.At("messages[0]"), "%q", asked)
		for _, m := range x.Request.Messages {
			v = v.Saw("model was given", x.At(m.Path), "%q", dialect.PlainText(m.Content))
		}
		return v
	},
}

// holds reports whether a text stands in the blocks, also where it was cut into several.
func holds(blocks []dialect.Block, text string) bool {
	var joined strings.Builder
	for _, b := range only(blocks, dialect.Text) {
		joined.WriteString(b.Text)
	}
	return strings.Contains(dialect.PlainText(blocks), text) || strings.Contains(joined.String(), text)
}

// standardStopReasons are the words that have a meaning of their own (2025-11-25, schema#createmessageresult).
var standardStopReasons = []string{string(dialect.EndTurn), string(dialect.StopForTool), string(dialect.StopMaxTokens), string(dialect.StopStopSequence)}

var stopReasonTrue = Check{
	ID: "stop-reason-true", Says: "no standard stop reason is used falsely", Levels: everywhere(report.Robust), Answered: 1,
	Usual: "the stop reason is a constant, or whatever the provider says for an end becomes endTurn",
	Mend:  "map the provider's reason, length to maxTokens first of all, and leave out what cannot be told",
	Judge: func(e *Evidence) Verdict {
		due := string(dialect.EndTurn)
		if strings.HasSuffix(e.Case.ID, "/truncated") {
			due = string(dialect.StopMaxTokens)
		}
		a := e.Rounds[0].Result()
		got, given := a.text("stopReason")
		switch {
		case !given:
			return Pass("no stop reason is given, which is allowed")
		case got == due:
			return Pass("the stop reason is %s", due).See(a.At("stopReason"), "%q", got)
		case slices.Contains(standardStopReasons, got):
			return Broken("the stop reason is %s, and the model stopped for %s", got, due).See(a.At("stopReason"), "%q", got)
		}
		return Pass("the stop reason is the client's own word %q", got).See(a.At("stopReason"), "%q", got)
	},
}

var maxTokens = Check{
	ID: "max-tokens", Says: "the model is asked for no more than maxTokens", Levels: levels(report.Robust, report.Must), Asked: 1,
	Requirements: []string{"2026-07-28/sampling/18"},
	Usual:        "a default or minimum of the client takes the place of what the server asked for",
	Mend:         "pass maxTokens on, or less",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		asked := r.Params.MaxTokens
		if asked == nil {
			return NotObserved("the server asked for no limit")
		}
		switch got := x.Request.MaxTokens; {
		case got == nil:
			return Broken("the model was asked without a limit, where the server asked for at most %d tokens", *asked).
				Saw("server sent", r.Asked.At("maxTokens"), "%d", *asked).Saw("model was given", x.Place, "no limit is given")
		case *got > *asked:
			return Broken("the model was asked for %d tokens, where the server asked for at most %d", *got, *asked).
				Saw("server sent", r.Asked.At("maxTokens"), "%d", *asked).Saw("model was given", x.Place, "%d", *got)
		}
		return Pass("the model was asked for no more than maxTokens")
	},
}

var oneModelCall = Check{
	ID: "one-model-call", Says: "one request costs one completed model call", Levels: everywhere(report.Robust), Answered: 1,
	Usual: "the client continues truncated answers by itself, or asks a second model to check the first",
	Mend:  "make one model call for each sampling request; what follows is the server's to ask for",
	Judge: func(e *Evidence) Verdict {
		for _, r := range e.Rounds {
			if _, missing := theModel(r); missing != nil && missing.kind == report.NotObserved {
				return *missing
			}
			// One that the client hung up on counts where there is no other: some stop reading before the very end of a stream.
			completed := r.completed()
			if len(completed) > 1 {
				v := Broken("one sampling request cost %d completed model calls", len(completed)).See(r.Asked, "")
				for _, x := range completed {
					v = v.See(x.Place, "%s", compact(x.Request.Body))
				}
				return v
			}
		}
		return Pass("each request cost one model call")
	},
}

// eachAnswer passes when judge finds nothing wrong, a zero verdict, with any first answer.
func eachAnswer(e *Evidence, well string, judge func(*Answer) Verdict) Verdict {
	for _, r := range e.Rounds {
		if a := r.Result(); a != nil {
			if v := judge(a); v.kind != "" {
				return v
			}
		}
	}
	return Pass("%s", well)
}

// theModel returns the request of the model that the round's answer rests on, or the verdict for there being none that can be read.
func theModel(r *Round) (*Exchange, *Verdict) {
	x := r.LastModel()
	switch {
	case r.Params == nil || len(r.Params.LastUserTurn()) == 0:
		v := NotObserved("what sampling request %d asks for cannot be read", r.N).See(r.Asked, "%s", compact(r.Raw))
		return nil, &v
	case x == nil:
		v := NotObserved("the model was never asked for sampling request %d: nothing reached the fake model under the case's mark", r.N)
		return nil, &v
	case x.Request == nil:
		why := x.Unreadable.Error()
		if x.End.Refused != "" {
			why = x.End.Refused
		}
		v := Broken("the model could not read the request: %s", why).See(x.Place, "")
		return nil, &v
	}
	return x, nil
}

func orMissing(raw json.RawMessage) string {
	if raw == nil {
		return "it is missing"
	}
	return compact(raw)
}
