package mutants

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness"
)

var taskEdits = edits{
	"takes-undeclared-tasks": takesUndeclared,
	"refuses-undeclared-tasks": asked(func(s *Sample) {
		if s.Asked["task"] != nil && !s.Wire.declaresTasks() {
			s.Refuse(codeNoMethod, "broken on purpose: tasks are not supported")
		}
	}),
	"calls-as-tasks": out(func(m *Message) {
		if m.Method() == "tools/call" {
			m.Params()["task"] = object{"ttl": json.Number("60000")}
		}
	}),
	"answers-tasks-plainly": asked(func(s *Sample) {
		delete(s.Params, "task")
	}),
	"numeric-task-ids": everyTask(set("taskId", json.Number("1"))),
	"one-task-id":      oneTaskID,
	"shows-first-task": showsFirstTask,
	"submitted-tasks": out(func(m *Message) {
		if task := member(m.Result(), "task"); task["status"] != nil {
			task["status"] = "submitted"
		}
	}),
	"unix-times": everyTask(func(task object) {
		if at, err := time.Parse(time.RFC3339Nano, text(task, "createdAt")); err == nil {
			task["createdAt"] = at.Unix()
		}
	}),
	"drops-ttl":      afterGet(unset("ttl")),
	"revives-tasks":  afterGet(set("status", "working")),
	"result-at-once": resultAtOnce,
	"wraps-results": out(func(m *Message) {
		if result, ok := m.Body["result"].(object); ok && m.Answers("tasks/result") {
			m.Body["result"] = object{"result": result, "_meta": result["_meta"]}
			delete(result, "_meta")
		}
	}),
	"failure-as-result": out(func(m *Message) {
		if failed := member(m.Body, "error"); m.Answers("tasks/result") && m.Sample != nil && failed["message"] != nil {
			delete(m.Body, "error")
			m.Body["result"] = object{"role": "assistant", "model": "none",
				"content": textBlock(text(failed, "message")), "_meta": related(m.Request.Params()["taskId"])}
		}
	}),
	"unrelated-result": out(func(m *Message) {
		if m.Answers("tasks/result") {
			delete(member(m.Result(), "_meta"), relatedTask)
		}
	}),
	"unrelated-progress": progress(func(p object) { delete(member(p, "_meta"), relatedTask) }),
	"believes-meta": in(func(m *Message) {
		if id := member(m.Meta(), relatedTask)["taskId"]; id != nil && m.Params()["taskId"] != nil {
			m.Params()["taskId"] = id
		}
	}),
	"strange-task-internal": out(func(m *Message) {
		failed := member(m.Body, "error")
		if m.Answers("tasks/get", "tasks/result", "tasks/cancel") && failed["code"] != nil &&
			!m.Wire.knowsTask(m.Request.Params()["taskId"]) {
			failed["code"] = codeInternal
		}
	}),
	"lists-no-tasks": out(func(m *Message) {
		if m.Answers("tasks/list") && m.Result()["tasks"] != nil {
			m.Result()["tasks"] = []any{}
		}
	}),
	"cancels-ended-task": cancelsEndedTask,
	"cancels-later": out(func(m *Message) {
		if m.Answers("tasks/cancel") && m.Result()["status"] == "cancelled" {
			m.Result()["status"] = "working"
			m.Result()["lastUpdatedAt"] = m.Result()["createdAt"]
			delete(m.Result(), "statusMessage")
		}
	}),
	"uncancels": uncancels,
	"progress-under-id": progress(
		func(p object) {
			if id := member(member(p, "_meta"), relatedTask)["taskId"]; id != nil {
				p["progressToken"] = id
			}
		}),
	"progress-after-end": progressAfterEnd,
}

func (w *Wire) declaresTasks() bool {
	requests := member(member(w.told(), "tasks"), "requests")
	return member(requests, "sampling")["createMessage"] != nil
}

func (w *Wire) knowsTask(id any) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.traffic.samples[fmt.Sprint("task ", id)] != nil
}

// takesUndeclared has the client declare tasks to itself alone.
func takesUndeclared(w *Wire) Edit {
	if w.declaresTasks() {
		return Edit{}
	}
	return Edit{
		Env: func(env *harness.Env) {
			told := w.told()
			told["tasks"] = object{"requests": object{"sampling": object{"createMessage": object{}}}}
			env.Declare = marshal(told)
		},
		Declared: unset("tasks"),
	}
}

func related(id any) object { return object{relatedTask: object{"taskId": id}} }

// tasksIn calls f with each description of a task in a message.
func tasksIn(m *Message, f func(task object)) {
	if m.Method() == methodTaskStatus {
		f(m.Params())
	}
	if m.Answers("tasks/get", "tasks/cancel") && m.Result()["taskId"] != nil {
		f(m.Result())
	}
	if task := member(m.Result(), "task"); task["taskId"] != nil {
		f(task)
	}
	eachItem(m.Result()["tasks"], f)
}

func everyTask(f func(task object)) func(*Wire) Edit {
	return out(func(m *Message) { tasksIn(m, f) })
}

func afterGet(f func(task object)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Answers("tasks/get") && m.Result()["taskId"] != nil {
			f(m.Result())
		}
	})
}

// oneTaskID writes the same id for every task, and reads it as that of the latest.
func oneTaskID(*Wire) Edit {
	const shared = "task"
	var mu sync.Mutex
	var latest any
	return Edit{
		Out: func(m *Message) {
			mu.Lock()
			defer mu.Unlock()
			if task := member(m.Result(), "task"); task["taskId"] != nil {
				latest = task["taskId"]
			}
			tasksIn(m, set("taskId", shared))
			for _, meta := range []object{m.Meta(), member(m.Result(), "_meta")} {
				if about := member(meta, relatedTask); about["taskId"] != nil {
					about["taskId"] = shared
				}
			}
		},
		In: func(m *Message) {
			mu.Lock()
			defer mu.Unlock()
			if m.Params()["taskId"] == shared && latest != nil {
				m.Params()["taskId"] = latest
			}
		},
	}
}

// showsFirstTask responds to tasks/get with the id of the first task, whatever it is asked for.
func showsFirstTask(*Wire) Edit {
	var first sync.Map // of one key
	return out(func(m *Message) {
		if id := member(m.Result(), "task")["taskId"]; id != nil {
			first.LoadOrStore("", id)
		}
		if id, ok := first.Load(""); ok && m.Answers("tasks/get") && m.Result()["taskId"] != nil {
			m.Result()["taskId"] = id
		}
	})(nil)
}

// resultAtOnce refuses tasks/result for a task whose end the client has not reported.
func resultAtOnce(w *Wire) Edit {
	var ended sync.Map // by Key
	return Edit{
		Out: func(m *Message) {
			tasksIn(m, func(task object) {
				if task["status"] != "working" {
					ended.Store(Key(task["taskId"]), true)
				}
			})
		},
		In: func(m *Message) {
			id := m.Params()["taskId"]
			if _, over := ended.Load(Key(id)); m.Method() == "tasks/result" && !over && w.knowsTask(id) {
				m.Drop()
				w.sendError(m.Body["id"], codeInvalidRequest)
			}
		},
	}
}

// cancelsEndedTask responds to the cancellation of a task that has ended with what the client last said of it.
func cancelsEndedTask(*Wire) Edit {
	var mu sync.Mutex
	latest := map[string]object{}
	return Edit{Out: func(m *Message) {
		mu.Lock()
		defer mu.Unlock()
		tasksIn(m, func(task object) { latest[Key(task["taskId"])] = copyOf(task) })
		if m.Answers("tasks/cancel") && m.Body["error"] != nil {
			if about := latest[Key(m.Request.Params()["taskId"])]; about != nil {
				delete(m.Body, "error")
				m.Body["result"] = about
			}
		}
	}}
}

// uncancels reports a cancelled task as completed from the first request about it on.
func uncancels(w *Wire) Edit {
	var cancelled sync.Map // by Key
	return Edit{Out: func(m *Message) {
		tasksIn(m, func(task object) {
			if _, was := cancelled.Load(Key(task["taskId"])); was {
				task["status"] = "completed"
			}
			if m.Answers("tasks/cancel") {
				cancelled.Store(Key(task["taskId"]), true)
			}
		})
	}}
}

// progressAfterEnd reports the progress of the first task again when the server lists the tasks.
func progressAfterEnd(*Wire) Edit {
	var mu sync.Mutex
	var first object
	steps := 0
	return Edit{Out: func(m *Message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Method() == methodProgress && (first == nil || first["progressToken"] == m.Params()["progressToken"]) {
			first = copyOf(m.Params())
			steps++
		}
		if m.Answers("tasks/list") && first != nil {
			steps++
			first["progress"] = steps
			m.Before(object{"jsonrpc": "2.0", "method": methodProgress, "params": copyOf(first)})
		}
	}}
}
