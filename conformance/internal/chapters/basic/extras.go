package basic

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// ExtraMeta is a _meta that no client knows.
var ExtraMeta = story.Object{"com.example/trace": "trace-word-nine"}

// The server sends unknown fields in the params, in a message and in a block. Some pieces of a streamed answer are
// equal, and one is only white space.
var extras = harness.Case{
	ID: "basic/extras",
	Handler: func(s *server.Session) (any, error) {
		var params story.Object
		if err := json.Unmarshal(story.JSON(s.Ask("Do you mind what you do not know?")), &params); err != nil {
			return nil, err
		}
		params["comExampleHint"] = story.Object{"deep": []any{1, nil, "x"}}
		params["_meta"] = ExtraMeta
		message := params["messages"].([]any)[0].(story.Object)
		message["comExampleNote"] = true
		block := message["content"].(story.Object)
		block["comExampleStyle"] = "bold"
		block["_meta"] = ExtraMeta
		block["annotations"] = story.Object{"audience": []any{"assistant"}, "priority": 0.5}
		return s.Sample(params)
	},
	Script:  story.Says("no, no, no, \n\n  not at all."),
	Barrier: true,
}

// The server sends a tool use and its result, each with a _meta.
var meta = harness.Case{
	ID: "basic/meta", Revisions: check.WithTools,
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("What is the weather in Oslo?", story.GetWeather)
		ask.Messages = append(ask.Messages, UseWithMeta("assistant", story.Object{
			"type": "tool_use", "id": "use-one", "name": "get_weather", "input": story.Object{"city": "Oslo"},
		}), UseWithMeta("user", story.Object{
			"type": "tool_result", "toolUseId": "use-one", "isError": false, "content": []any{server.Text("windy")},
		}))
		return s.Sample(ask)
	},
	Script: story.Says("Windy."),
}

// UseWithMeta returns a message with the block, to which it adds extraMeta.
func UseWithMeta(role string, block story.Object) server.SamplingMessage {
	block["_meta"] = ExtraMeta
	return server.SamplingMessage{Role: role, Content: []any{block}}
}

var metaPreserved = check.Check{
	ID: "meta-preserved", Cases: []string{"meta"},
	Rule:       "The _meta of tool uses and tool results SHOULD be preserved",
	Levels:     check.SinceTools(report.Should),
	Statements: []string{"schema/08", "schema/15"},
	Requests:   1, Needs: []check.Need{providerHasMeta},
	Cause: "blocks are copied through a type without _meta",
	Fix:   "Copy _meta with every tool use and tool result.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[0], e.Rounds[0].LastExchange()
		for _, t := range []dialect.BlockType{dialect.ToolUse, dialect.ToolResult} {
			sent, given := evidence.BlocksOf(r.Params.Messages, t), evidence.BlocksOf(x.Request.Messages, t)
			if len(sent) == 0 || len(given) != len(sent) {
				return check.NotObserved("expected %d %s blocks in the model request, found %d %s",
					len(sent), t, len(given), evidence.See("parallel/results-reach-model")).
					Show(x.At("messages"), "%s", evidence.Describe(given))
			}
			for i := range sent {
				if want, got := metaOf(sent[i]), metaOf(given[i]); !jsonvalue.Same(want, got) {
					v := check.Fail("expected the _meta of the %s in the model request, found %s", t, found(got))
					return both(v, r.Asked.At(sent[i].Path), evidence.Compact(sent[i].Raw),
						x.At(given[i].Path), evidence.Compact(given[i].Raw))
				}
			}
		}
		return check.Pass("the model received the _meta of the tool use and its result").At(x.At("messages"))
	},
}

// providerHasMeta needs a model request in the native dialect, the only one with a place for _meta. That dialect reads
// everything, so a request that the model cannot read has another dialect.
func providerHasMeta(e *evidence.Case) *check.Verdict {
	x, missing := check.ModelRequest(e.Rounds[0])
	switch {
	case missing != nil && missing.Kind != check.Failed:
		return missing
	case missing != nil || !dialects.FactsOf(x.Request.Dialect).Native:
		return check.Instead(check.NotApplicable("the provider's format has no place for _meta"))
	}
	return nil
}

func metaOf(b dialect.Block) json.RawMessage {
	var o jsonvalue.Object
	_ = json.Unmarshal(b.Raw, &o) // a block that is not an object has none
	return o["_meta"]
}

// contexts are the values of includeContext, in the order of the case. The last two are deprecated, and may be refused.
var contexts = []string{"none", "thisServer", "allServers"}

// The server has one conversation. In the next ones, it asks for no context, and then for more and more of it.
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
	Script: story.Says("Nothing that I could tell."),
}
