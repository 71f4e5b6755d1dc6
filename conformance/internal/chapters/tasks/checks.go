package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var taskIgnored = check.Check{
	ID: "task-ignored", Rule: "a client that does not declare tasks ignores task, and answers plainly", Levels: check.InNewestLegacy(report.Must), Cases: []string{"undeclared"},
	Statements: []string{"2025-11-25/tasks/13", "2025-11-25/tasks/01", "2025-11-25/schema/16"},
	Cause:      "whoever sees the field task takes the request for a task, or refuses it, without a look at what was declared",
	Fix:        "leave task aside where tasks.requests.sampling.createMessage is not declared, and answer as if it were not there",
	Judge: func(e *evidence.Case) check.Verdict {
		switch {
		case e.Declared.Declares(evidence.SamplingTasks...):
			return check.NotApplicable("the client declares tasks for sampling").Show(e.Declared.CapabilitiesAt(), "%s", check.OrMissing(e.Declared.Declared()))
		case len(e.Rounds) == 0 || e.Rounds[0].Result() == nil:
			return check.NotObserved("a plain request was not answered with a result, so that nothing follows from what becomes of one for a task%s", e.WhyNoResult(1))
		case len(e.Rounds) < 2:
			return check.NotObserved("the play did not get as far as asking for a task%s", e.Died())
		}
		r := e.Rounds[1]
		tell := func(v check.Verdict) check.Verdict {
			return v.Show(r.Declared.CapabilitiesAt(), "%s", check.OrMissing(r.Declared.Declared())).Show(r.Asked.At("task"), "")
		}
		switch a := r.Result(); {
		case a != nil && evidence.HasMember(a.Result, "task") && !evidence.HasMember(a.Result, "role"):
			return tell(check.Fail("the client made a task of a request, and does not declare that it does")).Show(a.Place, "%s", evidence.Compact(a.Result))
		case a != nil:
			return check.Pass("the client ignored task, and answered")
		case len(r.Answers) > 0:
			return tell(check.Fail("the client refused a request for what it had to ignore in it: %q (code %d)", evidence.Clip(r.Answers[0].Err.Message), r.Answers[0].Err.Code)).
				Show(r.Answers[0].Place, "%s", evidence.Compact(r.Answers[0].RawErr))
		}
		if v := check.Survived(e, r.Asked, "the client did not go on after a request for a task"); v != nil {
			return *v
		}
		return tell(check.Fail("the client did not answer a request, and it had only to ignore something in it"))
	},
}

var noTaskCalls = check.Check{
	ID: "no-task-calls", Rule: "a client calls no tools as tasks on a server that does not declare it", Levels: check.InNewestLegacy(report.Must), Whole: true, Cases: []string{"undeclared"},
	Statements: []string{"2025-11-25/tasks/04"},
	Cause:      "every call is made as a task, whatever the server declares",
	Fix:        "leave task out of tools/call where the server does not declare tasks.requests.tools.call",
	Judge: func(e *evidence.Case) check.Verdict {
		called := false
		for ev, m := range e.Session.FromClient() {
			if m.Method != "tools/call" {
				continue
			}
			if called = true; evidence.HasMember(m.Params, "task") {
				return check.Fail("the client called a tool as a task, and the server declares no tasks").Show(evidence.Place{Ref: ev.Ref(), Path: "params.task", Label: "tools/call"}, "%s", evidence.Compact(m.Params))
			}
		}
		if !called {
			return check.NotObserved("the client called no tool")
		}
		return check.Pass("the client called tools plainly")
	},
}

// onTask is a rule about a task that the client has made. That it made none breaks another one.
func onTask(judge func(*evidence.Case, *sighting) check.Verdict) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		if v := withoutTask(e); v != nil {
			return *v
		}
		made := created(e)
		if made == nil {
			return check.NotApplicable("the client made no task that could be asked about (see tasks/created-task)")
		}
		return judge(e, made)
	}
}

// withoutTask is the verdict where no task was asked for; nil where one was.
func withoutTask(ev *evidence.Case) *check.Verdict {
	var v check.Verdict
	switch {
	case !ev.Session.Supports[harness.Tasks]: // and declares them as it was told to
		v = check.NotApplicable(`the client does not say that it takes samples as tasks: where it does, have its driver announce "tasks" (Env.Announce, or a line {"mcp-conform":"supports","feature":"tasks"})`)
	case len(ev.Rounds) > 0:
		return nil
	case ev.Case.ID == "tasks/cancelled" && !ev.Declared.Declares("tasks", "cancel"):
		v = check.NotApplicable("the client does not declare tasks.cancel")
	default:
		v = check.NotObserved("the play did not get as far as asking for a task%s", ev.Died())
	}
	return &v
}

// ofATask are the cases in which a task is made.
var ofATask = []string{"answered", "failed", "cancelled"}

var createdTask = check.Check{
	ID: "created-task", Rule: "a request that is taken as a task is answered with the task: an id of its own, which is a string, and the status working",
	Levels: check.InNewestLegacy(report.Must), Cases: ofATask,
	Statements: []string{"2025-11-25/tasks/31", "2025-11-25/tasks/15", "2025-11-25/tasks/16", "2025-11-25/tasks/17", "2025-11-25/tasks/18"},
	Cause:      "the capability is declared, and the handler of plain requests answers; or the id is a count that begins anew",
	Fix:        `answer {"task": {"taskId": …, "status": "working", …}} with an id that no other task has, and work on the request then`,
	Judge: func(e *evidence.Case) check.Verdict {
		if v := withoutTask(e); v != nil {
			return *v
		}
		r := e.Rounds[0]
		a := r.Result()
		if a == nil {
			return check.NotObserved("the client declares tasks for sampling, and did not take a request as one%s", e.WhyNoResult(1)).Show(r.Asked, "")
		}
		tell := func(v check.Verdict) check.Verdict {
			return v.Show(r.Asked.At("task"), "").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		var result, task dialect.Object
		_ = dialect.ReadPart(a.Result, &result)
		if result.Read("task", &task) != nil || task == nil {
			return tell(check.Fail("the client declares tasks for sampling, and answered a request for one with no task"))
		}
		id := task.Text("taskId")
		if id == "" {
			return tell(check.Fail("the id of a task is no text"))
		}
		if status := task.Text("status"); status != "working" {
			return tell(check.Fail("a task begins with the status %s, and not as working", check.OrMissing(task["status"])))
		}
		if other, taken := tasksMade(e)[id]; taken {
			return tell(check.Fail("two tasks have one id")).Show(other, "")
		}
		return check.Pass("the client made a task, with an id of its own")
	},
}

var createdSoon = check.Check{
	ID: "created-soon", Rule: "the task is told of before the model has answered", Levels: check.InNewestLegacy(report.Should), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/32"},
	Cause:      "the answer waits for the work, as that to a plain request does",
	Fix:        "answer with the task as soon as the request is taken, and ask the model then",
	Judge: onTask(func(e *evidence.Case, made *sighting) check.Verdict {
		for _, x := range e.Rounds[0].Model {
			if x.Behind < made.at && !x.End.HungUp {
				return check.Fail("the client told of a task only when the model had answered").Show(e.Rounds[0].Asked, "").Show(x.Place, "").Show(made.Place, "")
			}
		}
		return check.Pass("the client told of the task before the model had answered")
	}),
}

// isoTimes are the forms of ISO 8601 in which times are written: that of RFC 3339, to which the page links, and others of the standard's. Fractions of
// a second may be in any.
var isoTimes = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "20060102T150405Z0700", "2006-01-02T15:04:05Z07"}

func isISOTime(raw json.RawMessage) bool {
	var text string
	return json.Unmarshal(raw, &text) == nil && slices.ContainsFunc(isoTimes, func(form string) bool {
		_, err := time.Parse(form, text)
		return err == nil
	})
}

var taskTimestamps = check.Check{
	ID: "timestamps", Rule: "every answer about a task says in ISO 8601 when it was created, and when it was last updated", Levels: check.InNewestLegacy(report.Must), Cases: ofATask,
	Statements: []string{"2025-11-25/tasks/25", "2025-11-25/tasks/26"},
	Cause:      "times are numbers, or lastUpdatedAt is left out as long as nothing has changed",
	Fix:        `write createdAt and lastUpdatedAt as "2025-11-25T10:30:00Z" in the task of each answer`,
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		for _, s := range sightings(e) {
			for _, name := range []string{"createdAt", "lastUpdatedAt"} {
				if s.kind != methodTaskStatus && !isISOTime(s.Task[name]) {
					return check.Fail("%s of a task is no time in ISO 8601", name).Show(s.At(name), "%s", check.OrMissing(s.Task[name]))
				}
			}
		}
		return check.Pass("every answer about the task has its times")
	}),
}

var ttlTold = check.Check{
	ID: "ttl-told", Rule: "tasks/get says for how long the task is kept, null for without limit", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered", "failed"},
	Statements: []string{"2025-11-25/tasks/28"},
	Cause:      "ttl is told when the task is made, and not again, or is left out where there is no limit",
	Fix:        "have ttl in every answer to tasks/get: milliseconds, or null",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		judged := false
		for _, s := range sightings(e) {
			if s.kind != string(server.TasksGet) {
				continue
			}
			_, isNumber := evidence.Decoded(s.Task["ttl"]).(json.Number)
			if judged = true; !isNumber && string(s.Task["ttl"]) != "null" {
				return check.Fail("tasks/get does not say for how long a task is kept").Show(s.At("ttl"), "%s", check.OrMissing(s.Task["ttl"]))
			}
		}
		if !judged {
			return check.NotObserved("tasks/get was not answered with the task%s", e.Died())
		}
		return check.Pass("tasks/get says for how long the task is kept")
	}),
}

var taskTTL = check.Check{
	ID: "ttl", Rule: "for how long a client keeps a task, which it may choose", Levels: check.InNewestLegacy(report.May), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/27"},
	Cause:      "the client has a limit of its own",
	Fix:        "nothing: it is the client's choice",
	Judge: onTask(func(_ *evidence.Case, made *sighting) check.Verdict {
		switch ttl := string(made.Task["ttl"]); ttl {
		case fmt.Sprint(wantedTTL):
			return check.Info("the client keeps a task for as long as it is asked to")
		case "null":
			return check.Info("the client keeps tasks without limit")
		case "":
			return check.Info("the client does not say for how long it keeps a task")
		default:
			return check.Info("the client keeps a task for %s ms, and was asked to for %d", evidence.Clip(ttl), wantedTTL)
		}
	}),
}

var taskStatus = check.Check{
	ID: "status", Rule: "a task that has ended stays as it is, and has no status that is not in the protocol", Levels: check.InNewestLegacy(report.Must), Cases: ofATask,
	Statements: []string{"2025-11-25/tasks/19", "2025-11-25/tasks/20"},
	Cause:      "what is told of a task is not what its result goes by, or the work goes on writing its status when it has ended",
	Fix:        "keep one status, and change it no more once it is completed, failed or cancelled",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		all := sightings(e)
		var ended *sighting
		for i := range all {
			s := &all[i]
			switch {
			case s.Status != "working" && s.Status != "input_required" && !s.ended():
				return check.Fail("a task has the status %s, which there is not", check.OrMissing(s.Task["status"])).Show(s.Place, "%s", evidence.Compact(story.JSON(s.Task)))
			case ended == nil && s.ended():
				ended = s
			case ended != nil && s.Status != ended.Status && (s.ended() || s.asked > ended.at): // an answer may cross a report of the end
				return check.Fail("a task had ended as %s, and is %s then", ended.Status, s.Status).Show(ended.Place, "%s", evidence.Compact(story.JSON(ended.Task))).Show(s.Place, "%s", evidence.Compact(story.JSON(s.Task)))
			}
		}
		for _, a := range results(e) {
			for _, s := range all {
				if a.Answer != nil && a.Answer.Result != nil && s.asked > e.Session.Order[a.Answer.Ref] && !s.ended() {
					return a.saw(check.Fail("a task's result was there, and the task is %s then", s.Status)).Show(s.Place, "%s", evidence.Compact(story.JSON(s.Task)))
				}
			}
		}
		if len(all) == 1 {
			return check.NotObserved("the client made a task, and said no more of it%s", e.Died())
		}
		return check.Pass("the task went from one status to another as it should")
	}),
}

// results are the requests for the result of the case's task.
func results(ev *evidence.Case) []*aboutTask {
	made := created(ev)
	return slices.DeleteFunc(aboutTasks(ev), func(a *aboutTask) bool { return a.Method != server.TasksResult || made == nil || a.TaskID != made.ID })
}

// unansweredTask is the verdict on a request about tasks that was not answered.
func unansweredTask(ev *evidence.Case, a *aboutTask) check.Verdict {
	if v := check.Survived(ev, a.Asked, "the client did not go on after a "+string(a.Method)); v != nil {
		return *v
	}
	return check.Fail("the client did not answer a %s", a.Method).Show(a.Asked, "")
}

var resultBlocks = check.Check{
	ID: "result-blocks", Rule: "tasks/result waits for the end of the task", Levels: check.InNewestLegacy(report.Must), Cases: []string{"answered"},
	Statements: []string{"2025-11-25/tasks/34"},
	Cause:      "a result that is not there yet is an error, or an empty one",
	Fix:        "answer tasks/result when the task has ended, and other requests meanwhile",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		results := results(e)
		if len(results) == 0 {
			return check.NotObserved("the play did not get as far as asking for the result%s", e.Died())
		}
		first := results[0]
		for _, x := range e.Rounds[0].Model {
			switch {
			case x.End.HungUp:
				return check.NotApplicable("the client gave up its request of the model while it was waited for").Show(x.Place, "")
			case x.Behind < e.Session.Order[first.Asked.Ref]:
				return check.NotApplicable("the model had answered before the result was asked for (see tasks/created-soon)")
			case first.Answer != nil && e.Session.Order[first.Answer.Ref] < x.Behind:
				return first.saw(check.Fail("tasks/result was answered before the model had answered")).Show(x.Place, "")
			}
		}
		last := results[len(results)-1]
		switch {
		case first.Answer == nil:
			return unansweredTask(e, first)
		case last.Answer != nil && last.Answer.Result != nil && (first.Answer.Err != nil || unlike(first.Answer.Result, last.Answer.Result) != ""):
			return last.saw(first.saw(check.Fail("tasks/result was answered with something else than the result before that was there")))
		}
		return check.Pass("tasks/result was answered when the model had answered")
	}),
}

// plain is the sample of the case that was asked for without a task; nil where there is none.
func plain(ev *evidence.Case) *evidence.Round {
	for _, r := range ev.Rounds {
		if !evidence.HasMember(r.Raw, "task") {
			return r
		}
	}
	return nil
}

var resultEqualsPlain = check.Check{
	ID: "result-equals-plain", Rule: "tasks/result is what the plain request has for its answer, be it a result or an error", Levels: check.InNewestLegacy(report.Must),
	Cases:      []string{"answered", "failed"},
	Statements: []string{"2025-11-25/tasks/35", "2025-11-25/tasks/33", "2025-11-25/tasks/57", "2025-11-25/tasks/58"},
	Cause:      "the result is wrapped into an object of the task's, or a failure is told of in a result",
	Fix:        "answer tasks/result with the very result, or the very error, that the request would have had",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		results, plain := results(e), plain(e)
		switch {
		case len(results) == 0:
			return check.NotObserved("the play did not get as far as asking for the result%s", e.Died())
		case results[len(results)-1].Answer == nil:
			return unansweredTask(e, results[len(results)-1])
		case plain != nil && plain.RefusedWithoutTask():
			return check.NotApplicable("the client takes samples as tasks alone, so that there is nothing to compare")
		case plain == nil || len(plain.Answers) == 0:
			return check.NotObserved("the plain request was not answered, so that there is nothing to compare%s", e.Died())
		}
		task, other := results[len(results)-1], plain.Answers[0]
		tell := func(v check.Verdict) check.Verdict {
			if v = task.saw(v).Show(plain.Asked, ""); other.Err != nil {
				return v.Show(other.Place, "%s", evidence.Compact(other.RawErr))
			}
			return v.Show(other.Place, "%s", evidence.Compact(other.Result))
		}
		switch {
		case task.Answer.Err != nil && other.Err != nil && task.Answer.Err.Code != other.Err.Code:
			return tell(check.Fail("tasks/result is another error than that of the plain request"))
		case task.Answer.Err != nil && other.Err != nil:
			return check.Pass("both are the same error")
		case task.Answer.Err != nil:
			return tell(check.Fail("tasks/result is an error, and the plain request has a result"))
		case other.Err != nil:
			return tell(check.Fail("tasks/result is a result, and the plain request has an error"))
		}
		if name := unlike(task.Answer.Result, other.Result); name != "" {
			return tell(check.Fail("tasks/result and the answer to the plain request differ in %s", name))
		}
		return check.Pass("both are the same result")
	}),
}

// unlike is the first member, by name, in which two results differ, leaving aside _meta, which may say when and how; "" for none.
func unlike(a, b json.RawMessage) string {
	var one, other dialect.Object
	if dialect.ReadPart(a, &one) != nil || dialect.ReadPart(b, &other) != nil {
		return "that one is no object"
	}
	var names []string
	for _, o := range []dialect.Object{one, other} {
		for name := range o {
			if name != "_meta" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if string(story.JSON(evidence.Decoded(one[name]))) != string(story.JSON(evidence.Decoded(other[name]))) {
			return name
		}
	}
	return ""
}

var failureTold = check.Check{
	ID: "failure-told", Rule: "tasks/get of a task that failed says why", Levels: check.InNewestLegacy(report.Should), Cases: []string{"failed"},
	Statements: []string{"2025-11-25/tasks/56"},
	Cause:      "the error is kept for tasks/result alone",
	Fix:        "have the message of the error in statusMessage, less what is not for the server",
	Judge: onTask(func(e *evidence.Case, _ *sighting) check.Verdict {
		for _, s := range sightings(e) {
			if s.kind != string(server.TasksGet) || s.Status != "failed" {
				continue
			}
			if strings.TrimSpace(s.Task.Text("statusMessage")) == "" {
				return check.Fail("a task failed, and does not say why").Show(s.At("statusMessage"), "%s", check.OrMissing(s.Task["statusMessage"]))
			}
			return check.Pass("the task says why it failed")
		}
		return check.NotApplicable("the task did not fail")
	}),
}
