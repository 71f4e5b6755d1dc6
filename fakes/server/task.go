package server

import "fmt"

// TaskMetadata makes a sampling request a task, in [CreateMessageParams]. The client responds at once with a
// CreateTaskResult, and [TasksResult] fetches the sample (2025-11-25, basic/utilities/tasks#creating-tasks). Only
// 2025-11-25 has this experiment: elsewhere the error is ErrRevision. Without the client's
// tasks.requests.sampling.createMessage capability it is ErrUndeclared.
type TaskMetadata struct {
	// TTL is how long the client keeps the task after its creation, in milliseconds; 0 leaves that to the client.
	TTL int `json:"ttl,omitempty"`
}

// TaskMethod is a request about tasks.
type TaskMethod string

// The requests about tasks (2025-11-25, basic/utilities/tasks). All but TasksList require a taskId.
const (
	// TasksGet asks for the status of a task (#getting-tasks).
	TasksGet TaskMethod = "tasks/get"
	// TasksResult waits for the end of a task and asks for its result (#retrieving-task-results).
	TasksResult TaskMethod = "tasks/result"
	// TasksCancel ends a task; it needs tasks.cancel (#cancelling-tasks).
	TasksCancel TaskMethod = "tasks/cancel"
	// TasksList lists the tasks; it needs tasks.list and takes a cursor (#listing-tasks).
	TasksList TaskMethod = "tasks/list"
)

// TaskParams are the params of a request about tasks.
type TaskParams struct {
	TaskID string         `json:"taskId,omitempty"`
	Cursor string         `json:"cursor,omitempty"`
	Meta   map[string]any `json:"_meta,omitempty"`
}

// tasksOfSampling is the capability of a client that runs sampling requests as tasks.
var tasksOfSampling = []string{"tasks", "requests", "sampling", "createMessage"}

// needs returns the client capability that the request requires.
func (m TaskMethod) needs() []string {
	switch m {
	case TasksCancel:
		return []string{"tasks", "cancel"}
	case TasksList:
		return []string{"tasks", "list"}
	}
	return tasksOfSampling
}

// StartTask sends a request about tasks and returns once it is on the wire; [Session.Start] sends the request that
// creates a task. Params is a [TaskParams] or anything else that marshals to an object, and may be marked with
// [OnGETStream] and [Hostile]. Unless hostile, invalid params and those that need an undeclared capability are not
// sent (ErrInvalid, ErrUndeclared). Revisions other than 2025-11-25 return ErrRevision.
func (s *Session) StartTask(method TaskMethod, params any) (*Pending, error) {
	if s.revision != V20251125 {
		return nil, s.hasNo("tasks")
	}
	request, params := unwrapped(params)
	raw, err := encode(params)
	if err != nil {
		return nil, s.invalid(string(method), err)
	}
	request.method, request.params = string(method), s.onOneLine(raw)
	if !request.hostile {
		if why := checkTaskParams(method, objectOf(raw)); why != nil {
			return nil, s.invalid(string(method), why)
		}
		if !s.Declares(method.needs()...) {
			return nil, s.undeclared(method.needs()...)
		}
	}
	return s.protocol.start(request)
}

// checkTaskParams returns why the params of a request about tasks are invalid.
func checkTaskParams(method TaskMethod, params object) error {
	name, required := "taskId", true
	if method == TasksList {
		name, required = "cursor", false
	}
	if _, ok := params.text(name); params == nil || !ok && (required || params[name] != nil) {
		return fmt.Errorf("want an object with a string %s", name)
	}
	return nil
}
