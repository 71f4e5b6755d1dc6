package tasks

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var resultRelated = check.Check{
	ID: "related-task", Rule: "the answer of tasks/result names its task in _meta", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/52", "2025-11-25/tasks/36"},
	Cause:      "the result is handed on as it was made, and nothing in it says of which task it is",
	Fix:        `add "_meta": {"` + relatedTask + `": {"taskId": …}} to the result, and to the task's progress`,
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		judged := false
		for _, a := range results(e) {
			if a.Answer == nil || a.Answer.Result == nil {
				continue
			}
			var related dialect.Object
			raw := relatedIn(a.Answer.Result)
			_ = dialect.ReadPart(raw, &related) // what is no object names no task
			if judged = true; related.Text("taskId") != made.ID {
				return check.Fail("the answer of tasks/result does not name its task").Show(a.Asked, "").Show(a.Answer.At(fmt.Sprintf("_meta[%q]", relatedTask)), "%s", check.OrMissing(raw))
			}
		}
		if !judged {
			return check.NotApplicable("tasks/result was not answered with a result (see tasks/result-equals-plain)")
		}
		for _, note := range e.Session.Progress() { // of which the page says so in general, and in no example
			if evidence.SameID(e.Rounds[0].Token(), note.Token) && e.Session.Order[note.Ref] > made.at && relatedIn(paramsOf(note.Raw)) == nil {
				return check.Warn("the progress of a task is reported without a word of the task in _meta").Show(note.Place, "%s", evidence.Compact(note.Raw))
			}
		}
		return check.Pass("the answer of tasks/result names its task")
	}),
}

// paramsOf are the params of a message.
func paramsOf(raw json.RawMessage) json.RawMessage {
	m := evidence.ReadMessage(raw)
	return m.Params
}

var noRelatedTask = check.Check{
	ID: "no-related-task", Rule: "what has a taskId of its own does not name the task once more in _meta", Levels: check.InNewestLegacy(report.Should), Cases: ofATask,
	Statements: []string{"2025-11-25/tasks/40", "2025-11-25/tasks/41", "2025-11-25/tasks/51"},
	Cause:      "the mark is put on every message that has to do with a task",
	Fix:        "leave " + relatedTask + " out of the answers to tasks/get, tasks/list and tasks/cancel, and of notifications/tasks/status",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		judged := false
		for _, a := range aboutTasks(e) {
			if a.Method == server.TasksResult || a.Answer == nil || a.Answer.Result == nil {
				continue
			}
			if judged = true; relatedIn(a.Answer.Result) != nil {
				return a.saw(check.Fail("the answer of %s names the task in _meta, too", a.Method))
			}
		}
		for _, s := range statusReports(e.Session) {
			params := story.JSON(s.Task)
			if judged = true; s.ID == made.ID && relatedIn(params) != nil {
				return check.Fail("%s names the task in _meta, too", methodTaskStatus).Show(s.Place, "%s", evidence.Compact(params))
			}
		}
		if !judged {
			return check.NotObserved("no request about a task was answered%s", e.Died())
		}
		return check.Pass("nothing names the task twice")
	}),
}

var parameterCounts = check.Check{
	ID: "parameter-counts", Rule: "the parameter taskId says which task is meant, whatever task _meta names", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/38", "2025-11-25/tasks/39"},
	Cause:      "one piece of code finds the task of every message in its _meta",
	Fix:        "read taskId of the params in tasks/get, tasks/result and tasks/cancel, and leave _meta aside",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		for _, a := range aboutTasks(e) {
			switch {
			case !a.Misleading:
			case a.Answer == nil:
				return unansweredTask(e, a)
			case a.result().Text("taskId") != made.ID:
				return a.saw(check.Fail("tasks/get was not answered with the task that its parameter names, when _meta named another one"))
			default:
				return check.Pass("tasks/get was answered with the task that its parameter names")
			}
		}
		return check.NotObserved("the play did not get as far as naming two tasks%s", e.Died())
	}),
}

var unknownTask = check.Check{
	ID: "unknown-task", Rule: "a task or a cursor that there is not is an error, and its code -32602", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/53"},
	Cause:      "the task that is not found is a failure inside the client, or a cursor that cannot be read means the first page",
	Fix:        "answer -32602 where there is no such task, or no such cursor",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		judged := false
		for _, a := range aboutTasks(e) {
			if a.TaskID != strangeTask && a.Cursor != strangeCursor {
				continue
			}
			judged = true
			switch {
			case a.Answer == nil:
				return unansweredTask(e, a)
			case a.Answer.Err == nil:
				return a.saw(check.Fail("%s was answered with a result, and there is no such %s", a.Method, a.names()))
			case !a.failed(evidence.CodeInvalidParams):
				return a.saw(check.Fail("%s of a %s that there is not was answered with the code %d, where -32602 is due", a.Method, a.names(), a.Answer.Err.Code))
			}
		}
		if !judged {
			return check.NotObserved("the play did not get as far as asking about a task that there is not%s", e.Died())
		}
		return check.Pass("the client knows no task and no cursor that there is not")
	}),
}

// names is what the params of a request name.
func (a *aboutTask) names() string {
	if a.Method == server.TasksList {
		return "cursor"
	}
	return "task"
}

var tasksListed = check.Check{
	ID: "listed", Rule: "a task that tasks/get finds is in tasks/list, on one of its pages", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/45", "2025-11-25/tasks/43"},
	Cause:      "only tasks that are working are listed, or a page does not say that there are more",
	Fix:        "list every task that is kept, and give each page but the last a nextCursor",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		if !e.Declared.Declares("tasks", "list") {
			return check.NotApplicable("the client does not declare tasks.list")
		}
		found := slices.ContainsFunc(sightings(e), func(s sighting) bool { return s.kind == string(server.TasksGet) })
		var last *aboutTask
		for _, a := range aboutTasks(e) {
			if a.Method != server.TasksList || a.Cursor == strangeCursor {
				continue
			}
			switch last = a; {
			case a.Answer == nil:
				return unansweredTask(e, a)
			case a.Answer.Err != nil:
				return a.saw(check.Fail("the client declares tasks.list, and answers tasks/list with an error"))
			}
		}
		switch {
		case last == nil:
			return check.NotObserved("the play did not get as far as tasks/list%s", e.Died())
		case slices.ContainsFunc(sightings(e), func(s sighting) bool { return s.kind == string(server.TasksList) }):
			return check.Pass("the task is in the list")
		case !found:
			return check.NotObserved("tasks/get did not find the task, so that it need not be in the list")
		case last.result().Text("nextCursor") != "":
			return check.NotApplicable("the task is not on the first %d pages of the list, and there are more", mostPages)
		}
		return last.saw(check.Fail("a task that tasks/get finds is on no page of tasks/list")).Show(made.Place, "")
	}),
}

// cancels are the requests of the case that cancel its task.
func cancelsOfTask(ev *evidence.Case, made *sighting) []*aboutTask {
	return slices.DeleteFunc(aboutTasks(ev), func(a *aboutTask) bool { return a.Method != server.TasksCancel || a.TaskID != made.ID })
}

// endedBefore returns what shows that the task had ended before a place; nil where nothing does.
func endedBefore(ev *evidence.Case, at evidence.Place) *sighting {
	for _, s := range sightings(ev) {
		if s.ended() && s.at < ev.Session.Order[at.Ref] {
			return &s
		}
	}
	return nil
}

var endIsFinal = check.Check{
	ID: "end-is-final", Rule: "tasks/cancel of a task that has ended is an error, and its code -32602", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered", "cancelled"},
	Statements: []string{"2025-11-25/tasks/46"},
	Cause:      "the cancel is answered without a look at how the task stands",
	Fix:        "answer -32602 where the task is completed, failed or cancelled",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		if !e.Declared.Declares("tasks", "cancel") {
			return check.NotApplicable("the client does not declare tasks.cancel")
		}
		judged := false
		for _, a := range cancelsOfTask(e, made) {
			ended := endedBefore(e, a.Asked)
			if ended == nil {
				continue
			}
			judged = true
			switch {
			case a.Answer == nil:
				return unansweredTask(e, a)
			case a.Answer.Err == nil:
				return a.saw(check.Fail("a task had ended as %s, and the client took its cancel", ended.Status).Show(ended.Place, ""))
			case !a.failed(evidence.CodeInvalidParams):
				return a.saw(check.Fail("the cancel of a task that had ended was answered with the code %d, where -32602 is due", a.Answer.Err.Code).Show(ended.Place, ""))
			}
		}
		if !judged {
			return check.NotObserved("the task was not seen to end before it was cancelled%s", e.Died())
		}
		return check.Pass("a task that has ended is not cancelled")
	}),
}

// onCancel is a rule about the first cancel of a task that was working.
func onCancel(judge func(*evidence.Case, *aboutTask) check.Verdict) func(*evidence.Case) check.Verdict {
	return onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		cancels := cancelsOfTask(e, made)
		switch {
		case len(cancels) == 0:
			return check.NotObserved("the play did not get as far as cancelling the task%s", e.Died())
		case endedBefore(e, cancels[0].Asked) != nil:
			return check.NotApplicable("the task had ended before it was cancelled")
		}
		return judge(e, cancels[0])
	})
}

// onceCancelled is a rule about a task that the client says was cancelled.
func onceCancelled(judge func(*evidence.Case, *aboutTask) check.Verdict) func(*evidence.Case) check.Verdict {
	return onCancel(func(e *evidence.Case, cancel *aboutTask) check.Verdict {
		if cancel.Answer == nil || !cancel.taken() {
			return check.NotApplicable("the task was not cancelled (see tasks/task-cancel)")
		}
		return judge(e, cancel)
	})
}

// taken reports whether the client says that it took a cancel.
func (a *aboutTask) taken() bool { return a.result().Text("status") == "cancelled" }

var taskCancel = check.Check{
	ID: "task-cancel", Rule: "a task that is cancelled is so before the cancel is answered", Levels: check.InNewestLegacy(report.Must), Cases: []string{"cancelled"},
	Statements: []string{"2025-11-25/tasks/47"},
	Cause:      "the cancel is answered when it was passed on, with the task as it still is",
	Fix:        "make the status cancelled first, and answer with the task then",
	Judge: onCancel(func(e *evidence.Case, cancel *aboutTask) check.Verdict {
		switch ended := endedBy(e, "completed", "failed"); {
		case cancel.Answer == nil:
			return unansweredTask(e, cancel)
		case cancel.Answer.Err != nil && ended != nil:
			return check.NotApplicable("the task ended by itself").Show(ended.Place, "")
		case cancel.Answer.Err != nil:
			return cancel.saw(check.Fail("the client declares tasks.cancel, and refused to cancel a task that was working"))
		case !cancel.taken():
			return cancel.saw(check.Fail("the cancel of a task was answered, and the task is not cancelled"))
		}
		return check.Pass("the task is cancelled with the answer")
	}),
}

// endedBy returns what first shows the task under one of the statuses; nil where nothing does.
func endedBy(ev *evidence.Case, statuses ...string) *sighting {
	for _, s := range sightings(ev) {
		if slices.Contains(statuses, s.Status) {
			return &s
		}
	}
	return nil
}

var staysCancelled = check.Check{
	ID: "stays-cancelled", Rule: "a task that was cancelled stays so, also when the work goes on", Levels: check.InNewestLegacy(report.Must), Cases: []string{"cancelled"},
	Statements: []string{"2025-11-25/tasks/48"},
	Cause:      "the work that could not be stopped writes its end over the cancel",
	Fix:        "leave a task alone that was cancelled, whatever its work comes to",
	Judge: onceCancelled(func(e *evidence.Case, cancel *aboutTask) check.Verdict {
		for _, s := range sightings(e) {
			if s.asked > e.Session.Order[cancel.Answer.Ref] && s.Status != "cancelled" {
				return cancel.saw(check.Fail("a task was cancelled, and is %s then", check.OrMissing(s.Task["status"]))).Show(s.Place, "%s", evidence.Compact(story.JSON(s.Task)))
			}
		}
		return check.Pass("the task stayed cancelled")
	}),
}

var taskWorkStops = check.Check{
	ID: "work-stops", Rule: "the model's answer to a task that was cancelled is not waited for", Levels: check.InNewestLegacy(report.Should), Cases: []string{"cancelled"},
	Statements: []string{"2025-11-25/tasks/47"},
	Cause:      "the cancel changes the status, and does not reach the work",
	Fix:        "end the request of the model when its task is cancelled",
	Judge: onceCancelled(func(e *evidence.Case, cancel *aboutTask) check.Verdict {
		for _, x := range e.Rounds[0].Model {
			switch {
			case x.End.HungUp || x.End.Status != 200:
			case x.End.Closed:
				return check.NotObserved("the request of the model was still open when the session was over").Show(x.Place, "")
			case x.Behind < e.Session.Order[cancel.Asked.Ref]:
				return check.NotObserved("the model had answered before the task was cancelled").Show(x.Place, "")
			default:
				return check.Fail("a task was cancelled, and the model's answer was waited for all the same").Show(cancel.Asked, "").Show(x.Place, "")
			}
		}
		return check.Pass("nothing was left of the request of the model")
	}),
}

var taskAnyStream = check.Check{
	ID: "any-stream", Rule: "a request about a task is answered on whatever stream it comes", Levels: check.InNewestLegacy(report.Should), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/67"},
	Cause:      "what comes on the stream that the client opened with GET meets nobody",
	Fix:        "have all streams of a session lead to the same handlers",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		for _, a := range aboutTasks(e) {
			switch {
			case !a.onGET:
			case a.Answer == nil:
				return unansweredTask(e, a)
			case a.failed(evidence.MethodNotFound):
				return a.saw(check.Fail("a request about a task met nobody on the stream that the client had opened"))
			default:
				return check.Pass("a request about a task was answered that came on another stream than the sample")
			}
		}
		return check.NotApplicable("the client has no other stream than that of its call")
	}),
}

var progressTokenKept = check.Check{
	ID: "progress-token-kept", Rule: "the progress of a task comes under the token of its request, and ends with the task", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/progress/10", "2025-11-25/progress/09", "2025-11-25/progress/11"},
	Cause:      "the id of the task is taken for the token, or the token is forgotten with the answer to the request",
	Fix:        "keep the token of the request with the task, and report under it until the task has ended",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		reported := false
		for _, note := range e.Session.Progress() {
			at := e.Session.Order[note.Ref]
			switch {
			case at < e.Session.Order[e.Rounds[0].Asked.Ref]:
				continue
			case string(note.Token) == string(story.JSON(made.ID)):
				return check.Fail("the progress of a task is reported under the task's id").ShowAs("server sent", e.Rounds[0].Asked.At("_meta.progressToken"), "%s", check.OrMissing(e.Rounds[0].Token())).
					Show(note.At("params.progressToken"), "%s", check.OrMissing(note.Token))
			case !evidence.SameID(e.Rounds[0].Token(), note.Token):
				continue // of what it is time/progress-token asks
			}
			reported = true
			if ended := longEnded(e, at); ended != nil {
				return check.Fail("progress was reported of a task that had ended").Show(*ended, "").Show(note.Place, "%s", evidence.Compact(note.Raw))
			}
		}
		if !reported {
			return check.NoProgress()
		}
		return check.Pass("the progress of the task came under the token of its request")
	}),
}

// longEnded returns what shows that the task had ended before a report at a place among all events; nil where that is not beyond all doubt. Over HTTP the two
// are POSTs that may overtake one another, so that the proof is a request which was asked after the former and answered before the latter.
func longEnded(ev *evidence.Case, report int) *evidence.Place {
	end := endedBy(ev, endsOfTasks...)
	if end == nil {
		return nil
	}
	for _, a := range aboutTasks(ev) {
		if a.Answer != nil && ev.Session.Order[a.Asked.Ref] > ev.Session.Order[end.Ref] && ev.Session.Order[a.Answer.Ref] < report {
			return &end.Place
		}
	}
	return nil
}

var plainBesideTasks = check.Check{
	ID: "plain", Rule: "whether a client that takes samples as tasks takes plain ones, too", Levels: check.InNewestLegacy(report.May), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/14", "2025-11-25/tasks/54"},
	Cause:      "the client wants to be free to take its time",
	Fix:        "nothing: it is the client's choice; the code for it is -32600",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		switch plain := plain(e); {
		case plain == nil || len(plain.Answers) == 0:
			return check.NotObserved("the plain request was not answered%s", e.Died())
		case plain.RefusedWithoutTask():
			return check.Info("the client takes samples as tasks alone")
		case plain.Answers[0].Err != nil:
			return check.NotApplicable("the plain request was refused with the code %d, which does not say that a task is wanted", plain.Answers[0].Err.Code)
		}
		return check.Info("the client takes plain samples, too")
	}),
}
