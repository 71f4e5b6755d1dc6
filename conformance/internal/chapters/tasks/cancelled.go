package tasks

import (
	"math"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The server cancels a task while the model thinks. The model answers. The server asks for the task and cancels again.
var cancelled = withTask("tasks/cancelled", false, func(a *asker) {
	if !a.Declares("tasks", "cancel") {
		return
	}
	story.WaitFor(story.Reaction, a.gate.Held(a.word), a.Context().Done())
	a.ask(server.TasksCancel, a.task)
	a.ask(server.TasksGet, a.task)
	story.WaitFor(story.CancelIgnoredAfter, a.gate.Ended(a.word), nil) // hanging up is seen late
	a.open()
	a.ask(server.TasksResult, a.task)
	a.ask(server.TasksGet, a.task)
	a.ask(server.TasksCancel, a.task)
})

var endIsFinal = must(check.Check{
	ID: "end-is-final", Cases: []string{"answered", "cancelled"}, Statements: []string{"tasks/46"},
	Needs: []check.Need{declaresCancel},
	Rule:  "The client MUST respond to tasks/cancel of a task that has ended with the error -32602",
	Cause: "the client cancels without looking at the status",
	Fix:   "Respond with the error -32602 if the task is completed, failed or cancelled.",
	Judge: func(e *evidence.Case) check.Verdict {
		verdict := check.NotReached(e, "tasks/cancel of a task that has ended")
		for _, r := range e.Task().Asked(evidence.TasksCancel) {
			if end := e.Task().First(e.Session.Order[r.Ref], evidence.TerminalStatuses...); end != nil {
				if v := check.NotRefused(e, r, "a task that is "+end.Status); v != nil {
					return v.At(end.Place)
				}
				verdict = check.Pass("the client refuses to cancel a task that has ended")
			}
		}
		return verdict
	},
})

func declaresCancel(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Declared.Declares("tasks", "cancel"), check.NotApplicable("the client declares no tasks.cancel"))
}

// workingTaskCancelled needs a cancel of the task before it had ended.
func workingTaskCancelled(e *evidence.Case) *check.Verdict {
	cancels := e.Task().Asked(evidence.TasksCancel)
	if len(cancels) == 0 {
		return check.Instead(check.NotReached(e, evidence.TasksCancel))
	}
	ended := e.Task().First(e.Session.Order[cancels[0].Ref], evidence.TerminalStatuses...) != nil
	return check.Unless(!ended, check.NotApplicable("the task had ended before tasks/cancel"))
}

var taskCancel = must(check.Check{
	ID: "task-cancel", Cases: []string{"cancelled"}, Statements: []string{"tasks/47"},
	Needs: []check.Need{declaresCancel, workingTaskCancelled},
	Rule:  "The client MUST cancel the task before it responds to tasks/cancel",
	Cause: "the client passes the cancel on and responds with the task as it still is",
	Fix:   "Set the status to cancelled first, and then respond with the task.",
	Judge: func(e *evidence.Case) check.Verdict {
		cancel := e.Task().Asked(evidence.TasksCancel)[0]
		if v := check.Unanswered(e, cancel); v != nil {
			return *v
		}
		if end := e.Task().First(math.MaxInt, "completed", "failed"); end != nil && cancel.Response.Err != nil {
			return check.NotApplicable("the task ended by itself").At(end.Place)
		}
		if cancel.Result().Text("status") != "cancelled" {
			return check.Fail("expected a cancelled task in the response to tasks/cancel, found none").ShowRequest(cancel)
		}
		return check.Pass("the task is cancelled in the response to tasks/cancel")
	},
})

var staysCancelled = must(check.Check{
	ID: "stays-cancelled", Cases: []string{"cancelled"}, Statements: []string{"tasks/48"},
	Needs: []check.Need{declaresCancel, workingTaskCancelled},
	Rule:  "A cancelled task MUST stay cancelled, even if its work goes on",
	Cause: "work that could not be stopped overwrites the status",
	Fix:   "Do not change the status of a cancelled task when its work completes or fails.",
	Judge: func(e *evidence.Case) check.Verdict {
		cancel := e.Task().Asked(evidence.TasksCancel)[0]
		if cancel.Result().Text("status") != "cancelled" {
			return check.NotApplicable("the task was not cancelled (see tasks/task-cancel)")
		}
		for _, s := range e.Task().States {
			if s.Asked > e.Session.Order[cancel.Response.Ref] && s.Status != "cancelled" {
				return check.Fail("expected a cancelled task, found it %s", s.Status).ShowRequest(cancel).ShowTask(&s)
			}
		}
		return check.Pass("the task stayed cancelled")
	},
})
