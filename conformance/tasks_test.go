package conformance

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	working   = `{"taskId":"t1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00.5+01:00","ttl":600000}`
	completed = `{"taskId":"t1","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:01Z","ttl":600000}`
	isOfTask  = `{"role":"assistant","model":"gpt-4o","stopReason":"endTurn","content":{"type":"text","text":"So."},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`
)

// tasked is a question that is to be answered as a task.
func tasked() *server.CreateMessageParams {
	ask := asking("Well?")
	ask.Task = &server.TaskMetadata{TTL: wantedTTL}
	ask.Meta = map[string]any{"progressToken": "p"}
	return ask
}

// takesTasks is what a client says that takes samples as tasks.
func (s *story) takesTasks() *story {
	s.add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Tasks}})
	return s
}

// asksAbout is a request about a task, under an id of its own.
func (s *story) asksAbout(id int, method server.TaskMethod, params string) *story {
	s.frame(s.caseID, trace.ToClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return s
}

// tells is the client's answer to it.
func (s *story) tells(id int, result string) *story {
	return s.responds(fmt.Sprint(id), `"result":`+result)
}

// notifies is a notification of the client's.
func (s *story) notifies(method, params string) *story {
	s.frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	return s
}

func TestTasks(t *testing.T) {
	const t1, declared = `{"taskId":"t1"}`, `{"sampling":{"tools":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}`
	told := func(check, caseID, name string, v report.Verdict, message string, tale func(*story)) telling {
		return telling{name: name, check: "tasks/" + check, caseID: caseID, in: inA, dialects: native, verdict: v, message: message, declares: declared, told: declared, tell: tale}
	}
	of := func(check, name string, v report.Verdict, message string, tale func(*story)) telling {
		return told(check, "answered", name, v, message, func(s *story) { tale(s.takesTasks()); s.passesBarrier() })
	}
	made := func(s *story) *story {
		return s.asks(tasked()).answers(`{"task":` + working + `}`).prompts(asking("Well?"))
	}
	undeclared := func(name string, v report.Verdict, message string, tale func(*story)) telling {
		return telling{name: name, check: "tasks/task-ignored", caseID: "undeclared", in: inA, dialects: native, verdict: v, message: message,
			tell: func(s *story) {
				tale(s.asks(asking("Well?")).answers(saying("So.")).asks(tasked()).onPurpose())
				s.passesBarrier()
			}}
	}
	hold(t, catalogue, []telling{
		undeclared("it is ignored", report.Pass, "the client ignored task, and answered", func(s *story) { s.answers(saying("So.")) }),
		undeclared("it is taken", report.Fail, "the client made a task of a request, and does not declare that it does", func(s *story) { s.answers(`{"task":` + working + `}`) }),
		undeclared("it is refused", report.Fail, `the client refused a request for what it had to ignore in it: "no tasks" (code -32601)`, func(s *story) { s.refuses(-32601, "no tasks") }),
		undeclared("it is left", report.Fail, "the client did not answer a request, and it had only to ignore something in it", func(*story) {}),
		told("created-task", "answered", "a client that only declares what it is told to", report.NotApplicable,
			`the client does not say that it takes samples as tasks: where it does, have its driver announce "tasks" (Env.Announce, or a line {"mcp-conform":"supports","feature":"tasks"})`,
			func(s *story) { s.asks(tasked()).answers(saying("So.")) }),
		of("created-task", "a task", report.Pass, "the client made a task, with an id of its own", func(s *story) { made(s) }),
		of("created-task", "an answer", report.Fail, "the client declares tasks for sampling, and answered a request for one with no task", func(s *story) { s.asks(tasked()).answers(saying("So.")) }),
		of("created-task", "an id that is a number", report.Fail, "the id of a task is no text", func(s *story) { s.asks(tasked()).answers(`{"task":` + with(working, "taskId", "1") + `}`) }),
		of("created-task", "it begins at its end", report.Fail, `a task begins with the status "completed", and not as working`, func(s *story) { s.asks(tasked()).answers(`{"task":` + completed + `}`) }),
		of("created-task", "an error", report.NotObserved, `the client declares tasks for sampling, and did not take a request as one: request 1 was answered by the error "no" (code -32603)`,
			func(s *story) { s.asks(tasked()).refuses(-32603, "no") }),
		of("timestamps", "of RFC 3339", report.Pass, "every answer about the task has its times", func(s *story) { made(s) }),
		of("timestamps", "in words", report.Fail, "lastUpdatedAt of a task is no time in ISO 8601", func(s *story) {
			made(s).asksAbout(1, server.TasksGet, t1).tells(1, with(working, "lastUpdatedAt", `"yesterday"`))
		}),
		of("status", "an answer that crosses a report of the end", report.Pass, "the task went from one status to another as it should", func(s *story) {
			made(s).asksAbout(1, server.TasksGet, t1).notifies(methodTaskStatus, completed).tells(1, working).asksAbout(2, server.TasksGet, t1).tells(2, completed)
		}),
		of("status", "it is working again", report.Fail, "a task had ended as completed, and is working then", func(s *story) {
			made(s).notifies(methodTaskStatus, completed).asksAbout(1, server.TasksGet, t1).tells(1, working)
		}),
		of("status", "it ends twice", report.Fail, "a task had ended as completed, and is failed then", func(s *story) {
			made(s).notifies(methodTaskStatus, completed).notifies(methodTaskStatus, with(completed, "status", `"failed"`))
		}),
		of("status", "its result was there", report.Fail, "a task's result was there, and the task is working then", func(s *story) {
			made(s).asksAbout(1, server.TasksResult, t1).tells(1, isOfTask).asksAbout(2, server.TasksGet, t1).tells(2, working)
		}),
		of("result-equals-plain", "the same, in another order", report.Pass, "both are the same result", func(s *story) {
			made(s).asksAbout(1, server.TasksResult, t1).tells(1, isOfTask).asks(asking("Well?")).answers(saying("So."))
		}),
		of("result-equals-plain", "another model", report.Fail, "tasks/result and the answer to the plain request differ in model", func(s *story) {
			made(s).asksAbout(1, server.TasksResult, t1).tells(1, isOfTask).asks(asking("Well?")).answers(with(saying("So."), "model", `"another"`))
		}),
		of("result-equals-plain", "samples as tasks alone", report.NotApplicable, "the client takes samples as tasks alone, so that there is nothing to compare", func(s *story) {
			made(s).asksAbout(1, server.TasksResult, t1).tells(1, isOfTask).asks(asking("Well?")).refuses(-32600, "as a task, please")
		}),
		of("progress-token-kept", "a report that is overtaken by the end", report.Pass, "the progress of the task came under the token of its request", func(s *story) {
			made(s).notifies(methodTaskStatus, completed).notifies("notifications/progress", `{"progressToken":"p","progress":1}`)
		}),
		of("progress-token-kept", "long after the end", report.Fail, "progress was reported of a task that had ended", func(s *story) {
			made(s).notifies(methodTaskStatus, completed).asksAbout(1, server.TasksGet, t1).tells(1, completed).notifies("notifications/progress", `{"progressToken":"p","progress":1}`)
		}),
		of("related-task", "a report without it", report.Warn, "the progress of a task is reported without a word of the task in _meta", func(s *story) {
			made(s).notifies("notifications/progress", `{"progressToken":"p","progress":1}`).asksAbout(1, server.TasksResult, t1).tells(1, isOfTask)
		}),
	})
	hold(t, catalogue, []telling{{name: "a client that takes samples as tasks alone", check: "basic/answered", caseID: "question", in: inA, dialects: native, declares: declared,
		verdict: report.NotApplicable, message: "the client takes samples as tasks alone, as it may, and refused a plain one",
		tell: func(s *story) { s.asks(asking("Well?")).refuses(-32600, "as a task, please") }}})
}
