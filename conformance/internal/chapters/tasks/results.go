package tasks

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// A task fails, because the model refuses. The server asks for its result, and sends the same request without a task.
var failed = withTask("tasks/failed", true, func(a *asker) {
	a.ask(server.TasksResult, a.task)
	a.poll()
	a.ask(server.TasksResult, a.task)
	a.plainly()
})

var resultBlocks = must(check.Check{
	ID: "result-blocks", Cases: []string{"answered"}, Statements: []string{"tasks/34"},
	Needs: []check.Need{resultRequested},
	Rule:  "The client MUST NOT respond to tasks/result before the task has ended",
	Cause: "the client responds with an error, or an empty result, if the result is not there yet",
	Fix:   "Respond to tasks/result when the task has ended, and to other requests in the meantime.",
	Judge: func(e *evidence.Case) check.Verdict {
		results := e.Task().Asked(evidence.TasksResult)
		first, last := results[0], results[len(results)-1]
		if first.Response != nil && first.Result() == nil && last.Result() != nil { // the model's answer may come first
			return check.Fail("expected the result of the task from the first tasks/result, found an error, and the result " +
				"later").ShowRequest(first).ShowRequest(last)
		}
		for _, x := range e.Rounds[0].Model {
			switch {
			case x.End.HungUp:
				return check.NotApplicable("the client abandoned its model request before tasks/result").At(x.Place)
			case x.End.Refused != "": // before tasks/result or after it
				return check.NotApplicable("the model refused the request, and gave no answer").At(x.Place)
			case x.Behind < e.Session.Order[first.Ref]:
				return check.NotApplicable("the model had answered before tasks/result")
			case first.Response != nil && e.Session.Order[first.Response.Ref] < x.Behind:
				return check.Fail("expected a response to tasks/result after the model's answer, found one before").
					ShowRequest(first).At(x.Place)
			}
		}
		if v := check.Unanswered(e, first); v != nil {
			return *v
		}
		if last.Result() != nil && evidence.DifferentMember(first.Response.Result, last.Response.Result) != "" {
			return check.Fail("expected the same response to tasks/result again").ShowRequest(first).ShowRequest(last)
		}
		return check.Pass("the client responded to tasks/result after the model's answer")
	},
})

func resultRequested(e *evidence.Case) *check.Verdict {
	return check.Unless(len(e.Task().Asked(evidence.TasksResult)) > 0, check.NotReached(e, evidence.TasksResult))
}

var resultEqualsPlain = must(check.Check{
	ID: "result-equals-plain", Cases: []string{"answered", "failed"}, Needs: []check.Need{resultRequested},
	Statements: []string{"tasks/35", "tasks/33", "tasks/57", "tasks/58"},
	Rule:       "The client MUST respond to tasks/result with the result, or the error, of the plain request",
	Cause:      "the client wraps the result in an object of the task's, or turns an error into a result",
	Fix:        "Respond to tasks/result with exactly the result, or the error, that the plain request would have had.",
	Judge: func(e *evidence.Case) check.Verdict {
		results := e.Task().Asked(evidence.TasksResult)
		last := results[len(results)-1]
		if v := check.Unanswered(e, last); v != nil {
			return *v
		}
		i := slices.IndexFunc(e.Rounds, func(r *evidence.Round) bool { return !r.AsksForTask() })
		switch {
		case i >= 0 && e.Rounds[i].RefusedWithoutTask():
			return check.NotApplicable("the client takes sampling requests only as tasks, so there is nothing to compare")
		case i < 0 || len(e.Rounds[i].Answers) == 0:
			return check.NotObserved("the plain request has no response to compare with%s", e.WhySilent(e.FirstCall))
		}
		plain := e.Rounds[i].Answers[0]
		expected, found := plain.Outcome(), last.Response.Outcome()
		name := evidence.DifferentMember(last.Response.Result, plain.Result)
		if expected == found && plain.Err == nil && name != "" {
			found = "one with another " + name
		}
		if expected != found {
			return check.Fail("expected %s for tasks/result, as for the plain request, found %s", expected, found).
				ShowRequest(last).ShowJSON(plain.Place, plain.Body())
		}
		return check.Pass("tasks/result and the plain request have the same response: %s", found)
	},
})

var relatedTask = must(check.Check{
	ID: "related-task", Cases: eachTask, Statements: []string{"tasks/52", "tasks/36"},
	Rule: "The client MUST name the task in the _meta of the response to tasks/result, and of the task's progress",
	Cause: "the client returns the result unchanged, without its task, or reports progress as for a request without a " +
		"task",
	Fix: `Add "_meta": {"` + evidence.TaskKey +
		`": {"taskId": …}} to the result, and to the params of the notifications.`,
	Judge: func(e *evidence.Case) check.Verdict {
		t, v := e.Task(), check.NotApplicable("tasks/result has no result (see tasks/result-equals-plain)")
		for _, note := range e.Session.Progress() {
			if v := unrelated(e, t, note); v != nil {
				return *v
			}
		}
		for _, r := range t.Asked(evidence.TasksResult) {
			if r.Response == nil || r.Response.Err != nil {
				continue
			}
			raw := evidence.RelatedTask(r.Result())
			if evidence.ObjectOf(raw).Text("taskId") != t.ID {
				return check.Fail("expected taskId %q in _meta of the response to tasks/result", t.ID).At(r.Place).
					ShowJSON(r.Response.At(fmt.Sprintf("_meta[%q]", evidence.TaskKey)), raw)
			}
			v = check.Pass("the response to tasks/result names its task")
		}
		return v
	},
})

// unrelated returns the verdict for progress of the task that does not name it; nil for any other. Over HTTP it may
// have overtaken the response that created the task.
func unrelated(e *evidence.Case, t *evidence.Task, note evidence.ProgressNote) *check.Verdict {
	position := e.Session.Order[note.Ref]
	raw := evidence.RelatedTask(evidence.ObjectOf(evidence.ObjectOf(note.Raw)["params"]))
	if token := e.Rounds[0].Token(); token == nil || !evidence.SameID(token, note.Token) ||
		position < t.States[0].Position || evidence.ObjectOf(raw).Text("taskId") == t.ID {
		return nil
	}
	v := check.Fail
	if !e.LongCreated(t, position) {
		v = check.Warn
	}
	return check.Instead(v("expected taskId %q in _meta of the progress of the task, found %s", t.ID,
		check.OrMissing(raw)).ShowJSON(note.At("params._meta"), note.Raw))
}
