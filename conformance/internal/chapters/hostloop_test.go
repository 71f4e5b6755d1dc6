package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/hostloop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type (
	hostLoopRequest = server.CreateMessageParams
)

var (
	hostLoopJudges = tracetest.Judging(hostloop.Scenario)
)

const prefix = "mcp__srv__"

// task is what the host asks its model first.
func task() *hostLoopRequest {
	return tracetest.Asking("Call every tool.", server.Tool{Name: prefix + "the-tool"})
}

// misuses is the turn of the host in which the model uses a tool. It returns the request.
func misuses(s *session, tool, arguments string) *hostLoopRequest {
	ask := task()
	s.OfHost(func(s *session) { s.Prompts(ask).UsesTool(tool, arguments) })
	return ask
}

// hostLoopAfter tells how the host goes on after the use of a tool.
func hostLoopAfter(tool, arguments string, steps ...func(*session, *hostLoopRequest)) func(*session) {
	return func(s *session) {
		ask := misuses(s, tool, arguments)
		for _, step := range steps {
			step(s, ask)
		}
	}
}

// hostLoopTells is the next turn, with a result for the use.
func hostLoopTells(tool, arguments, text string, isError bool) func(*session, *hostLoopRequest) {
	return func(s *session, ask *hostLoopRequest) {
		next := ask.After([]byte(tracetest.Wanting([3]string{"call_1", tool, arguments})),
			func([]server.ToolUseContent) []server.ToolResultContent {
				return []server.ToolResultContent{{Type: "tool_result", ToolUseID: "call_1", IsError: isError,
					Content: []any{server.Text(text)}}}
			})
		s.OfHost(func(s *session) { s.Prompts(next).UsesTool(prefix+"barrier", "{}") })
	}
}

// asksAgain is the next turn, which is the same as the last.
func asksAgain(s *session, ask *hostLoopRequest) {
	s.OfHost(func(s *session) { s.Prompts(ask).UsesTool(prefix+"barrier", "{}") })
}

// invalid is the next turn, which the model refuses.
func invalid(s *session, ask *hostLoopRequest) {
	body := jsonvalue.Marshal(ask)
	if s.Dialect != dialect.Native {
		body = jsonvalue.Marshal(tracetest.AsChat(ask))
	}
	s.OfHost(func(s *session) { s.Prompt(string(body), hostLoopRefused) })
}

// hostLoopEnding is the end of the host.
func hostLoopEnding(p trace.Process) func(*session, *hostLoopRequest) {
	return func(s *session, _ *hostLoopRequest) { s.Ends(p) }
}

// python is the beginning of a traceback.
const python = "Traceback (most recent call last):\n  File \"/srv/host.py\", line 3, in main\n" +
	"    tool = tools[name]\n           ~~~~~^^^^^^\n"

// diesWith is the end of a host with status 1 and these words.
func diesWith(stderr string) func(*session, *hostLoopRequest) {
	return hostLoopEnding(trace.Process{ExitCode: 1, Stderr: "host 1.0\n" + stderr})
}

var (
	fine            = hostLoopEnding(trace.Process{})
	says1           = hostLoopEnding(trace.Process{Stderr: "Error: the model used an unknown tool\n", ExitCode: 1})
	says0           = hostLoopEnding(trace.Process{Stdout: "The tool host_teleport is not available.\n"})
	chats           = hostLoopEnding(trace.Process{Stdout: "Welcome to the host!\n"})
	crash           = hostLoopEnding(trace.Process{Panic: "no such tool"})
	hostLoopHangs   = hostLoopEnding(trace.Process{Deadline: true})
	hostLoopRefused = trace.ModelEnd{Status: 400, Refused: "tool_calls must be followed by tool messages"}
)

func TestTheModelLearnsAboutAnUnknownTool(t *testing.T) {
	const to = `{"to":"Fisher"}`
	of := func(steps ...func(*session, *hostLoopRequest)) func(*session) {
		return hostLoopAfter(hostloop.NoSuchTool, to, steps...)
	}
	hostLoopJudges(
		t,
		"unknown-tool-told",
		"unknown-tool",
		passes("a result", of(hostLoopTells(hostloop.NoSuchTool, to, "there is no such tool", true)), "told its model"),
		passes("it asks again without the use", of(asksAgain), "without the use"),
		passes("in words", of(func(s *session, ask *hostLoopRequest) {
			next := ask.After([]byte(tracetest.Wanting([3]string{"call_1", hostloop.NoSuchTool, to})),
				func([]server.ToolUseContent) []server.ToolResultContent { return nil })
			next.Messages = append(next.Messages, tracetest.Asking("There is no such tool.").Messages...)
			s.OfHost(func(s *session) { s.Prompts(next).UsesTool(prefix+"barrier", "{}") })
		}), "in words"),
		fails("no result", of(func(s *session, ask *hostLoopRequest) {
			next := ask.After([]byte(tracetest.Wanting([3]string{"call_1", hostloop.NoSuchTool, to})),
				func([]server.ToolUseContent) []server.ToolResultContent { return nil })
			next.Messages = next.Messages[:2]
			s.OfHost(func(s *session) { s.Prompts(next).UsesTool(prefix+"barrier", "{}") })
		}), "next model request, found none"),
		fails("an invalid request", of(invalid, says1), "found one that the model refuses: tool_calls must"),
		passes("an invalid request and a valid one", of(invalid, hostLoopTells(hostloop.NoSuchTool, to,
			"there is no such tool", true))),
		warns("an error for the user", of(says1), "ends the task with an error: it exited with status 1"),
		warns("a text for the user", of(says0), "with an error"),
		fails("nothing", of(fine), "ends the task without an error"),
		fails("nothing about it", of(chats), "ends the task without an error"),
		fails("a crash", of(crash), "found a crash: it panicked: no such tool"),
		fails(
			"Python's uncaught exception",
			of(diesWith(python+"pkg.UnknownTool: no tool host_teleport\n")),
			"found a crash",
		),
		fails("with more lines", of(diesWith(python+"pydantic_core.ValidationError: 1 validation error for Call\nto\n"+
			"  Field required [type=missing]\n    For further information visit the page\n")), "found a crash"),
		fails("of asyncio", of(diesWith("  + Exception Group "+python+"  | ExceptionGroup: errors (1 sub-exception)\n"+
			"  +-+---------------- 1 ----------------\n    | KeyError: 'host_teleport'\n    +---------------\n")),
			"found a crash"),
		fails("Node's", of(diesWith("/srv/host.js:3\n  throw e;\n  ^\n\nError: no tool\n    at call (/srv/host.js:3:9)"+
			"\n\nNode.js v22.11.0\n")), "found a crash"),
		fails("Java's", of(diesWith("Exception in thread \"main\" java.lang.IllegalStateException: no tool\n"+
			"\tat Host.main(Host.java:3)\nCaused by: java.io.IOException\n\t... 3 more\n")), "found a crash"),
		fails("Rust's", of(hostLoopEnding(trace.Process{ExitCode: 101})), "found a crash"),
		warns("a log of an exception, and words for the user", of(diesWith(python+"KeyError: 'host_teleport'\n"+
			"Error: the model used an unknown tool\n")), "with an error"),
		warns("a log of an exception, and success", of(hostLoopEnding(trace.Process{Stderr: python + "KeyError: 'x'\n"})),
			"with an error"),
		fails("it hangs", of(hostLoopHangs), "found that it hangs"),
		unsupported("few turns", func(s *session) {
			s.OfHost(func(s *session) { s.Prompts(task()).UsesTool(prefix+"the-tool", "{}") })
		}, "ended its task with turn 1 of its model"),
		unobserved("an early end", func(s *session) { s.Ends(trace.Process{ExitCode: 1}) }, "did not get to its mistake"),
	)
}

func TestTheModelLearnsAboutInvalidArguments(t *testing.T) {
	object := inapplicable("an object", func(s *session) {
		s.OfHost(func(s *session) {
			s.Prompt(`{"model":"m","messages":[{"role":"user","content":"Go."}],"tools":[{"type":"function","function":`+
				`{"name":"host_fish","parameters":{"type":"object"}}}]}`, trace.ModelEnd{Status: 200})
		})
	}, "arguments as an object")
	object.Dialects = []string{dialect.Ollama}
	const torn, days = `{"place":"Viking","da`, `{"days":9}`
	hostLoopJudges(t, "bad-json-told", "invalid-json",
		passes("a result, the arguments are {}", hostLoopAfter(prefix+hostloop.JSONTool, torn,
			hostLoopTells(prefix+hostloop.JSONTool, "{}", "that is not JSON", true))),
		fails("nothing", hostLoopAfter(prefix+hostloop.JSONTool, torn, fine), "without an error"),
		object,
	)
	hostLoopJudges(t, "bad-arguments-told", "invalid-arguments",
		passes("a result", hostLoopAfter(prefix+hostloop.SchemaTool, days, hostLoopTells(prefix+hostloop.SchemaTool, days,
			"place is missing", true))),
		passes("a result under an id of the host's own", hostLoopAfter(prefix+hostloop.SchemaTool, days, func(s *session,
			ask *hostLoopRequest) {
			next := ask.After([]byte(tracetest.Wanting([3]string{"own_1", prefix + hostloop.SchemaTool, days})),
				func([]server.ToolUseContent) []server.ToolResultContent {
					return []server.ToolResultContent{{Type: "tool_result", ToolUseID: "own_1", IsError: true,
						Content: []any{server.Text("place is missing")}}}
				})
			s.OfHost(func(s *session) { s.Prompts(next).UsesTool(prefix+"barrier", "{}") })
		}), "told its model"),
		fails("nothing", hostLoopAfter(prefix+hostloop.SchemaTool, days, fine), "without an error"),
	)
}

func TestTheModelLearnsAboutAFailure(t *testing.T) {
	const at = `{"place":"Dogger"}`
	called := func(s *session, _ *hostLoopRequest) {
		s.Trace.Header.Cases[0].Tools = []string{hostloop.FailedTool}
		s.CallsTool(hostloop.FailedTool, at).ToolReturns(hostloop.FailedTool, "the radar is out of order", true)
	}
	of := func(steps ...func(*session, *hostLoopRequest)) func(*session) {
		return hostLoopAfter(prefix+hostloop.FailedTool, at, steps...)
	}
	given := func(text string, isError bool) func(*session, *hostLoopRequest) {
		return hostLoopTells(prefix+hostloop.FailedTool, at, text, isError)
	}
	hostLoopJudges(t, "failing-tool-told", "failing-tool",
		passes("the text of the tool", of(called, given("the radar is out of order", false))),
		passes("a text of the host's own", of(called, given("the tool failed", false))),
		tracetest.InNative(passes("a flag", of(called, given("", true)))),
		fails("a success", of(called, given("done", false)), `says that host_radar failed, found "done"`),
		fails("nothing", of(called, fine), "without an error"),
		unsupported("the host does not call the tool", of(given("the user has to approve it", true)), "or use --answer"),
		tracetest.About("refused-call", fails("a success of a refused call", hostLoopAfter(prefix+hostloop.RefusedTool, at,
			func(s *session, _ *hostLoopRequest) {
				s.Trace.Header.Cases[0].Tools = []string{hostloop.RefusedTool}
				s.CallsTool(hostloop.RefusedTool, at).ToolReturns(hostloop.RefusedTool, "", true)
			}, hostLoopTells(prefix+hostloop.RefusedTool, at, "done", false)), "host_sonar failed")),
	)
}

func TestAHostStops(t *testing.T) {
	const mile = `{"place":"mile 1"}`
	repeats := func(n int, steps ...func(*session, *hostLoopRequest)) func(*session) {
		return func(s *session) {
			for range n - 1 {
				misuses(s, prefix+hostloop.EndlessTool, mile)
			}
			hostLoopAfter(prefix+hostloop.EndlessTool, mile, steps...)(s)
		}
	}
	hostLoopJudges(t, "bounded", "endless",
		passes("after a few turns", repeats(5, says1), "ended the task after 5 such turns"),
		passes("with success", repeats(99, fine)),
		passes("by a refusal of the call", repeats(4, asksAgain), "asked its model 4 times, and then continued"),
		fails("never", repeats(hostloop.MostRepeats), "found 100 such turns"),
		fails("by a crash", repeats(3, crash), "found a crash"),
		unsupported("too slowly", repeats(30, hostLoopHangs), "asked its model 30 times when its time was up"),
	)
	nothing := func(n int, steps ...func(*session, *hostLoopRequest)) func(*session) {
		return func(s *session) {
			for range n {
				s.OfHost(func(s *session) {
					s.Prompts(task())
					if s.Dialect == dialect.Native {
						s.Says(`{"role":"assistant","model":"m","content":[]}`)
						return
					}
					s.Says(string(jsonvalue.Marshal(story.Object{"model": "m", "choices": []any{story.Object{
						"message": story.Object{"role": "assistant", "content": ""}, "finish_reason": "stop"}}})))
				})
			}
			for _, step := range steps {
				step(s, task())
			}
		}
	}
	hostLoopJudges(t, "empty-answer", "empty",
		passes("it ends", nothing(1, fine)),
		passes("it ends with an error", nothing(1, says1)),
		passes("it asks again", nothing(3, asksAgain), "asked its model 3 times"),
		fails("it asks for ever", nothing(hostloop.MostEmpty, fine), "found 20 such turns"),
		fails("it crashes", nothing(1, crash), "found a crash"),
		fails("it hangs", nothing(1, hostLoopHangs), "hangs"),
		unsupported("it waits before it asks again", nothing(3, hostLoopHangs), "--case-timeout"),
		unobserved("the host ended before", func(s *session) { s.Ends(trace.Process{ExitCode: 1}) }),
	)
	hostLoopJudges(t, "empty-answer", "empty", inapplicable("no host", func(s *session) {
		s.Trace.Events = nil
		s.Seq = map[string]int64{}
		s.Marks(trace.MarkInapplicable, "the client is not a host")
		s.Ended = true
	}, "the client is not a host"))
}
