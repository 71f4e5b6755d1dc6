package tooluse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The stories of these checks, one-tool and no-tools, are in one_tool.go and unwanted.go.

var toolsReachModel = check.Check{
	ID: "tools-reach-model", Cases: []string{"one-tool"},
	Rule:   "All tools reach the model, each with its name, description and input schema",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "tools are not passed on, or are rebuilt from a type that has only some of their fields",
	Fix:   "Offer the model each tool of the request, with its schema as raw JSON.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[0], e.Rounds[0].LastExchange()
		for _, sent := range r.Params.Tools {
			at := r.Asked.At(sent.Path)
			i := slices.IndexFunc(x.Request.Tools, func(t dialect.Tool) bool { return t.Name == sent.Name })
			if i < 0 {
				return notOffered(&sent, r, x)
			}
			got := x.Request.Tools[i]
			switch {
			case !strings.Contains(got.Description, sent.Description): // a client may add the server's name
				return check.Fail("expected the description of %s in the model request, found another", sent.Name).
					ShowAs("server sent", at, "%q", sent.Description).
					ShowAs("model received", x.At(got.Path), "%q", got.Description)
			case !sameSchema(x, &got, &sent):
				return check.Fail("expected the input schema of %s in the model request, found another", sent.Name).
					ShowAs("server sent", at, "%s", evidence.Compact(sent.InputSchema)).
					ShowAs("model received", x.At(got.Path), "%s", evidence.Compact(got.InputSchema))
			}
		}
		return showTools(check.Pass("all tools reached the model"), x)
	},
}

// notOffered returns the verdict for a tool of the sampling request that the model was not offered.
func notOffered(missing *dialect.Tool, r *evidence.Round, x *evidence.Exchange) check.Verdict {
	sent, received := len(r.Params.Tools), len(x.Request.Tools)
	v := check.Fail("expected %d tools in the model request, found %d: %s is missing", sent, received, missing.Name)
	return showTools(v.ShowAs("server sent", r.Asked.At(missing.Path), "%s", missing.Name), x)
}

// showTools adds the tools that the model was offered.
func showTools(v check.Verdict, x *evidence.Exchange) check.Verdict {
	return v.ShowAs("model received", x.At("tools"), "%s", story.Names(x.Request.Tools))
}

func offers(tools []dialect.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t dialect.Tool) bool { return t.Name == name })
}

var onlyTheseTools = check.Check{
	ID: "only-these-tools", Cases: []string{"one-tool", "no-tools"},
	Rule:   "The model is offered only the tools of the sampling request",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "the host adds its own tools, or those of other servers, to every model request",
	Fix:   "Offer the model the tools of the sampling request only.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[0], e.Rounds[0].LastExchange()
		for _, got := range x.Request.Tools {
			if !offers(r.Params.Tools, got.Name) {
				return check.Fail("expected only tools of the sampling request, found %s", got.Name).
					ShowAs("server sent", r.Asked.At("tools"), "%s", story.Names(r.Params.Tools)).
					ShowAs("model received", x.At(got.Path), "%s", got.Name)
			}
		}
		return showTools(check.Pass("the model was offered no other tool"), x)
	},
}

// The server offers many tools. The model uses the last one.
var (
	sixtyFourTools = expecting(tools{refusable: false}, usesLast("tool-use/sixty-four-tools", 64))
	sixtyFiveTools = expecting(tools{refusable: true}, usesLast("tool-use/sixty-five-tools", 65))
)

// tools says whether a client may refuse that many. Every client is expected to accept 64.
type tools struct{ refusable bool }

func usesLast(id string, n int) harness.Case {
	offered := numbered(n)
	return story.Once(id, func(s *server.Session) any { return s.Ask("Use the last tool.", offered...) },
		llm.When().Reply(llm.Call(offered[n-1].Name, `{"value":1}`)))
}

// numbered returns n tools that differ in their number.
func numbered(n int) []server.Tool {
	list := make([]server.Tool, n)
	for i := range list {
		list[i] = server.Tool{Name: fmt.Sprintf("tool_%02d", i+1), Description: fmt.Sprintf("Tool number %d", i+1),
			InputSchema: story.Object{"type": "object", "properties": story.Object{"value": story.Object{"type": "integer"}}}}
	}
	return list
}

var manyTools = check.Check{
	ID: "many-tools", Cases: []string{"sixty-four-tools", "sixty-five-tools"},
	Rule:   "64 tools reach the model; more tools reach it too, or the client returns an error",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{decodedTools},
	Cause: "a limit of the client silently drops tools",
	Fix:   "Pass all tools on. Return an error with the limit if there are too many.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		sent := r.Params.Tools
		switch how := check.RefusalWithTools(e, r); {
		case how != "" && check.Expected[tools](e).refusable:
			return check.Pass("the client refuses %d tools: %s", len(sent), how)
		case how != "":
			return check.Fail("expected %d tools to be accepted, found a refusal: %s", len(sent), how).
				Show(r.Asked.At("tools"), "%s", story.Names(sent))
		}
		x, v := check.ModelRequest(r)
		if v != nil {
			return *v
		}
		for _, tool := range sent {
			if !offers(x.Request.Tools, tool.Name) {
				return notOffered(&tool, r, x)
			}
		}
		a, v := check.ReadableResult(e, r)
		if v != nil {
			return *v
		}
		if last := sent[len(sent)-1].Name; len(a.Uses()) == 0 {
			return check.Fail("expected a use of %s, the last of %d tools, found none", last, len(sent)).
				ShowMembers(a, "content")
		}
		return check.Pass("all %d tools reached the model, and it used the last one", len(sent)).ShowUses(a)
	},
}

// decodedTools needs tools of the first sampling request that could be decoded.
func decodedTools(e *evidence.Case) *check.Verdict {
	r := e.Rounds[0]
	return check.Unless(r.Params != nil && len(r.Params.Tools) > 0,
		check.NotObserved("the tools of sampling request 1 cannot be decoded").At(r.Asked))
}
