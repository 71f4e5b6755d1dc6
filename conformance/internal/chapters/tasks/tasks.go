package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Samples that are asked for as tasks, an experiment of 2025-11-25. First one of a client that does not declare them; then, in a session of a client that
// is told to, a task that is followed to its end, one whose request fails, and one that is cancelled. What else is asked about tasks is asked of the
// first of these. A check that passes shows no frames: the ids and times in them are of the client's making.
var Scenario = check.Scenario{
	ID:        "tasks",
	Purpose:   "samples that are asked for as tasks, of clients that declare them and of others",
	Revisions: check.NewestLegacy,
	Cases: []harness.Case{
		story.Delivered(harness.Case{ID: "tasks/undeclared"}, playUndeclaredTask),
		story.Pondered(harness.Case{ID: "tasks/answered", Declare: declareTasks}, playTask),
		neverDone(story.Pondered(harness.Case{ID: "tasks/failed", Declare: declareTasks}, playFailedTask)),
		story.Pondered(harness.Case{ID: "tasks/cancelled", Declare: declareTasks}, playCancelledTask),
	},
	Checks: []check.Check{
		taskIgnored, noTaskCalls, createdTask, createdSoon, taskTimestamps, ttlTold, taskTTL, taskStatus, resultBlocks, resultEqualsPlain, failureTold,
		resultRelated, noRelatedTask, parameterCounts, unknownTask, tasksListed, endIsFinal, taskCancel, staysCancelled, taskWorkStops,
		taskAnyStream, progressTokenKept, plainBesideTasks,
	},
}

// declareTasks are the capabilities of a client that takes samples as tasks, and does all that there is to do about them.
var declareTasks = json.RawMessage(`{"sampling":{"tools":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}`)

const (
	// wantedTTL is for how many milliseconds tasks are to be kept: longer than any play takes.
	wantedTTL = 600_000
	// strangeTask is the id of no task, and strangeCursor a cursor that nobody gave out.
	strangeTask   = "no-such-task"
	strangeCursor = "no-such-cursor"
	// pollAgain is how long a task is left alone between two requests for how it stands.
	pollAgain = 200 * time.Millisecond
	// mostPages is how many pages of a list are read.
	mostPages = 20
	// theImpossible is the word in what the model is asked, and fails.
	theImpossible = "impossible"
)

const relatedTask = "io.modelcontextprotocol/related-task"

// neverDone has the model refuse what has the word in it.
func neverDone(c harness.Case) harness.Case {
	ponders := c.Make
	c.Make = func(limits harness.Limits) harness.Stage {
		st := ponders(limits)
		refuses := llm.When(llm.LastUser(theImpossible)).Fail(&llm.Error{Status: 400, Message: "The model cannot do this."}).Optional()
		st.Rules = slices.Insert(st.Rules, 0, refuses)
		return st
	}
	return c
}

// playUndeclaredTask asks plainly, and then for a task, of a client that does not declare tasks.
func playUndeclaredTask(s *server.Session) (any, error) {
	if s.Declares(evidence.SamplingTasks...) {
		return "The client declares more than it was told to.", nil
	}
	if _, err := s.Sample(s.Ask("Does this come through?")); err != nil {
		return nil, err
	}
	ask := s.Ask("And this?")
	ask.Task = &server.TaskMetadata{TTL: wantedTTL}
	asked, err := s.Start(server.Hostile(ask))
	if err != nil {
		return nil, err
	}
	story.Wait(s, asked)
	return "done", nil
}

// inquiry asks about tasks. After a request that nobody answers nothing more is asked.
type inquiry struct {
	*server.Session
	stopped error
	silent  bool
}

// start sends a request about tasks; nil where nothing more is asked.
func (q *inquiry) start(method server.TaskMethod, params any) *server.Pending {
	if q.stopped != nil || q.silent {
		return nil
	}
	asked, err := q.StartTask(method, params)
	q.stopped = err
	return asked
}

// ask sends such a request and returns its result; nil for none.
func (q *inquiry) ask(method server.TaskMethod, params any) dialect.Object {
	return q.answer(q.start(method, params))
}

// answer waits for the answer to a request and returns its result; nil for none.
func (q *inquiry) answer(asked *server.Pending) dialect.Object {
	if asked == nil {
		return nil
	}
	if !story.Either(story.Reaction, asked.Done(), q.Context().Done()) {
		q.silent = true
		return nil
	}
	var result dialect.Object
	raw, err := asked.Answer()
	if err != nil || dialect.ReadPart(raw, &result) != nil {
		return nil // what that means is judged from the trace
	}
	return result
}

// create asks for a sample as a task, and returns the id of the task; "" where none was made. A client that answers only when it has the model's answer
// gets that then.
func (q *inquiry) create(gate *story.Stage, ask *server.CreateMessageParams, word string) string {
	ask.Task = &server.TaskMetadata{TTL: wantedTTL}
	asked, err := q.Start(ask)
	if err != nil {
		q.stopped = err
		return ""
	}
	if !story.Either(story.CancelIgnoredAfter, asked.Done(), q.Context().Done()) {
		gate.Open(word)
	}
	var made dialect.Object
	_ = q.answer(asked).Read("task", &made) // what is no task has no id
	return made.Text("taskId")
}

// untilEnded polls until a task has ended, for no longer than a client may take to react: of one whose result came it is told at once that it has.
func (q *inquiry) untilEnded(id string) {
	ctx, cancel := context.WithTimeout(q.Context(), story.Reaction)
	defer cancel()
	for ctx.Err() == nil {
		task := q.ask(server.TasksGet, ofTask(id))
		if task == nil || slices.Contains(endsOfTasks, task.Text("status")) {
			return
		}
		story.Either(pollAgain, ctx.Done(), nil)
	}
}

// plainly asks for the same without a task.
func (q *inquiry) plainly(ask *server.CreateMessageParams) {
	if q.stopped != nil || q.silent {
		return
	}
	plain := *ask
	plain.Task, plain.Meta = nil, nil
	asked, err := q.Start(&plain)
	if q.stopped = err; err == nil {
		q.answer(asked)
	}
}

// done is how a play ends.
func (q *inquiry) done() (any, error) { return "done", q.stopped }

// ofTask are the params of a request about a task.
func ofTask(id string) server.TaskParams { return server.TaskParams{TaskID: id} }

// playTask follows a task to its end. While the model thinks its result is asked for, which has to wait; then everything else is asked.
func playTask(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		q := &inquiry{Session: s}
		ask, word := story.HeldQuestion(s, gate, 1)
		defer gate.Open(word)
		ask.Meta = map[string]any{"progressToken": fmt.Sprintf("progress-of-task-%d", s.Call())}
		id := q.create(gate, ask, word)
		if id == "" {
			return q.done()
		}
		q.ask(server.TasksGet, ofTask(id))
		if result := q.start(server.TasksResult, ofTask(id)); result != nil {
			if beside := q.start(server.TasksGet, ofTask(id)); beside != nil {
				story.Either(story.SerialAfter, beside.Done(), nil) // a client that answers one after the other cannot, before the model has
			}
			gate.Open(word)
			q.answer(result)
		}
		q.untilEnded(id)
		q.ask(server.TasksResult, ofTask(id))
		q.ask(server.TasksGet, server.Hostile(server.TaskParams{TaskID: id, Meta: map[string]any{relatedTask: map[string]any{"taskId": strangeTask}}}))
		q.askOfStrangers()
		q.list()
		if s.Declares("tasks", "cancel") {
			q.ask(server.TasksCancel, ofTask(id))
			q.ask(server.TasksGet, ofTask(id))
		}
		q.plainly(ask)
		q.listen(id)
		return q.done()
	}
}

// askOfStrangers asks about a task that there is not.
func (q *inquiry) askOfStrangers() {
	q.ask(server.TasksGet, ofTask(strangeTask))
	q.ask(server.TasksResult, ofTask(strangeTask))
	if q.Declares("tasks", "cancel") {
		q.ask(server.TasksCancel, ofTask(strangeTask))
	}
	if q.Declares("tasks", "list") {
		q.ask(server.TasksList, server.Hostile(server.TaskParams{Cursor: strangeCursor}))
	}
}

// list reads the pages of the list of tasks.
func (q *inquiry) list() {
	if !q.Declares("tasks", "list") {
		return
	}
	next := server.TaskParams{}
	for range mostPages {
		page := q.ask(server.TasksList, next)
		if next.Cursor = page.Text("nextCursor"); next.Cursor == "" {
			return
		}
	}
}

// listen asks about a task on the stream that the client has opened, if it has.
func (q *inquiry) listen(id string) {
	ctx, cancel := context.WithTimeout(q.Context(), story.ListenPatience)
	defer cancel()
	if q.Listens(ctx) {
		q.ask(server.TasksGet, server.OnGET(ofTask(id)))
	}
}

// playFailedTask asks for what the model refuses, as a task and plainly.
func playFailedTask(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		q := &inquiry{Session: s}
		ask := s.Ask("Do the " + theImpossible + ".")
		id := q.create(gate, ask, "")
		if id == "" {
			return q.done()
		}
		q.ask(server.TasksResult, ofTask(id))
		q.untilEnded(id)
		q.ask(server.TasksResult, ofTask(id))
		q.plainly(ask)
		return q.done()
	}
}

// playCancelledTask cancels a task while the model thinks about it, and lets the model answer then.
func playCancelledTask(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if !s.Declares("tasks", "cancel") {
			return "The client cancels no tasks.", nil
		}
		q := &inquiry{Session: s}
		ask, word := story.HeldQuestion(s, gate, 1)
		defer gate.Open(word)
		id := q.create(gate, ask, word)
		if id == "" {
			return q.done()
		}
		story.Either(story.Reaction, gate.Held(word), s.Context().Done())
		q.ask(server.TasksCancel, ofTask(id))
		q.ask(server.TasksGet, ofTask(id))
		story.Either(story.CancelIgnoredAfter, gate.Left(word), nil) // that the client hung up is seen a moment later
		gate.Open(word)
		q.ask(server.TasksResult, ofTask(id))
		q.ask(server.TasksGet, ofTask(id))
		q.ask(server.TasksCancel, ofTask(id))
		return q.done()
	}
}
