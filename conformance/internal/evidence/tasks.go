package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// SamplingTasks is the path of the capability of a client that takes sampling requests as tasks.
var SamplingTasks = []string{"tasks", "requests", "sampling", "createMessage"}

// The messages about tasks, and the key in _meta by which other messages name their task.
const (
	TasksGet    = "tasks/get"
	TasksResult = "tasks/result"
	TasksList   = "tasks/list"
	TasksCancel = "tasks/cancel"

	TaskStatus = "notifications/tasks/status"
	TaskKey    = "io.modelcontextprotocol/related-task"
)

// TerminalStatuses are the statuses of a task that has ended (2025-11-25,
// basic/utilities/tasks#task-status-lifecycle).
var TerminalStatuses = []string{"completed", "failed", "cancelled"}

// Task is what a case shows of the task that the client created for the first sampling request.
type Task struct {
	ID string
	// States are the task as the client showed it, in order. The first is the one that the client created it with.
	States []TaskState
	// Requests are the server's requests about any task, in order.
	Requests []*ServerRequest
}

// TaskState is a task as a message of the client shows it.
type TaskState struct {
	Place
	jsonvalue.Object
	// Status is "" if it is not a string.
	Status string
	// Source is the method of the request or notification that shows it; "" for the creation.
	Source string
	// Position is its position in the trace, and Asked that of the request for it; -1 for a notification.
	Position, Asked int
}

// Ended reports whether the task has ended.
func (s *TaskState) Ended() bool { return slices.Contains(TerminalStatuses, s.Status) }

// timeForms are forms of ISO 8601. The page on tasks links to that of RFC 3339. Each may have fractions of a second.
var timeForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "20060102T150405Z0700", "2006-01-02T15:04:05Z07",
}

// HasTime reports whether a member is a time in ISO 8601.
func (s *TaskState) HasTime(name string) bool {
	return slices.ContainsFunc(timeForms, func(form string) bool {
		_, err := time.Parse(form, s.Text(name))
		return err == nil
	})
}

// Task decodes the task of the case; nil if the client created none with an id.
func (ev *Case) Task() *Task {
	if len(ev.Rounds) == 0 || ev.Rounds[0].Result() == nil {
		return nil
	}
	order, result := ev.Session.Order, ev.Rounds[0].Result()
	created := ObjectOf(result.Member("task"))
	t := &Task{ID: created.Text("taskId"), Requests: ev.ServerRequests(TasksGet, TasksResult, TasksList, TasksCancel)}
	if t.ID == "" {
		return nil
	}
	add := func(at Place, task jsonvalue.Object, source string, asked int) {
		t.States = append(t.States, TaskState{at, task, task.Text("status"), source, order[at.Ref], asked})
	}
	add(result.At("task"), created, "", order[ev.Rounds[0].Asked.Ref])
	for _, r := range t.Requests {
		t.shown(r, func(at Place, task jsonvalue.Object) { add(at, task, r.Method, order[r.Ref]) })
	}
	for e, m := range ev.Session.FromClient() { // notifications belong to no case
		if o := ObjectOf(m.Params); m.Method == TaskStatus && o.Text("taskId") == t.ID {
			add(Place{e.Ref(), "params", m.Method}, o, m.Method, -1)
		}
	}
	later := t.States[1:]
	sort.SliceStable(later, func(i, j int) bool { return later[i].Position < later[j].Position })
	return t
}

// shown calls add with the task as the response to a request shows it, if it does.
func (t *Task) shown(r *ServerRequest, add func(Place, jsonvalue.Object)) {
	result := r.Result()
	switch {
	case result == nil || r.Method == TasksResult:
	case r.Method == TasksList:
		var tasks []json.RawMessage
		_ = result.Read("tasks", &tasks) // an invalid list has no tasks
		for i, raw := range tasks {
			if o := ObjectOf(raw); o.Text("taskId") == t.ID {
				add(r.Response.At(fmt.Sprintf("tasks[%d]", i)), o)
			}
		}
	case r.Params.Text("taskId") == t.ID && (result.Text("taskId") == t.ID || !result.Has("taskId")):
		add(r.Response.Place, result)
	}
}

// ShowsAnother returns the first request about the task whose response shows another one; nil for none.
func (t *Task) ShowsAnother() *ServerRequest {
	for _, r := range t.Requests {
		result := r.Result()
		if (r.Method == TasksGet || r.Method == TasksCancel) && r.Params.Text("taskId") == t.ID && result.Has("taskId") &&
			result.Text("taskId") != t.ID {
			return r
		}
	}
	return nil
}

// ShownBy reports whether a message of the method shows the task.
func (t *Task) ShownBy(method string) bool {
	return slices.ContainsFunc(t.States, func(s TaskState) bool { return s.Source == method })
}

// First returns the first state before a position with one of the statuses; nil for none.
func (t *Task) First(before int, statuses ...string) *TaskState {
	i := slices.IndexFunc(t.States, func(s TaskState) bool {
		return s.Position < before && slices.Contains(statuses, s.Status)
	})
	if i < 0 {
		return nil
	}
	return &t.States[i]
}

// Asked returns the requests about this task with the method, in order.
func (t *Task) Asked(method string) []*ServerRequest {
	return slices.DeleteFunc(slices.Clone(t.Requests), func(r *ServerRequest) bool {
		return r.Method != method || r.Params.Text("taskId") != t.ID
	})
}

// LongEnded returns the state that proves that the task had ended before a position of the trace; nil if that is in
// doubt. Over HTTP two POSTs may overtake one another, so the proof is a request sent after the end and answered
// before the position.
func (ev *Case) LongEnded(t *Task, position int) *TaskState {
	if end := t.First(position, TerminalStatuses...); end != nil && ev.longBefore(t, end.Position, position) {
		return end
	}
	return nil
}

// LongCreated reports the same of the creation of the task.
func (ev *Case) LongCreated(t *Task, position int) bool {
	return ev.Session.OverStdio() || ev.longBefore(t, t.States[0].Position, position)
}

func (ev *Case) longBefore(t *Task, before, after int) bool {
	return slices.ContainsFunc(t.Requests, func(r *ServerRequest) bool {
		return r.Response != nil && ev.Session.Order[r.Ref] > before && ev.Session.Order[r.Response.Ref] < after
	})
}

// RelatedTask returns what the _meta of params or of a result has to name a task; nil for nothing.
func RelatedTask(o jsonvalue.Object) json.RawMessage { return ObjectOf(o["_meta"])[TaskKey] }

// OnlyTakesTasks reports whether the client refused a plain sampling request of the case because it takes them only as
// tasks, which it may (2025-11-25, basic/utilities/tasks#task-support-and-handling).
func (ev *Case) OnlyTakesTasks() bool {
	return slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.RefusedWithoutTask() && !r.AsksForTask() })
}

// AsksForTask reports whether a sampling request of the case asks for a task.
func (ev *Case) AsksForTask() bool { return slices.ContainsFunc(ev.Rounds, (*Round).AsksForTask) }

// AsksForTask reports whether the request asks for a task.
func (r *Round) AsksForTask() bool { return HasMember(r.Raw, "task") }

// RefusedWithoutTask reports whether a client that declares [SamplingTasks] refused the request with the error -32600.
func (r *Round) RefusedWithoutTask() bool {
	return !r.Hostile && len(r.Answers) > 0 && r.Answers[0].Err != nil &&
		r.Answers[0].Err.Code == CodeInvalidRequest && r.Declared.Declares(SamplingTasks...)
}
