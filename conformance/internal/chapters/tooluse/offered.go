package tooluse

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server offers tools after a conversation without them, with parameters that most providers take.
var afterTalk = story.Once("tool-use/after-talk", func(s *server.Session) any {
	ask := s.Ask("And how is the weather?", story.GetWeather, simpleFlight)
	ask.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Text("I want to go to Oslo.")},
		{Role: "assistant", Content: server.Text("Oslo is beautiful.")}}, ask.Messages...)
	ask.Temperature, ask.StopSequences = new(float64), []string{"END"}
	*ask.Temperature = 0.5
	return ask
}, llm.When().Reply(story.Calls([]string{"Oslo"})...))

// toolsAccepted leaves tools that are lost or changed to always/model-was-given.
var toolsAccepted = check.Check{
	ID: "tools-accepted", Cases: []string{"one-tool"},
	Rule:   "The model accepts the tools, in the form of its provider",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{check.AsksModel, check.ModelReadsRequest(1)},
	Cause: "tools are passed on in another provider's form, or with a schema that the provider restricts",
	Fix: "Offer the model each tool in the provider's form, with its schema as raw JSON. Where the provider restricts " +
		"schemas, as with strict tools, send what it accepts.",
	Judge: func(e *evidence.Case) check.Verdict {
		x := e.Rounds[0].LastExchange()
		v := check.Pass("the model accepts the tools")
		if x.End.Refused != "" && len(x.Request.Tools) > 0 && !refusedWithoutTools(e.Session) {
			v = check.Fail("expected tools that the model accepts, it refused them: %s", x.End.Refused)
		}
		return v.ShowAs("model received", x.At("tools"), "%s", story.Names(x.Request.Tools))
	},
}

// refusedWithoutTools reports whether the model also refused a request without tools, so that they are not the reason.
func refusedWithoutTools(s *evidence.Session) bool {
	return slices.ContainsFunc(s.Exchanges["tool-use/no-tools"], func(x *evidence.Exchange) bool {
		return x.Request != nil && len(x.Request.Tools) == 0 && x.End.Refused != ""
	})
}

// The server offers many tools. The model uses the last one. A client may refuse more than 64.
var (
	sixtyFourTools = usesLast("tool-use/sixty-four-tools", 64)
	sixtyFiveTools = usesLast("tool-use/sixty-five-tools", 65)
)

func usesLast(id string, n int) harness.Case {
	offered := Numbered(n)
	return story.Once(id, func(s *server.Session) any { return s.Ask("Use the last tool.", offered...) },
		llm.When().ReplyFunc(ToolUse{offered[n-1].Name, `{"value":1}`}.call()))
}

// Numbered returns n tools that differ in their number.
func Numbered(n int) []server.Tool {
	list := make([]server.Tool, n)
	for i := range list {
		list[i] = server.Tool{Name: fmt.Sprintf("tool_%02d", i+1), Description: fmt.Sprintf("Tool number %d", i+1),
			InputSchema: story.Object{"type": "object", "properties": story.Object{"value": story.Object{"type": "integer"}}}}
	}
	return list
}

// manyTools leaves tools that are lost on the way to always/model-was-given.
var manyTools = check.Check{
	ID: "many-tools", Cases: []string{"sixty-four-tools"},
	Rule:   "The client accepts 64 tools",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{decodedTools},
	Cause: "the client has a low limit for tools",
	Fix:   "Pass 64 tools on. Return an error with the limit only if there are more.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		sent := r.Params.Tools
		if how := check.RefusalWithTools(e, r); how != "" {
			return check.Fail("expected %d tools to be accepted, found a refusal: %s", len(sent), how).
				Show(r.Asked.At("tools"), "%s", story.Names(sent))
		}
		a, v := check.ReadableResult(e, r)
		if v != nil {
			return *v
		}
		return check.Pass("the client accepts %d tools", len(sent)).ShowUses(a)
	},
}

// decodedTools needs tools of the first sampling request that could be decoded.
func decodedTools(e *evidence.Case) *check.Verdict {
	r := e.Rounds[0]
	return check.Unless(r.Params != nil && len(r.Params.Tools) > 0,
		check.NotObserved("the tools of sampling request 1 cannot be decoded").At(r.Asked))
}
