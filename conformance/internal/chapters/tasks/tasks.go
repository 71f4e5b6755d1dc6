// Package tasks judges sampling requests that ask for a task, an experiment of 2025-11-25 (basic/utilities/tasks). No
// known client takes them, so the package judges only what a client MUST do. A client that declares no tasks ignores
// the field. With one that does, a task completes, fails or is cancelled. Checks that pass show no messages, because
// the client chooses the ids and times in them.
package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "tasks",
	Purpose:   "sampling requests that ask for a task, with clients that declare tasks and with others",
	Revisions: check.NewestLegacy,
	Cases:     []harness.Case{undeclared, answered, failed, cancelled},
	Checks: []check.Check{
		taskIgnored, noTaskCalls, createdTask, timestamps, status, resultBlocks, resultEqualsPlain, relatedTask,
		parameterCounts, unknownTask, listed, endIsFinal, taskCancel, staysCancelled, progressTokenKept,
	},
},
	story.Again([]string{"failed", "cancelled"}, story.ToolsOffered, story.SecondRound, story.AfterImage),
	story.Again([]string{"undeclared", "answered"}, story.SecondRound, story.AfterImage),
)

// must completes a check on the task that the client created.
func must(c check.Check) check.Check {
	c.Levels = check.InNewestLegacy(report.Must)
	c.Needs = append([]check.Need{taskRequested, taskCreated}, c.Needs...)
	return c
}

// taskRequested needs a client that announces tasks, and a request for one.
func taskRequested(e *evidence.Case) *check.Verdict {
	if e.Session.Supports[harness.Tasks] { // to declare tasks is not enough: the harness told it to
		return check.Unless(len(e.Rounds) > 0, check.NotReached(e, "a request for a task"))
	}
	return check.Instead(check.NotApplicable("the client does not declare that it takes requests as tasks; if it does, %s",
		check.HowToDeclare(e.Session, harness.Tasks)))
}

// taskCreated needs a task with an id. created-task reports a missing one.
func taskCreated(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Task() != nil, check.NotApplicable("the client created no task (see tasks/created-task)"))
}

// WantedTTL is the ttl that the server asks for, in milliseconds: longer than any case takes.
const WantedTTL = 600_000

const (
	pollInterval = 200 * time.Millisecond // the time between two tasks/get
	mostPages    = 20                     // how many pages of tasks/list the server reads
	noTask       = "no-such-task"         // an id that the client never gave out
	noCursor     = "no-such-cursor"       // a cursor that the client never gave out
)

// asker sends requests about a task. After one without a response, or one that it cannot send, it sends no more.
type asker struct {
	*server.Session
	sampling *server.CreateMessageParams // the request for the task
	task     server.TaskParams           // the params of a request about the task

	gate *story.Gate
	word string
	err  error
	over bool
}

// withTask is a case in which the server asks for a task and follows it up. The model thinks until follow calls open.
// It is not inlined: its closures would be in the binary once for each case.
//
//go:noinline
func withTask(id string, impossible bool, follow func(*asker)) harness.Case {
	c := harness.Case{ID: id, Declare: json.RawMessage(
		`{"sampling":{"tools":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}`)}
	return story.Gated(c, func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			a := &asker{Session: s, gate: gate}
			a.sampling, a.word = story.HeldQuestion(s, gate, 1)
			defer a.open()
			if impossible {
				a.sampling = s.Ask(story.Impossible) // the model refuses at once
			}
			a.sampling.Task = &server.TaskMetadata{TTL: WantedTTL}
			a.sampling.Meta = map[string]any{"progressToken": fmt.Sprintf("%s-%d", s.Call().Tool, s.Call().Number)}
			asked, err := s.Start(a.sampling)
			if err == nil && !story.WaitFor(story.CancelIgnoredAfter, asked.Done(), s.Context().Done()) {
				a.open() // for a client that responds only once it has the model's answer
			}
			a.task.TaskID = evidence.ObjectOf(a.result(asked, err)["task"]).Text("taskId")
			if a.task.TaskID != "" {
				follow(a)
			}
			return "done", a.err
		}
	})
}

// open lets the model answer.
func (a *asker) open() { a.gate.Open(a.word) }

// ask sends a request about tasks and returns its result; nil for none: what that means is judged from the trace.
func (a *asker) ask(method server.Method, params any, options ...server.RequestOption) jsonvalue.Object {
	if a.over {
		return nil
	}
	return a.result(a.Start(params, append(options, method)...))
}

// result waits for the result of a request that was sent without an error.
func (a *asker) result(asked *server.Pending, err error) jsonvalue.Object {
	a.err = err
	a.over = err != nil || !story.WaitFor(story.Reaction, asked.Done(), a.Context().Done())
	if a.over {
		return nil
	}
	raw, _ := asked.Wait() // an error has no result
	return evidence.ObjectOf(raw)
}

// poll asks for the status until the task has ended.
func (a *asker) poll() {
	for range story.Reaction / pollInterval {
		task := a.ask(server.TasksGet, a.task)
		if task == nil || slices.Contains(evidence.TerminalStatuses, task.Text("status")) {
			return
		}
		story.WaitFor(pollInterval, a.Context().Done(), nil)
	}
}

// plainly sends the sampling request again, without asking for a task.
func (a *asker) plainly() {
	plain := *a.sampling
	if plain.Task, plain.Meta = nil, nil; !a.over {
		a.result(a.Start(&plain))
	}
}
