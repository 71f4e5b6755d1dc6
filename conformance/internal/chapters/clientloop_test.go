package chapters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/clientloop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type (
	clientLoopRequest = server.CreateMessageParams
)

var (
	clientLoopJudges = tracetest.Judging(clientloop.Scenario)
)

const (
	brest  = `{"place":"Brest"}`
	tideIs = "The tide at Brest is 3.2 m."
	end    = "It stands at 3.2 m."
)

// clientLoopBegins is the request of a case that offers tools, and the model's use of one of them, in a run whose
// client is declared to run the loop.
func clientLoopBegins(s *session, tool, arguments string, offered ...server.Tool) *clientLoopRequest {
	s.Trace.Header.Loop = string(harness.ClientLoop)
	for _, t := range offered {
		s.Trace.Header.Cases[0].Tools = append(s.Trace.Header.Cases[0].Tools, t.Name)
	}
	ask := tracetest.Asking("What now?", offered...)
	s.Asks(ask).Prompts(ask).UsesTool(tool, arguments)
	return ask
}

// goesOn is the next request to the model, with a result of the only tool use before it, and the model's next use;
// without a tool it is the last answer.
func goesOn(s *session, ask *clientLoopRequest, use [2]string, result server.ToolResultContent,
	next ...string) *clientLoopRequest {
	after := ask.After([]byte(tracetest.Wanting([3]string{"call_1", use[0], use[1]})),
		func([]server.ToolUseContent) []server.ToolResultContent {
			result.Type, result.ToolUseID = "tool_result", "call_1"
			return []server.ToolResultContent{result}
		})
	s.Prompts(after)
	if len(next) > 0 {
		s.UsesTool(next[0], next[1])
		return after
	}
	said := tracetest.Saying(end)
	if s.Dialect != dialect.Native {
		said = string(jsonvalue.Marshal(story.Object{"choices": []any{story.Object{
			"message": story.Object{"role": "assistant", "content": end}, "finish_reason": "stop"}}}))
	}
	s.Says(said)
	return after
}

func clientLoopSaying(text string, isError bool) server.ToolResultContent {
	return server.ToolResultContent{Content: []any{server.Text(text)}, IsError: isError}
}

// tides is the whole story of one tool. The functions replace its steps; nil for the right one.
func tides(call func(*session), result *server.ToolResultContent, answer func(*session)) func(*session) {
	return func(s *session) {
		ask := clientLoopBegins(s, "loop_tide", brest, clientloop.Tide)
		if call == nil {
			s.CallsTool("loop_tide", brest).ToolReturns("loop_tide", tideIs, false)
		} else {
			call(s)
		}
		given := clientLoopSaying(tideIs, false)
		if result != nil {
			given = *result
		}
		goesOn(s, ask, [2]string{"loop_tide", brest}, given)
		if answer == nil {
			s.Answers(tracetest.Saying(end))
		} else {
			answer(s)
		}
		s.PassesBarrier()
	}
}

func clientLoopCalling(arguments ...string) func(*session) {
	return func(s *session) {
		for _, a := range arguments {
			s.CallsTool("loop_tide", a).ToolReturns("loop_tide", tideIs, false)
		}
	}
}

func TestEachToolUseBecomesACall(t *testing.T) {
	clientLoopJudges(t, "tools-called", clientloop.Probe,
		passes("it does", tides(nil, nil, nil)),
		passes("also beside a call of the client's own", tides(clientLoopCalling("{}", brest), nil, nil)),
		fails("no call", tides(clientLoopCalling(), nil, nil), `one tools/call of loop_tide with {"place":"Brest"}, found 0`),
		fails("two calls", tides(clientLoopCalling(brest, brest), nil, nil), "found 2"),
		fails("other arguments", tides(clientLoopCalling(`{"place":"BREST"}`), nil, nil), "found 0"),
		inapplicable("the client returns the tool use", func(s *session) {
			clientLoopBegins(s, "loop_tide", brest, clientloop.Tide)
			s.Trace.Header.Loop = ""
			s.Answers(tracetest.Wanting([3]string{"call_1", "loop_tide", brest})).PassesBarrier()
		}, "leaves the tool loop to the server"),
		inapplicable("the server is declared to run the loop", func(s *session) {
			tides(nil, nil, nil)(s)
			s.Trace.Header.Loop = string(harness.ServerLoop)
		}),
		passes("nothing is declared, but the trace shows the loop", func(s *session) {
			tides(nil, nil, nil)(s)
			s.Trace.Header.Loop = ""
		}),
	)
}

func TestTheModelReceivesEachResult(t *testing.T) {
	other, failed := clientLoopSaying("done", false), clientLoopSaying(tideIs, true)
	inJSON := clientLoopSaying(`{"output":"`+tideIs+`"}`, false)
	const broken = "error: the buoy is out of order"
	buoys := func(result server.ToolResultContent) func(*session) {
		return func(s *session) {
			ask := clientLoopBegins(s, "loop_buoy", brest, clientloop.Buoy)
			s.CallsTool("loop_buoy", brest).ToolReturns("loop_buoy", broken, true)
			goesOn(s, ask, [2]string{"loop_buoy", brest}, result)
			s.Answers(tracetest.Saying(end)).PassesBarrier()
		}
	}
	clientLoopJudges(t, "results-fed-back", clientloop.Probe,
		passes("it does", tides(nil, nil, nil)),
		passes("in JSON", tides(nil, &inJSON, nil)),
		fails("another text", tides(nil, &other, nil), "result of loop_tide under the id of its use, found another"),
		tracetest.InNative(
			fails("a failure instead of a success", tides(nil, &failed, nil), "a successful result of loop_tide")),
		tracetest.About("failing-tool", passes("a failure", buoys(clientLoopSaying(broken, true)))),
		tracetest.About("failing-tool", tracetest.InNative(
			fails("a failure as success", buoys(clientLoopSaying(broken, false)), "no sign of the failure"))),
		fails("the loop ends", func(s *session) {
			clientLoopBegins(s, "loop_tide", brest, clientloop.Tide)
			clientLoopCalling(brest)(s)
			s.Refuses(-32603, "broken")
			s.PassesBarrier()
		}, "another model request after the model's use of loop_tide"),
		unobserved("no call", tides(clientLoopCalling(), nil, nil), "see client-loop/tools-called"),
	)
}

func TestTheResultIsTheLastAnswer(t *testing.T) {
	answers := func(result string) func(*session) { return func(s *session) { s.Answers(result) } }
	clientLoopJudges(t, "final-result", clientloop.Probe,
		passes("it is", tides(nil, nil, nil)),
		passes("without a stop reason", tides(nil, nil, answers(tracetest.Without(tracetest.Saying(end), "stopReason")))),
		passes("with its own stop reason",
			tides(nil, nil, answers(tracetest.With(tracetest.Saying(end), "stopReason", `"done"`)))),
		fails("another text", tides(nil, nil, answers(tracetest.Saying("Done."))), "another text"),
		fails("another stop reason",
			tides(nil, nil, answers(tracetest.With(tracetest.Saying(end), "stopReason", `"toolUse"`))), `found "toolUse"`),
		fails("a tool use", tides(nil, nil, answers(tracetest.Wanting([3]string{"a", "loop_tide", brest}))), "a tool use"),
		fails("nothing", tides(nil, nil, func(s *session) { s.Refuses(-32603, "broken") }), "found none"),
	)
}

func TestTheModelIsToldOfItsMistakes(t *testing.T) {
	mistake := func(
		tool, arguments string, offered server.Tool, call bool, steps func(*session, *clientLoopRequest),
	) func(*session) {
		return func(s *session) {
			ask := clientLoopBegins(s, tool, arguments, offered)
			if call {
				s.CallsTool(tool, arguments).ToolReturns(tool, "no", true)
			}
			steps(s, ask)
			s.PassesBarrier()
		}
	}
	told := func(tool, arguments string) func(*session, *clientLoopRequest) {
		return func(s *session, ask *clientLoopRequest) {
			goesOn(s, ask, [2]string{tool, arguments}, clientLoopSaying("error: that is wrong", true))
			s.Answers(tracetest.Saying(end))
		}
	}
	refuses := func(s *session, _ *clientLoopRequest) { s.Refuses(-32603, "unknown tool") }
	const none, days = `{"to":"Fisher"}`, `{"days":9}`
	clientLoopJudges(t, "unknown-tool", "unknown-name",
		passes("it is", mistake(clientloop.NoSuchTool, none, clientloop.Depth, false, told(clientloop.NoSuchTool, none))),
		fails("the loop ends", mistake(clientloop.NoSuchTool, none, clientloop.Depth, false, refuses),
			"after the model's use of loop_teleport"),
		tracetest.About(clientloop.Probe, inapplicable("in another case", tides(nil, nil, nil), "another case")),
	)
	clientLoopJudges(t, "invalid-arguments", "invalid-input",
		passes("it is", mistake("loop_level", days, clientloop.Level, false, told("loop_level", days))),
		fails("the tool is called", mistake("loop_level", days, clientloop.Level, true, told("loop_level", days)),
			"found one"),
		fails("the loop ends", mistake("loop_level", days, clientloop.Level, false, refuses),
			"after the model's use of loop_level"),
	)
}

func TestALoopIsJudgedInTheSecondRequestOfACall(t *testing.T) {
	const days, name = `{"days":9}`, "loop_again_level"
	level := clientloop.Level
	level.Name = name
	plain := func(s *session) *session {
		s.Trace.Header.Loop = string(harness.ClientLoop)
		return s.Asks(tracetest.Asking("Are you there?"))
	}
	story := func(called bool, then func(*session, *clientLoopRequest)) func(*session) {
		return func(s *session) {
			plain(s).Answers(tracetest.Saying("Yes."))
			ask := clientLoopBegins(s, name, days, level)
			if called {
				s.CallsTool(name, days).ToolReturns(name, "no", true)
			}
			then(s, ask)
			s.PassesBarrier()
		}
	}
	told := func(s *session, ask *clientLoopRequest) {
		goesOn(s, ask, [2]string{name, days}, clientLoopSaying("error: that is wrong", true))
		s.Answers(tracetest.Saying(end))
	}
	clientLoopJudges(t, "invalid-arguments", "invalid-input"+clientloop.Behind,
		passes("the model is told", story(false, told)),
		fails("the tool is called", story(true, told), "found one"),
		fails("the loop ends", story(false, func(s *session, _ *clientLoopRequest) { s.Refuses(-32603, "no") }),
			"after the model's use of "+name),
		unobserved("the loop is refused", func(s *session) {
			plain(s).Answers(tracetest.Saying("Yes."))
			s.Asks(tracetest.Asking("What now?", level)).Refuses(-32602, "no images").PassesBarrier()
		}, "the model received no request for sampling request 2"),
		unobserved("the question is refused", func(s *session) { plain(s).Refuses(-32603, "no").PassesBarrier() },
			"did not send sampling request 2"),
	)
}

func TestOnlyAllowedToolsAreOfferedAndCalled(t *testing.T) {
	const mill = `{"place":"the mill"}`
	notes := func(call bool, offered ...server.Tool) func(*session) {
		return func(s *session) {
			ask := clientLoopBegins(s, clientloop.Forbidden, mill, offered...)
			s.Trace.Header.Cases[0].Tools = []string{"loop_read_note", clientloop.Forbidden}
			if call {
				s.CallsTool(clientloop.Forbidden, mill).ToolReturns(clientloop.Forbidden, "gone", false)
			}
			goesOn(s, ask, [2]string{clientloop.Forbidden, mill}, clientLoopSaying("error: unknown", true))
			s.Answers(tracetest.Saying(end)).PassesBarrier()
		}
	}
	clientLoopJudges(t, "allowed-only", "patterns",
		passes("they are", notes(false, clientloop.Read)),
		fails("another is offered", notes(false, clientloop.Read, clientloop.Drop), "found loop_drop_note"),
		fails("another is called", notes(true, clientloop.Read), "found one of loop_drop_note"),
		fails("none is offered", notes(false), "found none"),
	)
}

func TestALoopEndsByItself(t *testing.T) {
	walk := func(iterations int, ends func(*session)) func(*session) {
		return func(s *session) {
			ask := clientLoopBegins(s, "loop_mile", brest, clientloop.Mile)
			for range iterations - 1 {
				s.CallsTool("loop_mile", brest).ToolReturns("loop_mile", "nothing", false)
				goesOn(s, ask, [2]string{"loop_mile", brest}, clientLoopSaying("nothing", false), "loop_mile", brest)
			}
			ends(s)
			s.PassesBarrier()
		}
	}
	refuses := func(s *session) { s.Refuses(-32603, "limit") }
	clientLoopJudges(t, "loop-bounded", "endless",
		passes("after the hint", walk(clientloop.Hinted, refuses), "after 3 model requests"),
		passes("after its own limit", walk(10, func(s *session) { s.Answers(tracetest.Saying(end)) })),
		fails("too late", walk(clientloop.MostIterations, refuses), fmt.Sprintf("before %d model requests",
			clientloop.MostIterations)),
		fails("with a tool use", walk(3, func(s *session) {
			s.Answers(tracetest.Wanting([3]string{"a", "loop_mile", brest}))
		}), "a tool use"),
		legacy(fails("without a response", walk(3, func(*session) {}), "no response")),
	)
	slow := func(declared bool, patience time.Duration, steps func(*session, *clientLoopRequest)) func(*session) {
		return func(s *session) {
			s.WaitsFor(time.Minute, declared, patience)
			ask := clientLoopBegins(s, "loop_flood", brest, server.Tool{Name: "loop_flood"})
			s.CallsTool("loop_flood", brest)
			steps(s, ask)
			s.PassesBarrier()
		}
	}
	stops := func(s *session, _ *clientLoopRequest) {
		s.Later(time.Minute).ToolCancelled("loop_flood").Refuses(-32603, "timeout")
	}
	waits := func(s *session, ask *clientLoopRequest) {
		s.Later(15*time.Minute).ToolReturns("loop_flood", "here", false)
		goesOn(s, ask, [2]string{"loop_flood", brest}, clientLoopSaying("here", false))
		s.Answers(tracetest.Saying(end))
	}
	clientLoopJudges(t, "overall-timeout", "slow-tool",
		passes("it times out", slow(false, 15*time.Minute, stops)),
		fails("it waits", slow(false, 15*time.Minute, waits), "waiting for a tool after 15m"),
		fails("it waits beyond its own limit", slow(true, 3*time.Minute, waits), "waiting for a tool after 3m"),
		unsupported("its limit is unknown", slow(false, 6*time.Second, waits), "declare its limit"),
		legacy(fails("no response", slow(false, 15*time.Minute, func(s *session, _ *clientLoopRequest) {
			s.ToolCancelled("loop_flood")
		}), "found no response")),
	)
}

func TestADestructiveToolNeedsConsent(t *testing.T) {
	boats := func(announced, counts, sinks bool) func(*session) {
		return func(s *session) {
			if announced {
				s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Decisions}})
			}
			ask := clientLoopBegins(s, clientloop.Harmless, brest, server.Tool{Name: clientloop.Harmless},
				server.Tool{Name: clientloop.Destructive})
			if counts {
				s.CallsTool(clientloop.Harmless, brest).ToolReturns(clientloop.Harmless, "7", false)
			}
			ask = goesOn(s, ask, [2]string{clientloop.Harmless, brest}, clientLoopSaying("7", false), clientloop.Destructive,
				brest)
			if sinks {
				s.CallsTool(clientloop.Destructive, brest).ToolReturns(clientloop.Destructive, "sunk", false)
			}
			goesOn(s, ask, [2]string{clientloop.Destructive, brest}, clientLoopSaying("declined", true))
			s.Answers(tracetest.Saying(end))
		}
	}
	clientLoopJudges(t, "destructive-confirmed", "destructive-tool",
		passes("it is not called", boats(true, true, false)),
		fails("it is called", boats(true, true, true), "without consent, found one"),
		warns("it is called by a client that may have no user", boats(false, true, true), "without consent, found one"),
		fails("the harmless one is not called", boats(true, false, false), "a call of loop_count_boats"),
		legacy(unsupported("the request is declined", func(s *session) {
			s.Trace.Header.Loop = string(harness.ClientLoop)
			s.Asks(tracetest.Asking("What now?")).Refuses(-1, "declined")
		}, "refuses the whole request")),
	)
}

func TestACancelEndsTheLoop(t *testing.T) {
	cancels := func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 0, fmt.Sprintf(
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, s.ID()))
	}
	whileTool := func(then func(*session, *clientLoopRequest)) func(*session) {
		return func(s *session) {
			ask := clientLoopBegins(s, "loop_ebb", brest, server.Tool{Name: "loop_ebb"})
			s.CallsTool("loop_ebb", brest)
			cancels(s)
			then(s, ask)
			s.PassesBarrier()
		}
	}
	clientLoopJudges(t, "cancel-stops-loop", "cancel-tool",
		legacy(passes("it does", whileTool(func(s *session, _ *clientLoopRequest) { s.ToolCancelled("loop_ebb") }))),
		legacy(fails("the tool call goes on", whileTool(func(*session, *clientLoopRequest) {}), "found no cancel")),
		legacy(fails("the model is asked", whileTool(func(s *session, ask *clientLoopRequest) {
			s.ToolCancelled("loop_ebb")
			goesOn(s, ask, [2]string{"loop_ebb", brest}, clientLoopSaying("weak", false))
		}), "no model request after the cancel")),
		legacy(unobserved("the client was faster", tides(nil, nil, nil), "before the server could cancel")),
	)
}

// A client must not run a tool and return its use as well. One that runs the loop itself is not judged by the rules of
// the other loop.
func TestAClientHasOneLoop(t *testing.T) {
	both := check.Catalogue{always.Scenario, clientloop.Scenario}
	returns := func(s *session) { s.Answers(tracetest.Wanting([3]string{"call_1", "loop_tide", brest})) }
	row := func(checkID, name string, verdict report.Verdict, steps func(*session)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "always/" + checkID, CaseID: "client-loop/one-tool", Steps: steps,
			Verdict: verdict}
	}
	tracetest.Run(t, both, []tracetest.Test{
		row("not-executed", "its own", report.NotApplicable, tides(nil, nil, nil)),
		row("not-executed", "two", report.Fail, tides(nil, nil, returns)),
		row("not-executed", "one for each of two tools", report.Warn, func(s *session) {
			clientLoopBegins(s, "loop_tide", brest, clientloop.Tide)
			returns(s)
			s.PassesBarrier()
		}),
		row("one-model-call", "its own", report.NotApplicable, tides(nil, nil, nil)),
		row("one-model-call", "the server's, as declared", report.Fail, func(s *session) {
			tides(nil, nil, nil)(s)
			s.Trace.Header.Loop = string(harness.ServerLoop)
		}),
	})
}
