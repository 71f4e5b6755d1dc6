package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var resultRelated = Check{
	ID: "related-task", Rule: "the answer of tasks/result names its task in _meta", Levels: inNewestLegacy(report.Must), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/52", "2025-11-25/tasks/36"},
	Cause:        "the result is handed on as it was made, and nothing in it says of which task it is",
	Fix:          `add "_meta": {"` + relatedTask + `": {"taskId": …}} to the result, and to the task's progress`,
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		judged := false
		for _, a := range e.results() {
			if a.Answer == nil || a.Answer.Result == nil {
				continue
			}
			var related dialect.Object
			raw := relatedIn(a.Answer.Result)
			_ = dialect.ReadPart(raw, &related) // what is no object names no task
			if judged = true; related.Text("taskId") != made.ID {
				return Broken("the answer of tasks/result does not name its task").See(a.Asked, "").See(a.Answer.At(fmt.Sprintf("_meta[%q]", relatedTask)), "%s", orMissing(raw))
			}
		}
		if !judged {
			return NotApplicable("tasks/result was not answered with a result (see tasks/result-equals-plain)")
		}
		for _, note := range e.Session.progress() { // of which the page says so in general, and in no example
			if sameID(e.Rounds[0].token(), note.token) && e.Session.order[note.Ref] > made.at && relatedIn(paramsOf(note.raw)) == nil {
				return Warn("the progress of a task is reported without a word of the task in _meta").See(note.Place, "%s", compact(note.raw))
			}
		}
		return Pass("the answer of tasks/result names its task")
	}),
}

// paramsOf are the params of a message.
func paramsOf(raw json.RawMessage) json.RawMessage {
	m := readRPC(raw)
	return m.params
}

var noRelatedTask = Check{
	ID: "no-related-task", Rule: "what has a taskId of its own does not name the task once more in _meta", Levels: inNewestLegacy(report.Should), Cases: ofATask,
	Requirements: []string{"2025-11-25/tasks/40", "2025-11-25/tasks/41", "2025-11-25/tasks/51"},
	Cause:        "the mark is put on every message that has to do with a task",
	Fix:          "leave " + relatedTask + " out of the answers to tasks/get, tasks/list and tasks/cancel, and of notifications/tasks/status",
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		judged := false
		for _, a := range e.aboutTasks() {
			if a.Method == server.TasksResult || a.Answer == nil || a.Answer.Result == nil {
				continue
			}
			if judged = true; relatedIn(a.Answer.Result) != nil {
				return a.saw(Broken("the answer of %s names the task in _meta, too", a.Method))
			}
		}
		for _, s := range e.Session.statusReports() {
			params := asJSON(s.Task)
			if judged = true; s.ID == made.ID && relatedIn(params) != nil {
				return Broken("%s names the task in _meta, too", methodTaskStatus).See(s.Place, "%s", compact(params))
			}
		}
		if !judged {
			return NotObserved("no request about a task was answered%s", e.died())
		}
		return Pass("nothing names the task twice")
	}),
}

var parameterCounts = Check{
	ID: "parameter-counts", Rule: "the parameter taskId says which task is meant, whatever task _meta names", Levels: inNewestLegacy(report.Must), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/38", "2025-11-25/tasks/39"},
	Cause:        "one piece of code finds the task of every message in its _meta",
	Fix:          "read taskId of the params in tasks/get, tasks/result and tasks/cancel, and leave _meta aside",
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		for _, a := range e.aboutTasks() {
			switch {
			case !a.Misleading:
			case a.Answer == nil:
				return e.unansweredTask(a)
			case a.result().Text("taskId") != made.ID:
				return a.saw(Broken("tasks/get was not answered with the task that its parameter names, when _meta named another one"))
			default:
				return Pass("tasks/get was answered with the task that its parameter names")
			}
		}
		return NotObserved("the play did not get as far as naming two tasks%s", e.died())
	}),
}

var unknownTask = Check{
	ID: "unknown-task", Rule: "a task or a cursor that there is not is an error, and its code -32602", Levels: inNewestLegacy(report.Must), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/53"},
	Cause:        "the task that is not found is a failure inside the client, or a cursor that cannot be read means the first page",
	Fix:          "answer -32602 where there is no such task, or no such cursor",
	Judge: onTask(func(e *Evidence, _ *sighting) Verdict {
		judged := false
		for _, a := range e.aboutTasks() {
			if a.TaskID != strangeTask && a.Cursor != strangeCursor {
				continue
			}
			judged = true
			switch {
			case a.Answer == nil:
				return e.unansweredTask(a)
			case a.Answer.Err == nil:
				return a.saw(Broken("%s was answered with a result, and there is no such %s", a.Method, a.names()))
			case !a.failed(codeInvalidParams):
				return a.saw(Broken("%s of a %s that there is not was answered with the code %d, where -32602 is due", a.Method, a.names(), a.Answer.Err.Code))
			}
		}
		if !judged {
			return NotObserved("the play did not get as far as asking about a task that there is not%s", e.died())
		}
		return Pass("the client knows no task and no cursor that there is not")
	}),
}

// names is what the params of a request name.
func (a *aboutTask) names() string {
	if a.Method == server.TasksList {
		return "cursor"
	}
	return "task"
}

var tasksListed = Check{
	ID: "listed", Rule: "a task that tasks/get finds is in tasks/list, on one of its pages", Levels: inNewestLegacy(report.Must), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/45", "2025-11-25/tasks/43"},
	Cause:        "only tasks that are working are listed, or a page does not say that there are more",
	Fix:          "list every task that is kept, and give each page but the last a nextCursor",
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		if !e.Declared.declares("tasks", "list") {
			return NotApplicable("the client does not declare tasks.list")
		}
		found := slices.ContainsFunc(e.sightings(), func(s sighting) bool { return s.kind == string(server.TasksGet) })
		var last *aboutTask
		for _, a := range e.aboutTasks() {
			if a.Method != server.TasksList || a.Cursor == strangeCursor {
				continue
			}
			switch last = a; {
			case a.Answer == nil:
				return e.unansweredTask(a)
			case a.Answer.Err != nil:
				return a.saw(Broken("the client declares tasks.list, and answers tasks/list with an error"))
			}
		}
		switch {
		case last == nil:
			return NotObserved("the play did not get as far as tasks/list%s", e.died())
		case slices.ContainsFunc(e.sightings(), func(s sighting) bool { return s.kind == string(server.TasksList) }):
			return Pass("the task is in the list")
		case !found:
			return NotObserved("tasks/get did not find the task, so that it need not be in the list")
		case last.result().Text("nextCursor") != "":
			return NotApplicable("the task is not on the first %d pages of the list, and there are more", mostPages)
		}
		return last.saw(Broken("a task that tasks/get finds is on no page of tasks/list")).See(made.Place, "")
	}),
}

// cancels are the requests of the case that cancel its task.
func (ev *Evidence) cancelsOfTask(made *sighting) []*aboutTask {
	return slices.DeleteFunc(ev.aboutTasks(), func(a *aboutTask) bool { return a.Method != server.TasksCancel || a.TaskID != made.ID })
}

// endedBefore returns what shows that the task had ended before a place; nil where nothing does.
func (ev *Evidence) endedBefore(at Place) *sighting {
	for _, s := range ev.sightings() {
		if s.ended() && s.at < ev.Session.order[at.Ref] {
			return &s
		}
	}
	return nil
}

var endIsFinal = Check{
	ID: "end-is-final", Rule: "tasks/cancel of a task that has ended is an error, and its code -32602", Levels: inNewestLegacy(report.Must), Cases: []string{"answered", "cancelled"},
	Requirements: []string{"2025-11-25/tasks/46"},
	Cause:        "the cancel is answered without a look at how the task stands",
	Fix:          "answer -32602 where the task is completed, failed or cancelled",
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		if !e.Declared.declares("tasks", "cancel") {
			return NotApplicable("the client does not declare tasks.cancel")
		}
		judged := false
		for _, a := range e.cancelsOfTask(made) {
			ended := e.endedBefore(a.Asked)
			if ended == nil {
				continue
			}
			judged = true
			switch {
			case a.Answer == nil:
				return e.unansweredTask(a)
			case a.Answer.Err == nil:
				return a.saw(Broken("a task had ended as %s, and the client took its cancel", ended.Status).See(ended.Place, ""))
			case !a.failed(codeInvalidParams):
				return a.saw(Broken("the cancel of a task that had ended was answered with the code %d, where -32602 is due", a.Answer.Err.Code).See(ended.Place, ""))
			}
		}
		if !judged {
			return NotObserved("the task was not seen to end before it was cancelled%s", e.died())
		}
		return Pass("a task that has ended is not cancelled")
	}),
}

// onCancel is a rule about the first cancel of a task that was working.
func onCancel(judge func(*Evidence, *aboutTask) Verdict) func(*Evidence) Verdict {
	return onTask(func(e *Evidence, made *sighting) Verdict {
		cancels := e.cancelsOfTask(made)
		switch {
		case len(cancels) == 0:
			return NotObserved("the play did not get as far as cancelling the task%s", e.died())
		case e.endedBefore(cancels[0].Asked) != nil:
			return NotApplicable("the task had ended before it was cancelled")
		}
		return judge(e, cancels[0])
	})
}

// onceCancelled is a rule about a task that the client says was cancelled.
func onceCancelled(judge func(*Evidence, *aboutTask) Verdict) func(*Evidence) Verdict {
	return onCancel(func(e *Evidence, cancel *aboutTask) Verdict {
		if cancel.Answer == nil || !cancel.taken() {
			return NotApplicable("the task was not cancelled (see tasks/task-cancel)")
		}
		return judge(e, cancel)
	})
}

// taken reports whether the client says that it took a cancel.
func (a *aboutTask) taken() bool { return a.result().Text("status") == "cancelled" }

var taskCancel = Check{
	ID: "task-cancel", Rule: "a task that is cancelled is so before the cancel is answered", Levels: inNewestLegacy(report.Must), Cases: []string{"cancelled"},
	Requirements: []string{"2025-11-25/tasks/47"},
	Cause:        "the cancel is answered when it was passed on, with the task as it still is",
	Fix:          "make the status cancelled first, and answer with the task then",
	Judge: onCancel(func(e *Evidence, cancel *aboutTask) Verdict {
		switch ended := e.endedBy("completed", "failed"); {
		case cancel.Answer == nil:
			return e.unansweredTask(cancel)
		case cancel.Answer.Err != nil && ended != nil:
			return NotApplicable("the task ended by itself").See(ended.Place, "")
		case cancel.Answer.Err != nil:
			return cancel.saw(Broken("the client declares tasks.cancel, and refused to cancel a task that was working"))
		case !cancel.taken():
			return cancel.saw(Broken("the cancel of a task was answered, and the task is not cancelled"))
		}
		return Pass("the task is cancelled with the answer")
	}),
}

// endedBy returns what first shows the task under one of the statuses; nil where nothing does.
func (ev *Evidence) endedBy(statuses ...string) *sighting {
	for _, s := range ev.sightings() {
		if slices.Contains(statuses, s.Status) {
			return &s
		}
	}
	return nil
}

var staysCancelled = Check{
	ID: "stays-cancelled", Rule: "a task that was cancelled stays so, also when the work goes on", Levels: inNewestLegacy(report.Must), Cases: []string{"cancelled"},
	Requirements: []string{"2025-11-25/tasks/48"},
	Cause:        "the work that could not be stopped writes its end over the cancel",
	Fix:          "leave a task alone that was cancelled, whatever its work comes to",
	Judge: onceCancelled(func(e *Evidence, cancel *aboutTask) Verdict {
		for _, s := range e.sightings() {
			if s.asked > e.Session.order[cancel.Answer.Ref] && s.Status != "cancelled" {
				return cancel.saw(Broken("a task was cancelled, and is %s then", orMissing(s.Task["status"]))).See(s.Place, "%s", compact(asJSON(s.Task)))
			}
		}
		return Pass("the task stayed cancelled")
	}),
}

var taskWorkStops = Check{
	ID: "work-stops", Rule: "the model's answer to a task that was cancelled is not waited for", Levels: inNewestLegacy(report.Should), Cases: []string{"cancelled"},
	Requirements: []string{"2025-11-25/tasks/47"},
	Cause:        "the cancel changes the status, and does not reach the work",
	Fix:          "end the request of the model when its task is cancelled",
	Judge: onceCancelled(func(e *Evidence, cancel *aboutTask) Verdict {
		for _, x := range e.Rounds[0].Model {
			switch {
			case x.End.HungUp || x.End.Status != 200:
			case x.End.Closed:
				return NotObserved("the request of the model was still open when the session was over").See(x.Place, "")
			case x.behind < e.Session.order[cancel.Asked.Ref]:
				return NotObserved("the model had answered before the task was cancelled").See(x.Place, "")
			default:
				return Broken("a task was cancelled, and the model's answer was waited for all the same").See(cancel.Asked, "").See(x.Place, "")
			}
		}
		return Pass("nothing was left of the request of the model")
	}),
}

var taskAnyStream = Check{
	ID: "any-stream", Rule: "a request about a task is answered on whatever stream it comes", Levels: inNewestLegacy(report.Should), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/67"},
	Cause:        "what comes on the stream that the client opened with GET meets nobody",
	Fix:          "have all streams of a session lead to the same handlers",
	Judge: onTask(func(e *Evidence, _ *sighting) Verdict {
		for _, a := range e.aboutTasks() {
			switch {
			case !a.onGET:
			case a.Answer == nil:
				return e.unansweredTask(a)
			case a.failed(methodNotFound):
				return a.saw(Broken("a request about a task met nobody on the stream that the client had opened"))
			default:
				return Pass("a request about a task was answered that came on another stream than the sample")
			}
		}
		return NotApplicable("the client has no other stream than that of its call")
	}),
}

var progressTokenKept = Check{
	ID: "progress-token-kept", Rule: "the progress of a task comes under the token of its request, and ends with the task", Levels: inNewestLegacy(report.Must), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/progress/10", "2025-11-25/progress/09", "2025-11-25/progress/11"},
	Cause:        "the id of the task is taken for the token, or the token is forgotten with the answer to the request",
	Fix:          "keep the token of the request with the task, and report under it until the task has ended",
	Judge: onTask(func(e *Evidence, made *sighting) Verdict {
		reported := false
		for _, note := range e.Session.progress() {
			at := e.Session.order[note.Ref]
			switch {
			case at < e.Session.order[e.Rounds[0].Asked.Ref]:
				continue
			case string(note.token) == string(asJSON(made.ID)):
				return Broken("the progress of a task is reported under the task's id").Saw("server sent", e.Rounds[0].Asked.At("_meta.progressToken"), "%s", orMissing(e.Rounds[0].token())).
					See(note.At("params.progressToken"), "%s", orMissing(note.token))
			case !sameID(e.Rounds[0].token(), note.token):
				continue // of what it is time/progress-token asks
			}
			reported = true
			if ended := e.longEnded(at); ended != nil {
				return Broken("progress was reported of a task that had ended").See(*ended, "").See(note.Place, "%s", compact(note.raw))
			}
		}
		if !reported {
			return noProgress()
		}
		return Pass("the progress of the task came under the token of its request")
	}),
}

// longEnded returns what shows that the task had ended before a report at a place among all events; nil where that is not beyond all doubt. Over HTTP the two
// are POSTs that may overtake one another, so that the proof is a request which was asked after the former and answered before the latter.
func (ev *Evidence) longEnded(report int) *Place {
	end := ev.endedBy(endsOfTasks...)
	if end == nil {
		return nil
	}
	for _, a := range ev.aboutTasks() {
		if a.Answer != nil && ev.Session.order[a.Asked.Ref] > ev.Session.order[end.Ref] && ev.Session.order[a.Answer.Ref] < report {
			return &end.Place
		}
	}
	return nil
}

var plainBesideTasks = Check{
	ID: "plain", Rule: "whether a client that takes samples as tasks takes plain ones, too", Levels: inNewestLegacy(report.May), Cases: []string{"answered"},
	Requirements: []string{"2025-11-25/tasks/14", "2025-11-25/tasks/54"},
	Cause:        "the client wants to be free to take its time",
	Fix:          "nothing: it is the client's choice; the code for it is -32600",
	Judge: onTask(func(e *Evidence, _ *sighting) Verdict {
		switch plain := e.plain(); {
		case plain == nil || len(plain.Answers) == 0:
			return NotObserved("the plain request was not answered%s", e.died())
		case plain.refusedPlain():
			return Info("the client takes samples as tasks alone")
		case plain.Answers[0].Err != nil:
			return NotApplicable("the plain request was refused with the code %d, which does not say that a task is wanted", plain.Answers[0].Err.Code)
		}
		return Info("the client takes plain samples, too")
	}),
}
