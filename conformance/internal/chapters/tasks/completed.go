package tasks

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// A task completes. The server asks for the result while the model thinks, and lets the model answer. Then it asks for
// the result again, for this task, unknown ones and the list, cancels the task, and repeats the request without a
// task.
var answered = withTask("tasks/answered", false, func(a *asker) {
	if a.ask(server.TasksGet, a.task); a.over {
		return
	}
	result, err := a.Start(a.task, server.TasksResult)
	if beside, err := a.Start(a.task, server.TasksGet); err == nil {
		story.WaitFor(story.SerialAfter, beside.Done(), nil) // a serial client responds only after the model's answer
	}
	a.open()
	a.result(result, err)
	a.poll()
	a.ask(server.TasksResult, a.task)
	related := map[string]any{evidence.TaskKey: map[string]any{"taskId": noTask}}
	a.ask(server.TasksGet, server.TaskParams{TaskID: a.task.TaskID, Meta: related}, server.Hostile())
	a.ask(server.TasksGet, server.TaskParams{TaskID: noTask})
	a.ask(server.TasksResult, server.TaskParams{TaskID: noTask})
	if a.Declares("tasks", "cancel") {
		a.ask(server.TasksCancel, server.TaskParams{TaskID: noTask})
	}
	if a.Declares("tasks", "list") {
		a.ask(server.TasksList, server.TaskParams{Cursor: noCursor}, server.Hostile())
		for page, more := 1, ""; page == 1 || more != "" && page <= mostPages; page++ {
			more = a.ask(server.TasksList, server.TaskParams{Cursor: more}).Text("nextCursor")
		}
	}
	if a.Declares("tasks", "cancel") {
		a.ask(server.TasksCancel, a.task)
		a.ask(server.TasksGet, a.task)
	}
	a.plainly()
})

// eachTask are the cases in which the client creates a task.
var eachTask = []string{"answered", "failed", "cancelled"}

var createdTask = check.Check{
	ID: "created-task", Cases: eachTask, Levels: check.InNewestLegacy(report.Must), Needs: []check.Need{taskRequested},
	Statements: []string{"tasks/31", "tasks/15", "tasks/16", "tasks/17", "tasks/18"},
	Rule:       `The client MUST respond with a new task that has a unique string as taskId and the status "working"`,
	Cause:      "the client declares tasks and responds as to a plain request; or its ids are a counter that starts again",
	Fix:        `Respond with {"task": {"taskId": …, "status": "working", …}} and a fresh id. Then work on the request.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r, a := e.Rounds[0], e.Rounds[0].Result()
		if a == nil {
			return check.NotObserved("the request for a task has no result%s", e.WhyNoResult(1)).At(r.Asked)
		}
		fail := func(format string, args ...any) check.Verdict {
			return check.Fail(format, args...).At(r.Asked.At("task")).ShowResult(a)
		}
		task := evidence.ObjectOf(a.Member("task"))
		id := task.Text("taskId")
		switch {
		case task == nil:
			return fail("expected a result with a task, found one without")
		case id == "":
			return fail("expected a string as taskId, found %s", check.OrMissing(task["taskId"]))
		case task.Text("status") != "working":
			return fail(`expected a new task with the status "working", found %s`, check.OrMissing(task["status"]))
		}
		for _, other := range e.Session.Trace.Header.Cases {
			t := e.Session.Case(other.ID).Task()
			if t != nil && t.ID == id && t.States[0].Position < e.Session.Order[r.Asked.Ref] {
				return fail("expected a taskId that no other task has, found %q again", id).At(t.States[0].Place)
			}
		}
		return check.Pass("the client created a task with an id of its own")
	},
}

var timestamps = must(check.Check{
	ID: "timestamps", Cases: eachTask, Statements: []string{"tasks/25", "tasks/26"},
	Rule:  "The client MUST include createdAt and lastUpdatedAt, in ISO 8601, in every response about a task",
	Cause: "times are numbers, or lastUpdatedAt is missing until something changes",
	Fix:   `Write createdAt and lastUpdatedAt as "2025-11-25T10:30:00Z" in the task of each response.`,
	Judge: func(e *evidence.Case) check.Verdict {
		for _, s := range e.Task().States {
			for _, name := range []string{"createdAt", "lastUpdatedAt"} {
				if !s.HasTime(name) {
					return check.Fail("expected an ISO 8601 time as %s", name).ShowJSON(s.At(name), s.Object[name])
				}
			}
		}
		return check.Pass("every response about the task has both times")
	},
})

var status = must(check.Check{
	ID: "status", Cases: eachTask, Statements: []string{"tasks/19", "tasks/20"},
	Rule: "The client MUST show the task that it is asked about, use the protocol's statuses and MUST NOT change the " +
		"status of a task that has ended",
	Cause: "the status and the result have different sources, the work writes the status after the end, or the client " +
		"shows the task that it made last",
	Fix: "Keep one status for each id. Do not change it once it is completed, failed or cancelled.",
	Judge: func(e *evidence.Case) check.Verdict {
		t := e.Task()
		if r := t.ShowsAnother(); r != nil {
			return check.Fail("expected the task %q in the response to %s, found another", t.ID, r.Method).ShowRequest(r)
		}
		var end *evidence.TaskState
		for i := range t.States {
			s := &t.States[i]
			switch {
			case s.Status != "working" && s.Status != "input_required" && !s.Ended():
				return check.Fail("expected a status of the protocol, found %q", s.Status).ShowTask(s)
			case end == nil && s.Ended():
				end = s
			case end != nil && s.Status != end.Status && (s.Ended() || s.Asked > end.Position): // a response may be overtaken
				return check.Fail("expected the status to stay %s, found %s", end.Status, s.Status).ShowTask(end).ShowTask(s)
			}
		}
		for _, r := range t.Asked(evidence.TasksResult) {
			for _, s := range t.States {
				if r.Result() != nil && s.Asked > e.Session.Order[r.Response.Ref] && !s.Ended() {
					return check.Fail("expected a task with a result to have ended, found it %s", s.Status).ShowRequest(r).ShowTask(&s)
				}
			}
		}
		if len(t.States) == 1 {
			return check.NotObserved("the client shows the task only when it creates it%s", e.WhySilent(e.FirstCall))
		}
		return check.Pass("the status changes as the protocol allows")
	},
})

var parameterCounts = must(check.Check{
	ID: "parameter-counts", Cases: []string{"answered"},
	Statements: []string{"tasks/38", "tasks/39"},
	Rule:       "The client MUST find the task by the parameter taskId and ignore the task that _meta names",
	Cause:      "one function finds the task of every message in its _meta",
	Fix:        "Read params.taskId in tasks/get, tasks/result and tasks/cancel, not _meta.",
	Judge: func(e *evidence.Case) check.Verdict {
		t := e.Task()
		for _, r := range t.Requests {
			if evidence.RelatedTask(r.Params) == nil {
				continue
			}
			if v := check.Unanswered(e, r); v != nil {
				return *v
			}
			if found := r.Result().Text("taskId"); found != t.ID {
				return check.Fail("expected the task %q of the parameter taskId, found %q", t.ID, found).ShowRequest(r)
			}
			return check.Pass("the client found the task by the parameter taskId")
		}
		return check.NotReached(e, "tasks/get with another task in _meta")
	},
})

var unknownTask = must(check.Check{
	ID: "unknown-task", Cases: []string{"answered"}, Statements: []string{"tasks/53"},
	Rule:  "The client MUST respond to an unknown task or cursor with the error -32602",
	Cause: "the client treats an unknown task as an internal error, or an unknown cursor as the first page",
	Fix:   "Respond with the error -32602 to an unknown taskId or cursor.",
	Judge: func(e *evidence.Case) check.Verdict {
		verdict := check.NotReached(e, "a request with an unknown task")
		for _, r := range e.Task().Requests {
			if r.Params.Text("taskId") == noTask || r.Params.Text("cursor") == noCursor {
				if v := check.NotRefused(e, r, "an unknown task or cursor"); v != nil {
					return *v
				}
				verdict = check.Pass("the client refuses an unknown task and cursor")
			}
		}
		return verdict
	},
})

var listed = must(check.Check{
	ID: "listed", Cases: []string{"answered"}, Statements: []string{"tasks/45", "tasks/43"},
	Rule:  "The client MUST include a task that tasks/get finds in tasks/list, on one of its pages",
	Cause: "tasks/list has only working tasks, or a page lacks its nextCursor",
	Fix:   "List every task that the client keeps. Give each page but the last a nextCursor.",
	Judge: func(e *evidence.Case) check.Verdict {
		if !e.Declared.Declares("tasks", "list") {
			return check.NotApplicable("the client does not declare tasks.list")
		}
		var last *evidence.ServerRequest
		for _, r := range e.Task().Requests {
			if r.Method != evidence.TasksList || r.Params.Text("cursor") == noCursor {
				continue
			}
			if v := check.Unanswered(e, r); v != nil {
				return *v
			}
			if last = r; r.Response.Err != nil {
				return check.Fail("expected tasks from a client that declares tasks.list, found an error").ShowRequest(r)
			}
		}
		switch {
		case last == nil:
			return check.NotReached(e, "tasks/list")
		case e.Task().ShownBy(evidence.TasksList):
			return check.Pass("the task is in the list")
		case !e.Task().ShownBy(evidence.TasksGet):
			return check.NotObserved("tasks/get did not find the task, so it need not be in the list")
		case last.Result().Text("nextCursor") != "":
			return check.NotApplicable("the task is not on the first %d pages of the list, and there are more", mostPages)
		}
		return check.Fail("expected the task on a page of tasks/list, found it on none").ShowRequest(last)
	},
})

var progressTokenKept = must(check.Check{
	ID: "progress-token-kept", Cases: []string{"answered"},
	Statements: []string{"progress/task-progress", "progress/task-token", "progress/task-ended"},
	Rule:       "The client MUST report progress of a task under the token of its request, until the task has ended",
	Cause:      "the client uses the task id as the token, or forgets the token once it has responded to the request",
	Fix:        "Keep the token of the request with the task. Report progress under it until the task has ended.",
	Judge: func(e *evidence.Case) check.Verdict {
		t, token := e.Task(), e.Rounds[0].Token()
		v := check.NoProgress()
		for _, note := range e.Session.Progress() {
			at := e.Session.Order[note.Ref]
			switch {
			case at < e.Session.Order[e.Rounds[0].Asked.Ref]:
			case string(note.Token) == string(story.JSON(t.ID)):
				return check.Fail("expected the token %s in a progress notification, found the task id", check.OrMissing(token)).
					ShowJSON(note.At("params.progressToken"), note.Token)
			case evidence.SameID(token, note.Token): // always/progress-tokens judges other tokens
				if end := e.LongEnded(t, at); end != nil {
					return check.Fail("expected no progress notification after the task has ended, found one").
						At(end.Place).ShowJSON(note.Place, note.Raw)
				}
				v = check.Pass("progress of the task is under the token of its request")
			}
		}
		return v
	},
})
