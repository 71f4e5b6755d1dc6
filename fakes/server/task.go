package server

import (
	"fmt"
)

// TaskMetadata asks for a sampling request to be taken as a task, in [CreateMessageParams]: the client answers at once with a CreateTaskResult, and
// the sample is to be had with [TasksResult] (2025-11-25, basic/utilities/tasks#creating-tasks). It is an experiment of that revision, and of no
// other: there the error is ErrEra. A client that has not declared tasks.requests.sampling.createMessage is not asked (ErrUndeclared).
type TaskMetadata struct {
	// TTL is for how many milliseconds from its creation the task is to be kept; 0 leaves that to the client.
	TTL int `json:"ttl,omitempty"`
}

// TaskMethod is a request about tasks.
type TaskMethod string

// The requests about tasks. The params of all but the last hold a taskId, and those of the last may hold a cursor.
const (
	// TasksGet asks how a task stands (2025-11-25, basic/utilities/tasks#getting-tasks).
	TasksGet TaskMethod = "tasks/get"
	// TasksResult waits for a task's end, and asks for what its request came to (#retrieving-task-results).
	TasksResult TaskMethod = "tasks/result"
	// TasksCancel ends a task (#cancelling-tasks), of a client that declares tasks.cancel.
	TasksCancel TaskMethod = "tasks/cancel"
	// TasksList asks for the tasks that there are (#listing-tasks), of a client that declares tasks.list.
	TasksList TaskMethod = "tasks/list"
)

// TaskParams are the params of a request about tasks.
type TaskParams struct {
	TaskID string         `json:"taskId,omitempty"`
	Cursor string         `json:"cursor,omitempty"`
	Meta   map[string]any `json:"_meta,omitempty"`
}

// tasksOfSampling is the capability of a client that takes sampling requests as tasks.
var tasksOfSampling = []string{"tasks", "requests", "sampling", "createMessage"}

// needs is the capability that a client has to declare for the request.
func (m TaskMethod) needs() []string {
	switch m {
	case TasksCancel:
		return []string{"tasks", "cancel"}
	case TasksList:
		return []string{"tasks", "list"}
	}
	return tasksOfSampling
}

// StartTask sends a request about tasks, and returns once it is on its way, like [Session.Start], which sends the request that makes a task. The params are
// a [TaskParams] or anything else that marshals to an object; they may be marked with [OnGET] and [Hostile]. Those that are not valid and those for
// which the client has not declared what they need are not sent (ErrInvalid, ErrUndeclared) unless they are hostile. In other revisions than 2025-11-25
// it returns ErrEra.
func (s *Session) StartTask(method TaskMethod, params any) (*Pending, error) {
	if s.revision != V20251125 {
		return nil, s.noTasks()
	}
	request, params := unwrapped(params)
	raw, err := encode(params)
	if err != nil {
		return nil, s.invalidTask(method, err)
	}
	request.method, request.params = string(method), s.onOneLine(raw)
	if !request.hostile {
		if why := wrongTaskParams(method, objectOf(raw)); why != nil {
			return nil, s.invalidTask(method, why)
		}
		if !s.Declares(method.needs()...) {
			return nil, s.withheld(method.needs()...)
		}
	}
	return s.carrier.start(request)
}

// wrongTaskParams says what the schema has against the params of a request about tasks; nil for nothing.
func wrongTaskParams(method TaskMethod, params object) error {
	name, required := "taskId", true
	if method == TasksList {
		name, required = "cursor", false
	}
	if _, ok := params.text(name); params == nil || !ok && (required || params[name] != nil) {
		return fmt.Errorf("want an object with a string %s", name)
	}
	return nil
}

// invalidTask notes that the play wanted sent what is not valid.
func (s *Session) invalidTask(method TaskMethod, why error) error {
	s.server.problem(s.scope(), "the play of tool %s sends a %s with invalid params (wrap them in server.Hostile if that is meant): %v", s.tool.Name, method, why)
	return fmt.Errorf("%w: %w", ErrInvalid, why)
}

// noTasks is the error of a play that has to do with tasks in a revision that has none.
func (s *Session) noTasks() error {
	return fmt.Errorf("%w: tasks are a matter of %s alone, the client speaks %s", ErrEra, V20251125, s.revision)
}
