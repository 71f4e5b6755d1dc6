package tooluse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var toolsReachModel = check.Check{
	ID: "tools-reach-model", Rule: "every tool reaches the model, with its name, description and input schema",
	Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"one-tool"},
	Cause: "tools are not passed on, or are rebuilt from a type that knows some of their fields",
	Fix:   "offer the model each tool of the request, its schema as it came",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		for _, tool := range r.Params.Tools {
			i := slices.IndexFunc(x.Request.Tools, func(t dialect.Tool) bool { return t.Name == tool.Name })
			if i < 0 {
				return check.Fail("the model was never offered the tool %s", tool.Name).ShowAs("server sent", r.Asked.At(tool.Path), "").
					ShowAs("model was given", x.At("tools"), "%s", story.Names(x.Request.Tools))
			}
			got := x.Request.Tools[i]
			switch {
			case !strings.Contains(got.Description, tool.Description): // the client may add to it, such as whose tool it is
				return check.Fail("the model was offered the tool %s with another description", tool.Name).
					ShowAs("server sent", r.Asked.At(tool.Path), "%q", tool.Description).ShowAs("model was given", x.At(got.Path), "%q", got.Description)
			case !sameSchema(x, &got, &tool):
				return check.Fail("the model was offered the tool %s with another input schema", tool.Name).
					ShowAs("server sent", r.Asked.At(tool.Path), "%s", evidence.Compact(tool.InputSchema)).ShowAs("model was given", x.At(got.Path), "%s", evidence.Compact(got.InputSchema))
			}
		}
		return check.Pass("the model was offered every tool").ShowAs("model was given", x.At("tools"), "%s", story.Names(x.Request.Tools))
	},
}

var onlyTheseTools = check.Check{
	ID: "only-these-tools", Rule: "the model is offered the request's tools and no others", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"one-tool", "no-tools"},
	Cause: "the host's own tools, or those of other servers, are in every model request that it makes",
	Fix:   "offer the model what the sampling request lists, and nothing else",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		for _, got := range x.Request.Tools {
			if !slices.ContainsFunc(r.Params.Tools, func(t dialect.Tool) bool { return t.Name == got.Name }) {
				return check.Fail("the model was offered %s, which is not a tool of the request", got.Name).
					ShowAs("server sent", r.Asked.At("tools"), "%s", story.Names(r.Params.Tools)).ShowAs("model was given", x.At(got.Path), "%s", got.Name)
			}
		}
		return check.Pass("the model was offered no foreign tool").ShowAs("model was given", x.At("tools"), "%s", story.Names(x.Request.Tools))
	},
}

// fewTools is how many tools every client is expected to take.
const fewTools = 64

// numbered are n tools that differ by their number.
func numbered(n int) []server.Tool {
	tools := make([]server.Tool, n)
	for i := range tools {
		tools[i] = server.Tool{Name: fmt.Sprintf("tool_%02d", i+1), Description: fmt.Sprintf("Tool number %d", i+1),
			InputSchema: story.Object{"type": "object", "properties": story.Object{"value": story.Object{"type": "integer"}}}}
	}
	return tools
}

var manyToolsWork = check.Check{
	ID: "many-tools", Rule: "64 tools at once work; more work too, or are refused with an error", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"sixty-four-tools", "sixty-five-tools"},
	Cause: "a limit of the client drops the tools that are over it",
	Fix:   "pass all tools on; answer with an error that names the limit where there are too many",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if r.Params == nil || len(r.Params.Tools) == 0 {
			return check.NotObserved("what sampling request 1 offers cannot be read").Show(r.Asked, "")
		}
		sent := r.Params.Tools
		if how := check.RefusalWithTools(e, r); how != "" {
			if len(sent) > fewTools {
				return check.Pass("the client refuses %d tools, and says so: %s", len(sent), how)
			}
			return check.Fail("the client refuses %d tools: %s", len(sent), how).Show(r.Asked.At("tools"), "%s", story.Names(sent))
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		for _, tool := range sent {
			if !slices.ContainsFunc(x.Request.Tools, func(t dialect.Tool) bool { return t.Name == tool.Name }) {
				return check.Fail("of %d tools the model was never offered %s, and no error says so", len(sent), tool.Name).
					ShowAs("server sent", r.Asked.At(tool.Path), "%s", tool.Name).ShowAs("model was given", x.Place, "%d tools: %s", len(x.Request.Tools), story.Names(x.Request.Tools))
			}
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		if last := sent[len(sent)-1].Name; len(a.Uses()) == 0 {
			return check.Fail("the model asked for %s, the last of %d tools, and the answer has no tool use", last, len(sent)).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		return check.Pass("all %d tools reached the model, and it could use the last", len(sent)).Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}
