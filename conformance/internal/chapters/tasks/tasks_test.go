package tasks

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
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
	ask := tracetest.Asking("Well?")
	ask.Task = &server.TaskMetadata{TTL: wantedTTL}
	ask.Meta = map[string]any{"progressToken": "p"}
	return ask
}

// takesTasks is what a client says that takes samples as tasks.
func takesTasks(s *tracetest.Story) *tracetest.Story {
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Tasks}})
	return s
}

// asksAbout is a request about a task, under an id of its own.
func asksAbout(s *tracetest.Story, id int, method server.TaskMethod, params string) *tracetest.Story {
	s.Frame(s.CaseID, trace.ToClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return s
}

// tells is the client's answer to it.
func tells(s *tracetest.Story, id int, result string) *tracetest.Story {
	return s.Responds(fmt.Sprint(id), `"result":`+result)
}

// notifies is a notification of the client's.
func notifies(s *tracetest.Story, method, params string) *tracetest.Story {
	s.Frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	return s
}

func TestTasks(t *testing.T) {
	const t1, declared = `{"taskId":"t1"}`, `{"sampling":{"tools":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}`
	told := func(check, caseID, name string, v report.Verdict, message string, tale func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "tasks/" + check, CaseID: caseID, In: tracetest.InA, Dialects: tracetest.Native, Verdict: v, Message: message, Declares: declared, HarnessDeclares: declared, Steps: tale}
	}
	of := func(check, name string, v report.Verdict, message string, tale func(*tracetest.Story)) tracetest.Test {
		return told(check, "answered", name, v, message, func(s *tracetest.Story) { tale(takesTasks(s)); s.PassesBarrier() })
	}
	made := func(s *tracetest.Story) *tracetest.Story {
		return s.Asks(tasked()).Answers(`{"task":` + working + `}`).Prompts(tracetest.Asking("Well?"))
	}
	undeclared := func(name string, v report.Verdict, message string, tale func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "tasks/task-ignored", CaseID: "undeclared", In: tracetest.InA, Dialects: tracetest.Native, Verdict: v, Message: message,
			Steps: func(s *tracetest.Story) {
				tale(s.Asks(tracetest.Asking("Well?")).Answers(tracetest.Saying("So.")).Asks(tasked()).OnPurpose())
				s.PassesBarrier()
			}}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		undeclared("it is ignored", report.Pass, "the client ignored task, and answered", func(s *tracetest.Story) { s.Answers(tracetest.Saying("So.")) }),
		undeclared("it is taken", report.Fail, "the client made a task of a request, and does not declare that it does", func(s *tracetest.Story) { s.Answers(`{"task":` + working + `}`) }),
		undeclared("it is refused", report.Fail, `the client refused a request for what it had to ignore in it: "no tasks" (code -32601)`, func(s *tracetest.Story) { s.Refuses(-32601, "no tasks") }),
		undeclared("it is left", report.Fail, "the client did not answer a request, and it had only to ignore something in it", func(*tracetest.Story) {}),
		told("created-task", "answered", "a client that only declares what it is told to", report.NotApplicable,
			`the client does not say that it takes samples as tasks: where it does, have its driver announce "tasks" (Env.Announce, or a line {"mcp-conform":"supports","feature":"tasks"})`,
			func(s *tracetest.Story) { s.Asks(tasked()).Answers(tracetest.Saying("So.")) }),
		of("created-task", "a task", report.Pass, "the client made a task, with an id of its own", func(s *tracetest.Story) { made(s) }),
		of("created-task", "an answer", report.Fail, "the client declares tasks for sampling, and answered a request for one with no task", func(s *tracetest.Story) { s.Asks(tasked()).Answers(tracetest.Saying("So.")) }),
		of("created-task", "an id that is a number", report.Fail, "the id of a task is no text", func(s *tracetest.Story) {
			s.Asks(tasked()).Answers(`{"task":` + tracetest.With(working, "taskId", "1") + `}`)
		}),
		of("created-task", "it begins at its end", report.Fail, `a task begins with the status "completed", and not as working`, func(s *tracetest.Story) { s.Asks(tasked()).Answers(`{"task":` + completed + `}`) }),
		of("created-task", "an error", report.NotObserved, `the client declares tasks for sampling, and did not take a request as one: request 1 was answered by the error "no" (code -32603)`,
			func(s *tracetest.Story) { s.Asks(tasked()).Refuses(-32603, "no") }),
		of("timestamps", "of RFC 3339", report.Pass, "every answer about the task has its times", func(s *tracetest.Story) { made(s) }),
		of("timestamps", "in words", report.Fail, "lastUpdatedAt of a task is no time in ISO 8601", func(s *tracetest.Story) {
			tells(asksAbout(made(s), 1, server.TasksGet, t1), 1, tracetest.With(working, "lastUpdatedAt", `"yesterday"`))
		}),
		of("status", "an answer that crosses a report of the end", report.Pass, "the task went from one status to another as it should", func(s *tracetest.Story) {
			tells(asksAbout(tells(notifies(asksAbout(made(s), 1, server.TasksGet, t1), methodTaskStatus, completed), 1, working), 2, server.TasksGet, t1), 2, completed)
		}),
		of("status", "it is working again", report.Fail, "a task had ended as completed, and is working then", func(s *tracetest.Story) {
			tells(asksAbout(notifies(made(s), methodTaskStatus, completed), 1, server.TasksGet, t1), 1, working)
		}),
		of("status", "it ends twice", report.Fail, "a task had ended as completed, and is failed then", func(s *tracetest.Story) {
			notifies(notifies(made(s), methodTaskStatus, completed), methodTaskStatus, tracetest.With(completed, "status", `"failed"`))
		}),
		of("status", "its result was there", report.Fail, "a task's result was there, and the task is working then", func(s *tracetest.Story) {
			tells(asksAbout(tells(asksAbout(made(s), 1, server.TasksResult, t1), 1, isOfTask), 2, server.TasksGet, t1), 2, working)
		}),
		of("result-equals-plain", "the same, in another order", report.Pass, "both are the same result", func(s *tracetest.Story) {
			tells(asksAbout(made(s), 1, server.TasksResult, t1), 1, isOfTask).Asks(tracetest.Asking("Well?")).Answers(tracetest.Saying("So."))
		}),
		of("result-equals-plain", "another model", report.Fail, "tasks/result and the answer to the plain request differ in model", func(s *tracetest.Story) {
			tells(asksAbout(made(s), 1, server.TasksResult, t1), 1, isOfTask).Asks(tracetest.Asking("Well?")).Answers(tracetest.With(tracetest.Saying("So."), "model", `"another"`))
		}),
		of("result-equals-plain", "samples as tasks alone", report.NotApplicable, "the client takes samples as tasks alone, so that there is nothing to compare", func(s *tracetest.Story) {
			tells(asksAbout(made(s), 1, server.TasksResult, t1), 1, isOfTask).Asks(tracetest.Asking("Well?")).Refuses(-32600, "as a task, please")
		}),
		of("progress-token-kept", "a report that is overtaken by the end", report.Pass, "the progress of the task came under the token of its request", func(s *tracetest.Story) {
			notifies(notifies(made(s), methodTaskStatus, completed), "notifications/progress", `{"progressToken":"p","progress":1}`)
		}),
		of("progress-token-kept", "long after the end", report.Fail, "progress was reported of a task that had ended", func(s *tracetest.Story) {
			notifies(tells(asksAbout(notifies(made(s), methodTaskStatus, completed), 1, server.TasksGet, t1), 1, completed), "notifications/progress", `{"progressToken":"p","progress":1}`)
		}),
		of("related-task", "a report without it", report.Warn, "the progress of a task is reported without a word of the task in _meta", func(s *tracetest.Story) {
			tells(asksAbout(notifies(made(s), "notifications/progress", `{"progressToken":"p","progress":1}`), 1, server.TasksResult, t1), 1, isOfTask)
		}),
	})
	tracetest.Run(t, catalogue, []tracetest.Test{{Name: "a client that takes samples as tasks alone", Check: "basic/answered", CaseID: "question", In: tracetest.InA, Dialects: tracetest.Native, Declares: declared,
		Verdict: report.NotApplicable, Message: "the client takes samples as tasks alone, as it may, and refused a plain one",
		Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("Well?")).Refuses(-32600, "as a task, please") }}})
}
