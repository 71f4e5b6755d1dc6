package tooluse

import (
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

// Dotted is the tool that the model uses. MCP allows a dot in its name; OpenAI and Anthropic refuse it.
var Dotted = server.Tool{Name: "weather.now", Description: "Current weather in a city",
	InputSchema: story.GetWeather.InputSchema}

// The server's tools have names that differ only in a dot, a dash and an underscore, and two have no description. The
// model uses the first one, by the name under which it is offered. The server samples again with the result.
var oddNames = usesDotted(server.Tool{Name: "weather-now", InputSchema: Dotted.InputSchema},
	server.Tool{Name: "weather_now", InputSchema: Dotted.InputSchema})

// dottedName is the same with the first tool alone.
var dottedName = usesDotted()

func usesDotted(others ...server.Tool) harness.Case {
	return harness.Case{
		ID: "tool-use/odd-names",
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("How is the weather in Oslo right now?", append([]server.Tool{Dotted}, others...)...)
			return story.TwoRounds(s, ask, story.Texts("windy"))
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{
				llm.When(llm.LastUser("in Oslo right now")).ReplyFunc(func(r *llm.Request) []llm.Block {
					if i := slices.IndexFunc(r.Tools, isDotted); i >= 0 {
						return []llm.Block{llm.Call(r.Tools[i].Name, `{"city":"Oslo"}`)}
					}
					return []llm.Block{llm.Text("I cannot tell.")}
				}),
				llm.When().Reply(llm.Text("It is windy.")),
			}
		},
		Barrier: true, // its answer shows whether a client refuses this case or everything
	}
}

var toolNames = check.Check{
	ID: "tool-names", Cases: []string{"odd-names"},
	Rule:   "The server gets its own tool names back, even if the provider refuses them, or the client returns an error",
	Levels: check.Robust, Requests: 1,
	Cause: "characters that the provider refuses are replaced on the way to the model, and not on the way back",
	Fix: "Give the provider a name that it accepts for each tool, in the tools and in the history. " +
		"Put the server's name into the result. Or return an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.HowRefused(e, r); how != "" {
			return check.Pass("the client refuses these tool names: %s", how)
		}
		a, v := check.ReadableResult(e, r)
		if v != nil {
			return *v
		}
		uses := a.Uses()
		switch {
		case len(uses) == 0 && !slices.ContainsFunc(e.Rounds[0].Model, offersDotted):
			return check.NotApplicable("the model was not offered %s (see always/model-was-given)", Dotted.Name).At(r.Asked)
		case len(uses) == 0:
			return check.Fail("expected a use of %s in the result, found none", Dotted.Name).
				ShowAs("server sent", r.Asked.At("tools"), "%s", story.Names(r.Params.Tools)).ShowUses(a)
		case uses[0].Name != Dotted.Name:
			return check.Fail("expected a use of %s in the result, found one of %s", Dotted.Name, uses[0].Name).
				ShowJSON(a.At(uses[0].Path), uses[0].Raw)
		case len(e.Rounds) > 1:
			if i := slices.IndexFunc(e.Rounds[1].Model, isRefused); i >= 0 && !refusesHistories(e.Session) {
				x := e.Rounds[1].Model[i]
				return check.Fail("expected a history with names that the model accepts, it refused: %s", x.End.Refused).
					At(x.At("messages"))
			}
		}
		return check.Pass("the server got its tool name back").ShowUses(a)
	},
}

// refusesHistories reports whether the model also refused the history of a case with plain names, so that the names are
// not the reason.
func refusesHistories(s *evidence.Session) bool {
	return slices.ContainsFunc(s.Exchanges["tool-use/two-turns"], func(x *evidence.Exchange) bool {
		return x.Request != nil && len(x.Request.Messages) > 1 && isRefused(x)
	})
}

// offersDotted reports whether a model request offers the dotted tool, under any name.
func offersDotted(x *evidence.Exchange) bool {
	return x.Request != nil && slices.ContainsFunc(x.Request.Tools, isDotted)
}

func isDotted(t dialect.Tool) bool { return strings.Contains(t.Description, Dotted.Description) }

func isRefused(x *evidence.Exchange) bool { return x.End.Refused != "" }
