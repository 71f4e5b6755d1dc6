package always

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var freshIDs = check.Check{
	ID:     "fresh-ids",
	Rule:   "Tool uses of different turns have different ids",
	Levels: check.Robust,
	Cause:  "ids are generated from the tool's name, or from a counter that starts anew with each request",
	Fix:    "Pass the provider's ids on. If it has none, generate ids that are unique across turns.",
	Judge: func(e *evidence.Case) check.Verdict {
		compared := 0
		for _, r := range e.Rounds {
			a := r.Result()
			if a == nil || r.Params == nil {
				continue
			}
			before := dialect.Blocks(r.Params.Messages, dialect.ToolUse)
			for _, use := range a.Uses() {
				i := slices.IndexFunc(before, func(b dialect.Block) bool { return b.ID == use.ID && b.ID != "" })
				if i >= 0 && !saidWithID(e.Sources(r), use.ID) {
					return check.Fail("expected different ids in two turns, found %s in both", use.ID).
						Show(r.Asked.At(before[i].Path).At("id"), "%q", use.ID).Show(a.At(use.Path).At("id"), "%q", use.ID)
				}
			}
			if len(before) > 0 {
				compared += len(a.Uses())
			}
		}
		if compared == 0 {
			return check.NotApplicable("no result has a tool use after those of an earlier turn")
		}
		return check.Pass("the tool uses of all turns have different ids")
	},
}

func saidWithID(sources []*evidence.Exchange, id string) bool {
	return slices.ContainsFunc(sources, func(x *evidence.Exchange) bool {
		return slices.ContainsFunc(x.Calls(), func(use dialect.Block) bool { return use.ID == id })
	})
}

var notExecuted = check.Check{
	ID:     "not-executed",
	Rule:   "The client returns a tool use to the server and does not run the tool itself",
	Levels: check.Robust,
	Cause:  "the host runs every tool call of its model, regardless of who offered the tool",
	Fix:    "Return the tool use to the server, with the stop reason toolUse.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		if v := bothLoops(s); v != nil || s.ClientLoop {
			return v.Or(check.NotApplicable("the client runs the tool loop itself (see client-loop)"))
		}
		offered := toolsOffered(s)
		for _, call := range s.ForeignCalls {
			if at, known := offered[call.Tool]; known && at < s.Order[call.Ref] {
				return check.Fail("expected no call of the tool %s by the client, found one", call.Tool).
					Show(call.Place, "%s", call.Tool)
			}
		}
		if len(offered) == 0 {
			return check.NotApplicable("no sampling request has tools")
		}
		return check.Pass("the client ran no tool of the server by itself")
	},
}

// bothLoops returns the verdict for a client with two loops; nil for any other. It is a failure if the client runs a
// tool and also returns the tool use to the server, and a warning if it runs some tools and returns the uses of others.
func bothLoops(s *evidence.Session) *check.Verdict {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			calls, rounds := ev.ToolCalls()
			for i, r := range rounds {
				if a := r.Result(); a != nil && len(a.Uses()) > 0 {
					return check.Instead(check.Fail("expected one tool loop, found two: the client called the tool %s, and "+
						"returned a tool use to the server", calls[i].Tool).Show(calls[i].Place, "%s", calls[i].Tool).ShowUses(a))
				}
			}
			for _, r := range ev.Rounds {
				if a := r.Result(); s.ClientLoop && a != nil && slices.ContainsFunc(a.Uses(), func(use dialect.Block) bool {
					return slices.Contains(c.Tools, use.Name)
				}) {
					return check.Instead(check.Warn("expected one tool loop, found two: the client calls some tools itself, and " +
						"returned a tool use to the server").ShowUses(a))
				}
			}
		}
	}
	return nil
}

// toolsOffered returns the position of the first sampling request with each tool, by name.
func toolsOffered(s *evidence.Session) map[string]int {
	first := map[string]int{}
	for _, calls := range s.Calls {
		for _, call := range calls {
			for _, r := range call.Rounds {
				if r.Params == nil {
					continue
				}
				for _, t := range r.Params.Tools {
					if at, known := first[t.Name]; !known || s.Order[r.Asked.Ref] < at {
						first[t.Name] = s.Order[r.Asked.Ref]
					}
				}
			}
		}
	}
	return first
}
