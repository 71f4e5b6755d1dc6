// Package clientloop is the chapter client-loop: it judges clients that run the tool loop themselves. Such a client
// executes the tools that the model uses through tools/call on the server that samples, and returns only the final
// answer. The specification leaves that loop to the server, so the chapter applies only where the run shows such a
// client, or the user declares one.
//
// Each case offers tools that the server lists, too. The case one-tool is played for every client; the others follow
// only if some case of the run shows a client loop. The files: calls.go is about the calls and their results,
// mistakes.go about a model that uses tools wrongly, limits.go about loops that do not end, consent.go about
// destructive tools, and cancel.go about the server's cancel.
package clientloop

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

// Scenario is the chapter.
var Scenario = check.Scenario{
	ID:         "client-loop",
	Purpose:    "clients that run the tool loop themselves, in place of the server",
	Revisions:  check.WithTools,
	ClientLoop: true,
	Cases: []harness.Case{
		oneTool, twoTools, failingTool, unknown, invalid, patterns, endless, slowTool, destroys, cancelTool, cancelModel,
	},
	Checks: []check.Check{
		toolsCalled, resultsFedBack, unknownTool, invalidArguments, allowedOnly, loopBounded, overallTimeout,
		destructiveConfirmed, finalResult, cancelStopsLoop,
	},
}

// Probe is the case that every client plays. All checks judge it, so that each says of a client with another loop that
// it does not apply.
const Probe = "one-tool"

// loopCase is a case for clients with a loop of their own. The model answers in turns.
func loopCase(id string, hints story.Object, tools []server.Tool, question string, turns ...[]llm.Block) harness.Case {
	return harness.Case{ID: "client-loop/" + id, Barrier: true, ClientLoop: id != Probe, Tools: tools,
		Handler: func(s *server.Session) (any, error) { return s.Sample(asking(s, question, hints, tools...)) },
		Script:  func(string) []*llm.Rule { return inTurns(tools, turns) }}
}

func inTurns(tools []server.Tool, turns [][]llm.Block) []*llm.Rule {
	var rules []*llm.Rule
	for i, blocks := range turns {
		rules = append(rules, llm.When(llm.Turn(i+1)).ReplyFunc(offering(tools, func(*llm.Request) []llm.Block {
			return blocks
		})))
	}
	return rules
}

// offering returns the reply with each tool under the name under which the client offers it to its model.
func offering(tools []server.Tool, reply func(*llm.Request) []llm.Block) func(*llm.Request) []llm.Block {
	var known []dialect.Tool
	for _, tool := range tools {
		known = append(known, dialect.Tool{Name: tool.Name})
	}
	return func(r *llm.Request) []llm.Block { return offered.Rename(reply(r), known, r) }
}

// asking returns a request that offers the tools. No specification says where hints are, so they are in each place
// where a client may look. A client without sampling.tools gets the names of the tools as the only hint.
func asking(s *server.Session, question string, hints story.Object, tools ...server.Tool) any {
	ask := s.Ask(question)
	all := story.Object{}
	if s.Declares("sampling", "tools") {
		ask.Tools = tools
	} else {
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		all["allowedToolPatterns"] = names
	}
	for name, value := range hints {
		all[name] = value
	}
	if len(all) == 0 {
		return ask
	}
	ask.Metadata, ask.Meta = all, all
	params := evidence.ObjectOf(jsonvalue.Marshal(ask))
	for name, value := range all {
		params[name] = jsonvalue.Marshal(value)
	}
	return params
}

// at is the use of a gauge.
func at(tool, place string) llm.Block { return llm.Call(tool, fmt.Sprintf(`{"place":%q}`, place)) }

func said(text string) []llm.Block { return []llm.Block{llm.Text(text)} }

// round returns the case's first sampling request, with its requests to the model.
func round(e *evidence.Case) *evidence.Round { return e.Rounds[0] }

// about returns a need that turns all cases but these away. Of the probe it says nothing: every check of the chapter
// judges it, for clients with another loop.
func about(cases ...string) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		holds := slices.ContainsFunc(cases, func(name string) bool { return e.Case.ID == "client-loop/"+name })
		return check.Unless(holds, check.NotApplicable("another case shows this"))
	}
}

// rule completes a check of the chapter on some of its cases.
func rule(c check.Check, cases ...string) check.Check {
	c.Levels, c.Requests = check.Robust, 1
	c.Cases = cases
	if !slices.Contains(cases, Probe) {
		c.Cases = append([]string{Probe}, cases...)
	}
	c.Needs = slices.Concat([]check.Need{about(cases...)}, c.Needs, []check.Need{usesTool})
	return c
}

func usesTool(e *evidence.Case) *check.Verdict {
	if len(e.Uses()) > 0 {
		return nil
	}
	if _, missing := check.ModelRequest(round(e)); missing != nil {
		return missing
	}
	return check.Instead(check.NotObserved("the model used no tool%s", e.WhyNoResult(1)))
}

// after returns the request to the model that follows the one with a tool use; nil for none.
func after(e *evidence.Case, use *dialect.Block) *evidence.Exchange {
	model := round(e).Model
	for i, x := range model {
		mine := slices.ContainsFunc(x.Calls(), func(b dialect.Block) bool { return same(&b, use) })
		if mine && i+1 < len(model) {
			return model[i+1]
		}
	}
	return nil
}

func same(a, b *dialect.Block) bool {
	return a.ID == b.ID && a.Name == b.Name && jsonvalue.Same(evidence.Arguments(*a), evidence.Arguments(*b))
}

// resultFor returns the result of a tool use in the next request to the model; nil for none.
func resultFor(e *evidence.Case, use *dialect.Block) (*evidence.Exchange, *dialect.Block) {
	x := after(e, use)
	if x == nil || x.Request == nil {
		return x, nil
	}
	return x, x.ResultOf(use)
}

// notTold is the verdict for a client that asked the model no more after a tool use, or without the result of that.
func notTold(e *evidence.Case, use *dialect.Block, x *evidence.Exchange) check.Verdict {
	r := round(e)
	if x != nil {
		return check.Fail("expected a result for the model's use of %s in the next model request, found none", use.Name).
			Show(x.At("messages"), "%s", evidence.Describe(evidence.BlocksOf(x.Request.Messages, dialect.ToolResult)))
	}
	v := check.Fail("expected another model request after the model's use of %s, found none%s", use.Name, e.WhyNoResult(1))
	if a := r.Result(); a != nil {
		v = v.ShowMembers(a, "content")
	}
	return v.At(lastOf(r))
}

func lastOf(r *evidence.Round) evidence.Place {
	if len(r.Model) == 0 {
		return r.Asked
	}
	return r.Model[len(r.Model)-1].Place
}
