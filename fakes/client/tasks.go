package client

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// relatedTask is the member of _meta that names a message's task (2025-11-25,
// basic/utilities/tasks#related-task-metadata).
const relatedTask = "io.modelcontextprotocol/related-task"

// The states of a task (2025-11-25, basic/utilities/tasks#task-status).
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// tasks are the sampling requests that the client runs as tasks, in their order. They are kept to the end of the
// session.
type tasks struct {
	mu  sync.Mutex
	all []*task
}

// task is one of them. Whoever reads or changes it holds the mutex of the tasks.
type task struct {
	id               string
	ttl              any // as requested; nil for none
	created, updated time.Time
	status, message  string
	result           map[string]any
	refused          *Error
	stop             context.CancelFunc
	over             chan struct{} // closed at its end
}

func (c *Client) takesTasks() bool {
	declared := any(c.declared())
	for _, name := range []string{"tasks", "requests", "sampling", "createMessage"} {
		o, _ := declared.(map[string]any)
		declared = o[name]
	}
	return declared != nil && c.Revision().HasTasks()
}

func wantsTask(m *message) bool {
	params, err := jsonvalue.ReadObject(m.Params)
	return err == nil && params["task"] != nil
}

// answerAsTask responds to a sampling request with a task, and works on that until it ends.
func (s *session) answerAsTask(m *message, one *serving) error {
	s.served.end(m.ID, one) // from here on tasks/cancel cancels it
	params, _ := jsonvalue.ReadObject(m.Params)
	wanted, _ := params["task"].(map[string]any)
	ctx, stop := context.WithCancel(s.client.ctx)
	defer stop()
	t := s.tasks.create(wanted["ttl"], stop)
	err := s.send(response(m.ID, map[string]any{"task": s.tasks.describe(t)}, nil))
	progress := s.progressOf(m.Params)
	if progress != nil {
		progress.task = t.id
	}
	err = errors.Join(err, progress.report())
	result, refused := s.client.respond(ctx, methodSampling, m.Params)
	if s.tasks.isWorking(t) {
		err = errors.Join(err, progress.report())
	}
	if !s.tasks.finish(t, result, refused) {
		return err
	}
	return errors.Join(err, s.send(request(nil, "notifications/tasks/status", s.tasks.describe(t))))
}

func (ts *tasks) create(ttl any, stop context.CancelFunc) *task {
	now := time.Now()
	t := &task{id: rand.Text(), ttl: ttl, created: now, updated: now, status: taskWorking, stop: stop,
		over: make(chan struct{})}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = append(ts.all, t)
	return t
}

func (ts *tasks) isWorking(t *task) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.status == taskWorking
}

// finish ends a task with the outcome of its request. It reports false if the task was cancelled before.
func (ts *tasks) finish(t *task, result map[string]any, refused *Error) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.status != taskWorking {
		return false
	}
	t.result, t.refused = result, refused
	if refused != nil {
		t.end(taskFailed, refused.Message)
	} else {
		t.end(taskCompleted, "")
	}
	return true
}

func (t *task) end(status, message string) {
	t.status, t.message, t.updated = status, message, time.Now()
	close(t.over)
}

func (ts *tasks) find(id string) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if i := slices.IndexFunc(ts.all, func(t *task) bool { return t.id == id }); i >= 0 {
		return ts.all[i]
	}
	return nil
}

func (ts *tasks) describe(t *task) map[string]any {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.describe()
}

func (t *task) describe() map[string]any {
	about := map[string]any{"taskId": t.id, "status": t.status, "createdAt": t.created.UTC().Format(time.RFC3339Nano),
		"lastUpdatedAt": t.updated.UTC().Format(time.RFC3339Nano), "ttl": t.ttl, "pollInterval": 100}
	if t.message != "" {
		about["statusMessage"] = t.message
	}
	return about
}

func related(id string) map[string]any {
	return map[string]any{relatedTask: map[string]any{"taskId": id}}
}

func (s *session) aboutTask(one *serving, m *message) (map[string]any, *Error) {
	params, _ := jsonvalue.ReadObject(m.Params) // invalid params name no task
	if m.Method == "tasks/list" {
		return s.tasks.list(params)
	}
	t := s.tasks.find(jsonvalue.TextIn(params, "taskId"))
	switch {
	case t == nil:
		return nil, &Error{Code: CodeInvalidParams, Message: "unknown task"}
	case m.Method == "tasks/result":
		return s.tasks.result(one.ctx, t)
	case m.Method == "tasks/cancel":
		return s.tasks.cancel(t)
	}
	return s.tasks.describe(t), nil
}

// result waits for the end of a task and returns the outcome of its request.
func (ts *tasks) result(ctx context.Context, t *task) (map[string]any, *Error) {
	select {
	case <-t.over:
	case <-ctx.Done():
		return nil, &Error{Code: CodeInternal, Message: "the request was cancelled"}
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.refused != nil {
		return nil, t.refused
	}
	result := maps.Clone(t.result)
	meta := related(t.id)
	if own, ok := result["_meta"].(map[string]any); ok {
		maps.Copy(meta, own)
		meta[relatedTask] = related(t.id)[relatedTask]
	}
	result["_meta"] = meta
	return result, nil
}

func (ts *tasks) cancel(t *task) (map[string]any, *Error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.status != taskWorking {
		return nil, &Error{Code: CodeInvalidParams, Message: "the task is already " + t.status}
	}
	t.refused = &Error{Code: CodeInternal, Message: "the task was cancelled"}
	t.end(taskCancelled, "cancelled by the server")
	t.stop()
	return t.describe(), nil
}

// list returns all tasks on one page. It gives out no cursors.
func (ts *tasks) list(params map[string]any) (map[string]any, *Error) {
	if params["cursor"] != nil {
		return nil, &Error{Code: CodeInvalidParams, Message: "unknown cursor"}
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	page := []any{}
	for _, t := range ts.all {
		page = append(page, t.describe())
	}
	return map[string]any{"tasks": page}, nil
}
