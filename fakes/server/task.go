package server

import (
	"fmt"
	"slices"
)

// TaskMetadata makes a sampling request a task, in [CreateMessageParams]. The client responds at once with a
// CreateTaskResult, and [TasksResult] fetches the sample (2025-11-25, basic/utilities/tasks#creating-tasks). Only
// 2025-11-25 has this experiment: elsewhere the error is ErrRevision. Without the client's
// tasks.requests.sampling.createMessage capability it is ErrUndeclared.
type TaskMetadata struct {
	// TTL is how long the client keeps the task after its creation, in milliseconds; 0 leaves that to the client.
	TTL int `json:"ttl,omitempty"`
}

// The requests about tasks (2025-11-25, basic/utilities/tasks), with [TaskParams] or anything else that marshals to an
// object. All but TasksList require a taskId. Unless [Hostile], invalid params and those that need an undeclared
// capability are not sent (ErrInvalid, ErrUndeclared). Other revisions return ErrRevision.
const (
	// TasksGet asks for the status of a task (#getting-tasks).
	TasksGet Method = "tasks/get"
	// TasksResult waits for the end of a task and asks for its result (#retrieving-task-results).
	TasksResult Method = "tasks/result"
	// TasksCancel ends a task; it needs tasks.cancel (#cancelling-tasks).
	TasksCancel Method = "tasks/cancel"
	// TasksList lists the tasks; it needs tasks.list and takes a cursor (#listing-tasks).
	TasksList Method = "tasks/list"
)

// TaskParams are the params of a request about tasks.
type TaskParams struct {
	TaskID string         `json:"taskId,omitempty"`
	Cursor string         `json:"cursor,omitempty"`
	Meta   map[string]any `json:"_meta,omitempty"`
}

// tasksOfSampling is the capability of a client that runs sampling requests as tasks.
var tasksOfSampling = []string{"tasks", "requests", "sampling", "createMessage"}

// needs returns the client capability that a request about tasks requires.
func (m Method) needs() []string {
	switch m {
	case TasksCancel:
		return []string{"tasks", "cancel"}
	case TasksList:
		return []string{"tasks", "list"}
	}
	return tasksOfSampling
}

func (s *Session) outgoingTask(request *outgoing, params any) error {
	if !s.revision.HasTasks() {
		return s.hasNo("tasks")
	}
	raw, err := encode(params)
	if err != nil {
		return s.invalid(request.name(), err)
	}
	request.params = s.onOneLine(raw)
	if request.hostile {
		return nil
	}
	if why := checkTaskParams(request.method, objectOf(raw)); why != nil {
		return s.invalid(request.name(), why)
	}
	if needs := request.method.needs(); !s.Declares(needs...) {
		return s.undeclared(needs...)
	}
	return nil
}

// checkTaskParams returns why the params of a request about tasks are invalid.
func checkTaskParams(method Method, params object) error {
	if !slices.Contains([]Method{TasksGet, TasksResult, TasksCancel, TasksList}, method) {
		return fmt.Errorf("the method %q is unknown", method)
	}
	name, required := "taskId", true
	if method == TasksList {
		name, required = "cursor", false
	}
	if _, ok := params.text(name); params == nil || !ok && (required || params[name] != nil) {
		return fmt.Errorf("expected an object with a string %s", name)
	}
	return nil
}
