package basic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// extraMeta is a _meta of nobody's in particular.
var extraMeta = story.Object{"com.example/trace": "trace-word-nine"}

// extraCases have what the client does not know, wherever it may stand; and tool uses and results whose _meta is to be kept.
var extraCases = []harness.Case{{
	ID: "basic/extras",
	Handler: func(s *server.Session) (any, error) {
		var params story.Object
		if err := json.Unmarshal(story.JSON(s.Ask("Do you mind what you do not know?")), &params); err != nil {
			return nil, err
		}
		params["comExampleHint"] = story.Object{"deep": []any{1, nil, "x"}}
		params["_meta"] = extraMeta
		message := params["messages"].([]any)[0].(story.Object)
		message["comExampleNote"] = true
		block := message["content"].(story.Object)
		block["comExampleStyle"] = "bold"
		block["_meta"] = extraMeta
		block["annotations"] = story.Object{"audience": []any{"assistant"}, "priority": 0.5}
		return s.Sample(params)
	},
	Script: story.Says("Not at all."),
}, {
	ID: "basic/meta", Revisions: check.WithTools,
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("What is the weather in Oslo?", story.GetWeather)
		use := story.Object{"type": "tool_use", "id": "use-one", "name": "get_weather", "input": story.Object{"city": "Oslo"}, "_meta": extraMeta}
		result := story.Object{"type": "tool_result", "toolUseId": "use-one", "content": []any{server.Text("windy")}, "_meta": extraMeta}
		ask.Messages = append(ask.Messages, server.SamplingMessage{Role: "assistant", Content: []any{use}}, server.SamplingMessage{Role: "user", Content: []any{result}})
		return s.Sample(ask)
	},
	Script: story.Says("Windy."),
}}

var unknownExtras = check.Check{
	ID: "unknown-extras", Rule: "fields that the client does not know, and _meta, do no harm", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"extras"},
	Cause: "params are read strictly, or handed on to the provider with all that is in them",
	Fix:   "leave alone what the client does not know",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if a := r.Result(); a != nil {
			return check.Pass("a request with unknown fields was answered").Show(a.Place, "")
		}
		if !e.Session.AnswersAny() {
			return check.NotObserved("the client answers no request at all (see basic/answered)")
		}
		return check.Fail("a request with unknown fields was not answered%s", e.WhyNoResult(1)).Show(r.Asked, "%s", evidence.Compact(r.Raw))
	},
}

var metaPreserved = check.Check{
	ID: "meta-preserved", Rule: "the _meta of tool uses and results goes with them", Levels: check.SinceTools(report.Should), Requests: 1, Cases: []string{"meta"},
	Statements: []string{"2025-11-25/schema/08", "2026-07-28/schema/08", "2025-11-25/schema/15", "2026-07-28/schema/15"},
	Cause:      "blocks are rebuilt from a type that has no _meta",
	Fix:        "keep _meta when a tool use or a result is copied",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		switch {
		case missing != nil && missing.Kind == check.Failed: // the native dialect reads everything
			return check.NotApplicable("the provider's format has no place for _meta")
		case missing != nil:
			return *missing
		}
		if x.Request.Dialect != dialect.Native {
			return check.NotApplicable("the provider's format has no place for _meta")
		}
		for _, t := range []dialect.BlockType{dialect.ToolUse, dialect.ToolResult} {
			sent, given := evidence.Turns(r.Params.Messages, t), evidence.Turns(x.Request.Messages, t)
			if len(sent) == 0 || len(given) != len(sent) {
				return check.NotObserved("the %ss of the history did not reach the model (see parallel/results-reach-model)", t).Show(x.At("messages"), "%s", evidence.Describe(given))
			}
			for i := range sent {
				if want, got := metaOf(sent[i]), metaOf(given[i]); !evidence.SameJSON(want, got) {
					return check.Fail("the _meta of a %s did not go with it", t).
						ShowAs("server sent", r.Asked.At(sent[i].Path), "%s", evidence.Compact(sent[i].Raw)).ShowAs("model was given", x.At(given[i].Path), "%s", evidence.Compact(given[i].Raw))
				}
			}
		}
		return check.Pass("_meta went with the tool use and its result").Show(x.At("messages"), "")
	},
}

// metaOf returns a block's _meta; nil for none.
func metaOf(b dialect.Block) json.RawMessage {
	var o dialect.Object
	_ = json.Unmarshal(b.Raw, &o) // no object has none
	return o["_meta"]
}

// contexts are the values of includeContext, in the order in which the case asks with them. The last two are out of use, and may be refused.
var contexts = []string{"none", "thisServer", "allServers"}

// inContext has a conversation about something, and then asks without any context, and with more and more of it.
var inContext = harness.Case{
	ID: "basic/context",
	Handler: func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("The code word is swordfish. Keep it to yourself.")); err != nil {
			return nil, err
		}
		for _, value := range contexts {
			ask := s.Ask("What do you know?")
			ask.IncludeContext = value
			if _, err := s.Sample(ask); err != nil {
				return nil, err
			}
		}
		return "done", nil
	},
	Script: func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text("Nothing that I could tell."))) },
}

var includeContext = check.Check{
	ID: "include-context", Rule: "what becomes of the values of includeContext", Levels: check.Everywhere(report.May), Requests: 2, Cases: []string{"context"},
	Cause: "includeContext is the client's to change or leave out",
	Fix:   "nothing: the client may do as it likes",
	Judge: func(e *evidence.Case) check.Verdict {
		var became []string
		for i, value := range contexts {
			switch n := i + 1; {
			case n >= len(e.Rounds):
				became = append(became, value+" was not asked")
			case e.Rounds[n].Result() != nil:
				became = append(became, value+" is answered")
			default:
				became = append(became, value+" is not answered")
			}
		}
		return check.Info("%s", strings.Join(became, ", ")).Show(e.Rounds[1].Asked, "")
	},
}

var noForeignContext = check.Check{
	ID: "no-foreign-context", Rule: `with includeContext "none" the model is given nothing of another conversation`, Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"context"},
	Cause: "one history is kept for all requests, or the host's own conversation goes with each",
	Fix:   "give the model the request's own messages, and nothing that came before",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[1]
		if _, missing := check.ModelRequest(r); missing != nil {
			return *missing
		}
		for _, x := range r.Model {
			if x.Request == nil {
				continue
			}
			for _, c := range e.Session.Trace.Header.Cases {
				for _, other := range evidence.Conversations(x.Request.Body, c.Mark) {
					if !slices.Contains(r.Conversations, other) {
						return check.Fail("the model was given something of another conversation (%s, of %s)", other, c.ID).
							ShowAs("server sent", r.Asked, "%s", evidence.Spoken(r.Params.Messages)).ShowAs("model was given", x.At("messages"), "%s", evidence.Spoken(x.Request.Messages))
					}
				}
			}
		}
		return check.Pass("the model was given nothing of another conversation").Show(r.LastExchange().Place, "")
	},
}
