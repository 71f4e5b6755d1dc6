package tasks

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The client declares no tasks. The server sends a plain request, and then one that asks for a task.
var undeclared = story.Delivered(harness.Case{ID: "tasks/undeclared"}, func(s *server.Session) (any, error) {
	if s.Declares(evidence.SamplingTasks...) {
		return "The client declares tasks although it was not told to.", nil
	}
	if _, err := s.Sample(s.Ask("Does this come through?")); err != nil {
		return nil, err
	}
	ask := s.Ask("And this?")
	ask.Task = &server.TaskMetadata{TTL: WantedTTL}
	asked, err := s.Start(ask, server.Hostile())
	if err == nil {
		story.Wait(s, asked)
	}
	return "done", err
})

var taskIgnored = check.Check{
	ID: "task-ignored", Cases: []string{"undeclared"}, Levels: check.InNewestLegacy(report.Must),
	Statements: []string{"tasks/13", "tasks/01", "schema/tasks"},
	Rule:       "A client that does not declare tasks MUST ignore the field task and respond with a plain result",
	Needs:      []check.Need{declaresNoTasks, plainRequestAnswered},
	Cause:      "the client creates a task, or refuses, whenever it sees the field task, whatever it declares",
	Fix:        "If the client does not declare tasks.requests.sampling.createMessage, do not read the field task.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[1]
		fail := func(found string) check.Verdict {
			return check.Fail("expected a plain result for a request with task, found %s", found).
				ShowJSON(r.Declared.CapabilitiesAt(), r.Declared.Declared()).At(r.Asked.At("task"))
		}
		switch a := r.Result(); {
		case a != nil && evidence.HasMember(a.Result, "task") && !evidence.HasMember(a.Result, "role"):
			return fail("a task").ShowResult(a)
		case a != nil:
			return check.Pass("the client ignored task and responded with a plain result")
		case len(r.Answers) > 0:
			return fail(r.Answers[0].Outcome()).ShowJSON(r.Answers[0].Place, r.Answers[0].RawErr)
		}
		if v := check.Survived(e, r.Asked, "the client did not continue after a request for a task"); v != nil {
			return *v
		}
		return fail("no response")
	},
}

func declaresNoTasks(e *evidence.Case) *check.Verdict {
	v := check.NotApplicable("the client declares tasks for sampling").At(e.Declared.CapabilitiesAt())
	return check.Unless(!e.Declared.Declares(evidence.SamplingTasks...), v)
}

// plainRequestAnswered needs a result for the plain request: a client that refuses it, too, does not refuse tasks.
func plainRequestAnswered(e *evidence.Case) *check.Verdict {
	if len(e.Rounds) == 0 || e.Rounds[0].Result() == nil {
		return check.Instead(check.NotObserved("the plain request before has no result%s", e.WhyNoResult(1)))
	}
	return check.Unless(len(e.Rounds) > 1, check.NotReached(e, "a request for a task"))
}

var noTaskCalls = check.Check{
	ID: "no-task-calls", Cases: []string{"undeclared"}, Whole: true, Levels: check.InNewestLegacy(report.Must),
	Statements: []string{"tasks/04"},
	Rule:       "The client MUST NOT call a tool as a task if the server does not declare tasks",
	Cause:      "the client adds task to every tools/call",
	Fix:        "Send task in tools/call only if the server declares tasks.requests.tools.call.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := check.NotObserved("the client called no tool")
		for ev, m := range e.Session.FromClient() {
			if m.Method == "tools/call" && evidence.HasMember(m.Params, "task") {
				at := evidence.Place{Ref: ev.Ref(), Path: "params.task", Label: m.Method}
				return check.Fail("expected tools/call without task for a server that declares no tasks, found it with task").
					ShowJSON(at, m.Params)
			}
			if m.Method == "tools/call" {
				v = check.Pass("the client called tools without task")
			}
		}
		return v
	},
}
