package chapters_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tasks"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const (
	working = `{"taskId":"t1","status":"working","createdAt":"2025-11-25T10:30:00Z",` +
		`"lastUpdatedAt":"2025-11-25T10:30:00.5+01:00","ttl":600000}`
	completed = `{"taskId":"t1","status":"completed","createdAt":"2025-11-25T10:30:00Z",` +
		`"lastUpdatedAt":"2025-11-25T10:30:01Z","ttl":600000}`
	taskResult = `{"role":"assistant","model":"gpt-4o","stopReason":"endTurn","content":{"type":"text","text":"So."},` +
		`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`
	declared = `{"sampling":{"tools":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}`
)

// taskStory is a story about tasks. Its methods return it.
type taskStory struct {
	*session
	requests int
}

// asksForTask is the server's request for a task.
func (s *taskStory) asksForTask() *session {
	ask := tracetest.Asking("Well?")
	ask.Task = &server.TaskMetadata{TTL: tasks.WantedTTL}
	ask.Meta = map[string]any{"progressToken": "p"}
	return s.Asks(ask)
}

// creates is a request for a task, and the response with the task.
func (s *taskStory) creates(task string) *taskStory {
	s.asksForTask().Answers(`{"task":` + task + `}`).Prompts(tracetest.Asking("Well?"))
	return s
}

// asks is a request of the server about the task t1; responds is the response to the latest.
func (s *taskStory) asks(method string) *taskStory {
	s.requests++
	s.Frame(s.CaseID, trace.ToClient, 0,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":"t1"}}`, s.requests, method))
	return s
}

func (s *taskStory) responds(result string) *taskStory {
	s.Responds(fmt.Sprint(s.requests), `"result":`+result)
	return s
}

// notifies is a notification of the client.
func (s *taskStory) notifies(method, params string) *taskStory {
	s.Frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	return s
}

func TestAClientThatDeclaresNoTasksIgnoresThem(t *testing.T) {
	test := func(name string, v report.Verdict, message string, respond func(*session)) tracetest.Test {
		return tracetest.Test{Check: "tasks/task-ignored", CaseID: "undeclared", Name: name, In: tracetest.InA,
			Dialects: tracetest.Native, Verdict: v, Message: message, Steps: func(s *session) {
				s.Asks(tracetest.Asking("Well?")).Answers(tracetest.Saying("So."))
				respond((&taskStory{session: s}).asksForTask().OnPurpose())
				s.PassesBarrier()
			}}
	}
	onlyTasks := test("a client that takes only tasks is not judged", report.NotApplicable, "only as tasks", nil)
	onlyTasks.Declares = declared
	onlyTasks.Steps = func(s *session) { s.Asks(tracetest.Asking("Well?")).Refuses(-32600, "as a task, please") }
	tracetest.Run(t, check.Catalogue{tasks.Scenario}, []tracetest.Test{
		test("a plain result passes", report.Pass, "", func(s *session) { s.Answers(tracetest.Saying("So.")) }),
		test("a task fails", report.Fail, "a task", func(s *session) { s.Answers(`{"task":` + working + `}`) }),
		test("an error fails", report.Fail, "-32601", func(s *session) { s.Refuses(-32601, "no tasks") }),
		test("no response fails", report.Fail, "no response", func(*session) {}),
		onlyTasks,
	})
}

func TestWhatAClientShowsOfItsTask(t *testing.T) {
	test := func(check, name string, v report.Verdict, message string, steps func(*taskStory)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "tasks/" + check, CaseID: "answered", In: tracetest.InA,
			Dialects: tracetest.Native, Verdict: v, Message: message, Declares: declared, HarnessDeclares: declared,
			Steps: func(s *session) {
				s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Tasks}})
				steps(&taskStory{session: s})
				s.PassesBarrier()
			}}
	}
	asks, get, result := tracetest.Asking("Well?"), evidence.TasksGet, evidence.TasksResult
	unannounced := test(
		"created-task",
		"a client that announces nothing",
		report.NotApplicable,
		`Env.Announce("tasks")`,
		nil,
	)
	unannounced.Steps = func(s *session) { (&taskStory{session: s}).asksForTask().Answers(tracetest.Saying("So.")) }
	const progress = "notifications/progress"
	tracetest.Run(t, check.Catalogue{tasks.Scenario}, []tracetest.Test{
		unannounced,
		test("created-task", "a task", report.Pass, "", func(s *taskStory) { s.creates(working) }),
		test("created-task", "a plain result", report.Fail, "found one without", func(s *taskStory) {
			s.asksForTask().Answers(tracetest.Saying("So."))
		}),
		test("created-task", "an id that is a number", report.Fail, "taskId, found 1", func(s *taskStory) {
			s.creates(tracetest.With(working, "taskId", "1"))
		}),
		test("created-task", "a completed task", report.Fail, `"completed"`, func(s *taskStory) { s.creates(completed) }),
		test("created-task", "an error", report.NotObserved, "code -32603", func(s *taskStory) {
			s.asksForTask().Refuses(-32603, "no")
		}),
		test("timestamps", "times of RFC 3339", report.Pass, "", func(s *taskStory) { s.creates(working) }),
		test("timestamps", "a time in words", report.Fail, "lastUpdatedAt", func(s *taskStory) {
			s.creates(working).asks(get).responds(tracetest.With(working, "lastUpdatedAt", `"yesterday"`))
		}),
		test("status", "a response that crosses the notification of the end", report.Pass, "", func(s *taskStory) {
			s.creates(working).
				asks(get).
				notifies(evidence.TaskStatus, completed).
				responds(working).
				asks(get).
				responds(completed)
		}),
		test("status", "working after the end", report.Fail, "completed, found working", func(s *taskStory) {
			s.creates(working).notifies(evidence.TaskStatus, completed).asks(get).responds(working)
		}),
		test("status", "two ends", report.Fail, "completed, found failed", func(s *taskStory) {
			s.creates(working).notifies(evidence.TaskStatus, completed).
				notifies(evidence.TaskStatus, tracetest.With(completed, "status", `"failed"`))
		}),
		test("status", "working after the result", report.Fail, "with a result", func(s *taskStory) {
			s.creates(working).asks(result).responds(taskResult).asks(get).responds(working)
		}),
		test("result-blocks", "a request that the model refused", report.NotApplicable, "the model refused",
			func(s *taskStory) {
				s.asksForTask().Answers(`{"task":`+working+`}`).
					Prompt(string(jsonvalue.Marshal(asks)), trace.ModelEnd{Status: 400, Refused: "no"})
				s.asks(result).responds(taskResult)
			}),
		test("result-equals-plain", "the same in another order", report.Pass, "", func(s *taskStory) {
			s.creates(working).asks(result).responds(taskResult).Asks(asks).Answers(tracetest.Saying("So."))
		}),
		test("result-equals-plain", "another model", report.Fail, "another model", func(s *taskStory) {
			s.creates(working).asks(result).responds(taskResult).
				Asks(asks).Answers(tracetest.With(tracetest.Saying("So."), "model", `"another"`))
		}),
		test("result-equals-plain", "a client that takes only tasks", report.NotApplicable, "", func(s *taskStory) {
			s.creates(working).asks(result).responds(taskResult).Asks(asks).Refuses(-32600, "as a task, please")
		}),
		test("progress-token-kept", "a notification that the end overtakes", report.Pass, "", func(s *taskStory) {
			s.creates(working).
				notifies(evidence.TaskStatus, completed).
				notifies(progress, `{"progressToken":"p","progress":1}`)
		}),
		test("progress-token-kept", "a notification long after the end", report.Fail, "after the task", func(s *taskStory) {
			s.creates(working).notifies(evidence.TaskStatus, completed).asks(get).responds(completed).
				notifies(progress, `{"progressToken":"p","progress":1}`)
		}),
		test("progress-token-kept", "the task id as token", report.Fail, "the task id", func(s *taskStory) {
			s.creates(working).notifies(progress, `{"progressToken":"t1","progress":1}`)
		}),
		test("related-task", "progress that names the task", report.Pass, "", func(s *taskStory) {
			s.creates(working).asks(get).responds(working).notifies(progress, `{"progressToken":"p","progress":1,`+
				`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`).asks(result).responds(taskResult)
		}),
		test("related-task", "progress that does not", report.Fail, "progress of the task", func(s *taskStory) {
			s.creates(working).asks(get).responds(working).notifies(progress, `{"progressToken":"p","progress":1}`)
		}),
		test(
			"related-task",
			"progress that may overtake the task",
			report.Warn,
			"progress of the task",
			func(s *taskStory) {
				s.creates(working).notifies(progress, `{"progressToken":"p","progress":1}`)
			},
		),
		test("related-task", "progress of another request", report.Pass, "", func(s *taskStory) {
			s.creates(working).notifies(progress, `{"progressToken":"q","progress":1}`).asks(result).responds(taskResult)
		}),
		test("related-task", "a result without its task", report.Fail, `"t1"`, func(s *taskStory) {
			s.creates(working).asks(result).responds(tracetest.Saying("So."))
		}),
	})
}
