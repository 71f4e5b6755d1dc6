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
	"cmp"
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
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

// Scenario is the chapter.
var Scenario = check.Scenario{
	ID:         "client-loop",
	Purpose:    "clients that run the tool loop themselves, in place of the server",
	Revisions:  check.WithTools,
	ClientLoop: true,
	Cases: slices.Concat([]harness.Case{
		oneTool, twoTools.asCase(), failingTool.asCase(), unknown.asCase(), invalid.asCase(), patterns.asCase(), endless,
		slowTool, destroys, cancelTool, cancelModel,
	}, afterImage(toldAgain)),
	Checks: []check.Check{
		toolsCalled, resultsFedBack, unknownTool, invalidArguments, allowedOnly, loopBounded, overallTimeout,
		destructiveConfirmed, finalResult, cancelStopsLoop,
	},
}

// Probe is the case that every client plays. All checks judge it, so that each says of a client with another loop that
// it does not apply.
const Probe = "one-tool"

// turns are the model's answers in a loop, in order.
type turns [][]llm.Block

// loop is the story of a case for clients with a loop of their own. The model answers in turns.
type loop struct {
	id       string
	hints    story.Object
	tools    []server.Tool
	question string
	turns    turns
}

func (l loop) asCase() harness.Case {
	return harness.Case{ID: "client-loop/" + l.id, Barrier: true, ClientLoop: l.id != Probe, Tools: l.tools,
		Handler: func(s *server.Session) (any, error) { return s.Sample(asking(s, l.question, l.hints, l.tools...)) },
		Script:  func(string) []*llm.Rule { return inTurns(l.tools, llm.Turn, l.turns) }}
}

// toldAgain are the stories that are told behind an image, too.
var toldAgain = []loop{twoTools, failingTool, unknown, invalid}

// Behind is the suffix of the cases in which the loop is in the second request of a call, behind an image and its
// answer.
const Behind = "-after-image"

// afterImage returns the cases of the stories behind an image. Their tools have names of their own, because a session
// has the tools of all its cases.
func afterImage(all []loop) (cases []harness.Case) {
	for _, l := range all {
		l = l.again()
		c := l.asCase()
		c.Handler = func(s *server.Session) (any, error) {
			var besides []story.Telling
			if s.Declares("sampling", "tools") {
				besides = append(besides, story.AfterFailure)
			}
			if err := story.BehindImage(s, besides...); err != nil {
				return nil, err
			}
			return s.Sample(asking(s, l.question, l.hints, l.tools...))
		}
		c.Script = func(string) []*llm.Rule {
			turn := since(l.question)
			return append(inTurns(l.tools, turn, l.turns), llm.When(turn(0)).Reply(llm.Text("Yes.")))
		}
		cases = append(cases, c)
	}
	return cases
}

// What the names of tools begin with in the loops, and in those behind an image.
const (
	toolPrefix  = "loop_"
	againPrefix = toolPrefix + "again_"
)

// again returns the story with other names: of its case and of its tools.
func (l loop) again() loop {
	names := map[string]string{}
	l.id, l.tools = l.id+Behind, slices.Clone(l.tools)
	for i, tool := range l.tools {
		l.tools[i].Name = againPrefix + strings.TrimPrefix(tool.Name, toolPrefix)
		names[tool.Name] = l.tools[i].Name
	}
	said := l.turns
	l.turns = nil
	for _, blocks := range said {
		blocks = slices.Clone(blocks)
		for i, b := range blocks {
			blocks[i].Name = cmp.Or(names[b.Name], b.Name)
		}
		l.turns = append(l.turns, blocks)
	}
	return l
}

// since is [llm.Turn] for turns that count from the question on; 0 matches the requests before it.
func since(question string) func(n int) llm.Matcher {
	return func(n int) llm.Matcher {
		return llm.MatcherFunc(func(r *llm.Request) error {
			turn := 0
			for i, m := range r.Messages {
				if m.Role == dialect.User && strings.Contains(dialect.PlainText(m.Content), question) {
					turn = (&dialect.Request{Messages: r.Messages[i:]}).Turn()
				}
			}
			if turn != n {
				return fmt.Errorf("expected turn %d since %q, found turn %d", n, question, turn)
			}
			return nil
		})
	}
}

// inTurns returns the model's turns. Each matches by its number, which counts from 1.
func inTurns(tools []server.Tool, turn func(int) llm.Matcher, all turns) []*llm.Rule {
	var rules []*llm.Rule
	for i, blocks := range all {
		rules = append(rules, llm.When(turn(i+1)).ReplyFunc(offering(tools, func(*llm.Request) []llm.Block {
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

// round returns the sampling request of the loop, with its requests to the model.
func round(e *evidence.Case) *evidence.Round { return e.Rounds[before(e)] }

// before is the number of sampling requests before that of the loop.
func before(e *evidence.Case) int {
	if strings.HasSuffix(e.Case.ID, Behind) {
		return 1
	}
	return 0
}

// asked needs the request of the loop. Before it may come an image that the client refuses.
func asked(e *evidence.Case) *check.Verdict { return check.SentBehindImage(e, before(e)) }

// about returns a need that turns all cases but these away. Of the probe it says nothing: every check of the chapter
// judges it, for clients with another loop.
func about(cases ...string) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		holds := slices.ContainsFunc(cases, func(name string) bool { return e.Case.ID == "client-loop/"+name })
		return check.Unless(holds, check.NotApplicable("another case shows this"))
	}
}

// rule completes a check of the chapter on some of its cases, also behind an image.
func rule(c check.Check, cases ...string) check.Check {
	c.Levels, c.Requests = check.Robust, 1
	for _, name := range cases {
		if slices.ContainsFunc(toldAgain, func(l loop) bool { return l.id == name }) {
			cases = append(slices.Clip(cases), name+Behind)
		}
	}
	c.Cases = cases
	if !slices.Contains(cases, Probe) {
		c.Cases = append([]string{Probe}, cases...)
	}
	c.Needs = slices.Concat([]check.Need{about(cases...), asked}, c.Needs, []check.Need{usesTool})
	return c
}

func usesTool(e *evidence.Case) *check.Verdict {
	if len(e.Uses()) > 0 {
		return nil
	}
	if _, missing := check.ModelRequest(round(e)); missing != nil {
		return missing
	}
	return check.Instead(check.NotObserved("the model used no tool%s", e.WhyNoResult(round(e).N)))
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
	v := check.Fail("expected another model request after the model's use of %s, found none%s", use.Name,
		e.WhyNoResult(r.N))
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
