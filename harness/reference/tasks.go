package reference

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// relatedTask names in _meta the task that a message belongs to (2025-11-25, basic/utilities/tasks#related-task-metadata).
const relatedTask = "io.modelcontextprotocol/related-task"

// pageOfTasks is how many tasks the client lists at once.
const pageOfTasks = 2

// How a task stands (2025-11-25, basic/utilities/tasks#task-status).
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// tasks are the sampling requests that were taken as tasks, in their order. They are kept for as long as the client runs, which is no longer than any
// of them may be.
type tasks struct {
	mu  sync.Mutex
	all []*task
}

// task is one of them. The lock of the tasks is held where it is read or changed.
type task struct {
	id               string
	ttl              any // as it was asked for; nil for none
	created, updated time.Time
	status, message  string
	result           map[string]any // with which it has ended, or
	refused          *rpcError
	stop             context.CancelFunc
	over             chan struct{} // closed at its end
	left             chan struct{} // closed when nobody works on it any more
	progress         *progress
}

// takesTasks reports whether the client declares that it takes sampling requests as tasks.
func (l *legacy) takesTasks() bool {
	declared := any(l.model.told())
	for _, name := range []string{"tasks", "requests", "sampling", "createMessage"} {
		o, _ := declared.(map[string]any)
		declared = o[name]
	}
	return declared != nil && l.env.Revision == server.V20251125
}

// asTask reports whether a sampling request is to be taken as a task. Where tasks are not declared that it should be means nothing
// (2025-11-25, basic/utilities/tasks#task-support-and-handling).
func (l *legacy) asTask(m *message) bool {
	broken := &l.model.config.broken.tasks
	return (l.takesTasks() && !broken.answersPlainly || broken.takesUndeclared) && m.wantsTask()
}

// wantsTask reports whether a request asks to be taken as a task. What cannot be read asks for none.
func (m *message) wantsTask() bool {
	params, _ := object(m.Params)
	return params["task"] != nil
}

// refusesPlain is the error of a client that takes a sampling request as a task or not at all, or one that is broken; nil for any other.
func (l *legacy) refusesPlain(m *message) *rpcError {
	broken := &l.model.config.broken.tasks
	switch {
	case broken.wantsTasks && l.takesTasks() && !m.wantsTask():
		return &rpcError{codeInvalidRequest, "samples are to be asked for as tasks"}
	case broken.refusesField && !l.takesTasks() && m.wantsTask():
		return &rpcError{codeNoMethod, "broken on purpose: tasks are not supported"}
	}
	return nil
}

// answerTask answers a sampling request with a task, and works on that until it ends.
func (l *legacy) answerTask(ctx context.Context, m *message, one *serving) error {
	l.served.end(m.ID, one) // what is left to do is cancelled as a task
	params, _ := object(m.Params)
	wanted, _ := params["task"].(map[string]any)
	broken := &l.model.config.broken.tasks
	work, stop := context.WithCancel(ctx)
	defer stop()
	t := l.tasks.create(wanted["ttl"], stop, broken)
	created := func() error {
		l.tasks.mu.Lock()
		about := t.about(broken)
		l.tasks.mu.Unlock()
		if broken.beginsSubmitted {
			about["status"] = "submitted"
		}
		return l.send(ctx, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"task": about}})
	}
	var err error
	if !broken.createsLate {
		err = created()
	}
	progress := l.progressOf(m.Params)
	if progress != nil {
		progress.task = t.id
	}
	t.progress = progress
	if broken.progressUnderID && progress != nil {
		progress.token = t.id
	}
	err = errors.Join(err, progress.report(ctx))
	result, refused := l.model.createMessage(work, m.Params)
	if broken.createsLate {
		err = errors.Join(err, created())
	}
	if refused == errDeadly {
		return errors.Join(err, errors.New(refused.Error()))
	}
	if l.tasks.working(t) {
		err = errors.Join(err, progress.report(ctx))
	}
	if !l.tasks.finish(t, result, refused, broken) {
		return err
	}
	return errors.Join(err, l.reportStatus(ctx, t))
}

// reportStatus tells the server that a task has ended, which nobody has to.
func (l *legacy) reportStatus(ctx context.Context, t *task) error {
	l.tasks.mu.Lock()
	params := t.about(&l.model.config.broken.tasks)
	l.tasks.mu.Unlock()
	return l.send(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": params})
}

// create makes a task.
func (ts *tasks) create(ttl any, stop context.CancelFunc, broken *taskFaults) *task {
	now := time.Now()
	t := &task{id: rand.Text(), ttl: ttl, created: now, updated: now, status: taskWorking, stop: stop, over: make(chan struct{}), left: make(chan struct{})}
	if broken.oneID {
		t.id = "task"
	}
	if broken.ownTTL {
		t.ttl = 3600000
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = append(ts.all, t)
	return t
}

// working reports whether a task has not ended yet.
func (ts *tasks) working(t *task) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.status == taskWorking
}

// finish ends a task with what its request came to, and reports whether it did: one that was cancelled stays as it is.
func (ts *tasks) finish(t *task, result map[string]any, refused *rpcError, broken *taskFaults) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	defer close(t.left)
	if t.status != taskWorking {
		if broken.uncancels {
			t.status = taskCompleted
		}
		return false
	}
	t.status, t.result, t.refused = taskCompleted, result, refused
	if refused != nil {
		t.status, t.message = taskFailed, refused.Message
	}
	t.end()
	return true
}

// end notes that the task has changed for the last time.
func (t *task) end() {
	t.updated = time.Now()
	close(t.over)
}

// find returns the latest task of the id; nil where there is none.
func (ts *tasks) find(id string) *task {
	for _, t := range slices.Backward(ts.all) {
		if t.id == id {
			return t
		}
	}
	return nil
}

// about is the task as the protocol has it.
func (t *task) about(broken *taskFaults) map[string]any {
	about := map[string]any{"taskId": t.id, "status": t.status, "createdAt": t.created.UTC().Format(time.RFC3339Nano),
		"lastUpdatedAt": t.updated.UTC().Format(time.RFC3339Nano), "ttl": t.ttl, "pollInterval": 100}
	if t.message != "" && !broken.failsSilently {
		about["statusMessage"] = t.message
	}
	if broken.unixTimes {
		about["createdAt"] = t.created.Unix()
	}
	if broken.numericID {
		about["taskId"] = 1
	}
	return about
}

var errNoTask = &rpcError{codeInvalidParams, "there is no such task"}

// aboutTask answers a request about tasks: with a result, or an error.
func (l *legacy) aboutTask(one *serving, m *message) (map[string]any, *rpcError) {
	params, _ := object(m.Params) // what cannot be read names no task
	broken := &l.model.config.broken.tasks
	if m.Method == "tasks/list" {
		return l.tasks.list(params, broken)
	}
	id := text(params, "taskId")
	meta, _ := params["_meta"].(map[string]any)
	if related, ok := meta[relatedTask].(map[string]any); ok && broken.believesMeta {
		id = text(related, "taskId")
	}
	l.tasks.mu.Lock()
	t := l.tasks.find(id)
	l.tasks.mu.Unlock()
	switch {
	case t == nil && broken.strangeIsInternal:
		return nil, &rpcError{codeInternal, "broken on purpose: there is no such task"}
	case t == nil:
		return nil, errNoTask
	case m.Method == "tasks/result":
		return l.tasks.result(one, t, broken)
	case m.Method == "tasks/cancel":
		return l.tasks.cancel(t, broken)
	}
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	about := t.about(broken)
	if broken.dropsTTL {
		delete(about, "ttl")
	}
	if broken.revives {
		about["status"] = taskWorking
	}
	if broken.relatesAll {
		about["_meta"] = related(t.id)
	}
	return about, nil
}

// related is the _meta of a message that belongs to a task.
func related(id string) map[string]any {
	return map[string]any{relatedTask: map[string]any{"taskId": id}}
}

// result waits for the end of a task, and returns what its request came to.
func (ts *tasks) result(one *serving, t *task, broken *taskFaults) (map[string]any, *rpcError) {
	if broken.doesNotWait && ts.working(t) {
		return nil, &rpcError{codeInvalidRequest, "broken on purpose: the task has not ended"}
	}
	select {
	case <-t.over:
	case <-one.Done():
		return nil, &rpcError{codeInternal, "the request was given up"}
	}
	if broken.uncancels {
		<-t.left
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.refused != nil && broken.failsWell {
		return map[string]any{"role": "assistant", "model": "none", "content": map[string]any{"type": "text", "text": t.refused.Message}, "_meta": related(t.id)}, nil
	}
	if t.refused != nil {
		return nil, t.refused
	}
	result, _ := object(marshal(t.result)) // a copy
	if broken.wrapsResult {
		result = map[string]any{"result": result}
	}
	if !broken.unrelated {
		meta, _ := result["_meta"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta[relatedTask] = map[string]any{"taskId": t.id}
		result["_meta"] = meta
	}
	return result, nil
}

// cancel ends a task that has not ended.
func (ts *tasks) cancel(t *task, broken *taskFaults) (map[string]any, *rpcError) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.status != taskWorking {
		if broken.cancelsEnded {
			return t.about(broken), nil
		}
		return nil, &rpcError{codeInvalidParams, fmt.Sprintf("the task is %s already", t.status)}
	}
	before := t.about(broken)
	t.status, t.message, t.refused = taskCancelled, "cancelled by the server", &rpcError{codeInternal, "the task was cancelled"}
	t.end()
	if !broken.worksOn {
		t.stop()
	}
	if broken.cancelsLater {
		return before, nil
	}
	return t.about(broken), nil
}

// list returns a page of the tasks. A cursor is the id of the last one before it.
func (ts *tasks) list(params map[string]any, broken *taskFaults) (map[string]any, *rpcError) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	left := ts.all
	if cursor, there := params["cursor"]; there {
		behind, _ := strings.CutPrefix(fmt.Sprint(cursor), "behind ")
		i := slices.IndexFunc(ts.all, func(t *task) bool { return t.id == behind })
		if i < 0 {
			return nil, &rpcError{codeInvalidParams, "there is no such cursor"}
		}
		left = ts.all[i+1:]
	}
	page := []any{}
	for _, t := range left[:min(pageOfTasks, len(left))] {
		page = append(page, t.about(broken))
	}
	if broken.listsNothing {
		page = []any{}
	}
	listed := map[string]any{"tasks": page}
	if len(left) > pageOfTasks {
		listed["nextCursor"] = "behind " + left[pageOfTasks-1].id
	}
	return listed, nil
}

// answerAboutTask answers such a request on the wire.
func (l *legacy) answerAboutTask(ctx context.Context, m *message, one *serving) error {
	response := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	result, refused := l.aboutTask(one, m)
	if l.served.end(m.ID, one) {
		return nil
	}
	if refused != nil {
		response["error"] = refused
	} else {
		response["result"] = result
	}
	if m.Method == "tasks/list" {
		if err := l.tasks.goesOn(ctx, &l.model.config.broken.tasks); err != nil {
			return err
		}
	}
	if m.Method == "tasks/result" && refused != errNoTask {
		edit(l.model.config.broken.response, response) // as that of any sample
	}
	return l.send(ctx, response)
}

// goesOn reports on a task that has ended: broken on purpose.
func (ts *tasks) goesOn(ctx context.Context, broken *taskFaults) error {
	if !broken.progressAfterEnd {
		return nil
	}
	ts.mu.Lock()
	ended := ts.all[0]
	ts.mu.Unlock()
	return ended.progress.report(ctx)
}

// calling adds a task to a call of a tool: broken on purpose, for the server offers none.
func (f *taskFaults) calling(method string, params map[string]any) {
	if f.callsAsTasks && method == "tools/call" {
		params["task"] = json.RawMessage(`{"ttl":60000}`)
	}
}
