package mutants

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness"
)

var taskMutants = []Mutant{
	inTasks("takes-undeclared-tasks", "runs a request as a task without declaring tasks", takesUndeclared, "tasks/task-ignored"),
	inTasks("refuses-undeclared-tasks", "refuses a request with a task, which it may ignore", func(w *Wire) Edit {
		return Edit{Asked: func(s *Sample) {
			if s.Asked["task"] != nil && !w.declaresTasks() {
				s.Refuse(codeNoMethod, "broken on purpose: tasks are not supported")
			}
		}}
	}, "tasks/task-ignored"),
	inTasks("calls-as-tasks", "calls tools as tasks on a server that offers no tasks", out(func(m *Message) {
		if m.Method() == "tools/call" {
			m.Params()["task"] = map[string]any{"ttl": json.Number("60000")}
		}
	}), "tasks/no-task-calls"),
	inTasks("answers-tasks-plainly", "declares tasks and answers without creating one", asked(func(s *Sample) {
		delete(s.Params, "task")
	}), "tasks/created-task"),
	inTasks("numeric-task-ids", "uses numbers as task ids", everyTask(func(task map[string]any) {
		task["taskId"] = json.Number("1")
	}), "tasks/created-task"),
	inTasks("one-task-id", "gives all tasks the same id", oneTaskID, "tasks/created-task", "tasks/status", "tasks/end-is-final"),
	inTasks("submitted-tasks", "creates tasks with a status that does not exist", out(func(m *Message) {
		if task := member(m.Result(), "task"); task["status"] != nil {
			task["status"] = "submitted"
		}
	}), "tasks/created-task", "tasks/status"),
	inTasks("creates-late", "returns a task only when its work is done", createsLate, "tasks/created-soon"),
	inTasks("unix-times", "writes times as seconds since 1970", everyTask(func(task map[string]any) {
		if at, err := time.Parse(time.RFC3339Nano, text(task, "createdAt")); err == nil {
			task["createdAt"] = at.Unix()
		}
	}), "tasks/timestamps"),
	inTasks("drops-ttl", "does not say how long it keeps a task",
		afterGet(func(task map[string]any) { delete(task, "ttl") }), "tasks/ttl-told"),
	inTasks("own-ttl", "keeps every task for an hour", everyTask(func(task map[string]any) {
		task["ttl"] = json.Number("3600000")
	}), "tasks/ttl"),
	inTasks("revives-tasks", "reports the status of every task as working",
		afterGet(func(task map[string]any) { task["status"] = "working" }), "tasks/status", "tasks/stays-cancelled"),
	inTasks("result-at-once", "returns an error if a task's result is not there yet", resultAtOnce, "tasks/result-blocks"),
	inTasks("wraps-results", "wraps a task's result in another object", out(func(m *Message) {
		if result, ok := m.Body["result"].(map[string]any); ok && m.Answers("tasks/result") {
			m.Body["result"] = map[string]any{"result": result, "_meta": result["_meta"]}
			delete(result, "_meta")
		}
	}), "tasks/result-equals-plain"),
	inTasks("failure-as-result", "returns the failure of a task as its result", out(func(m *Message) {
		if failed := member(m.Body, "error"); m.Answers("tasks/result") && m.Sample != nil && failed["message"] != nil {
			delete(m.Body, "error")
			m.Body["result"] = map[string]any{"role": "assistant", "model": "none",
				"content": textBlock(text(failed, "message")), "_meta": related(m.Request.Params()["taskId"])}
		}
	}), "tasks/result-equals-plain"),
	inTasks("silent-failure", "does not say why a task failed", everyTask(func(task map[string]any) {
		delete(task, "statusMessage")
	}), "tasks/failure-told"),
	inTasks("unrelated-result", "does not name the task of a result", out(func(m *Message) {
		if m.Answers("tasks/result") {
			delete(member(m.Result(), "_meta"), relatedTask)
		}
	}), "tasks/related-task"),
	inTasks("relates-all", "names the task twice in its status", afterGet(func(task map[string]any) {
		task["_meta"] = related(task["taskId"])
	}), "tasks/no-related-task"),
	inTasks("believes-meta", "reads the task id from _meta", in(func(m *Message) {
		if id := member(m.Meta(), relatedTask)["taskId"]; id != nil && m.Params()["taskId"] != nil {
			m.Params()["taskId"] = id
		}
	}), "tasks/parameter-counts"),
	inTasks("strange-task-internal", "refuses an unknown task id with an internal error", func(w *Wire) Edit {
		return Edit{Out: func(m *Message) {
			if failed := member(m.Body, "error"); m.Answers("tasks/get", "tasks/result", "tasks/cancel") && failed["code"] != nil &&
				!w.knowsTask(m.Request.Params()["taskId"]) {
				failed["code"] = codeInternal
			}
		}}
	}, "tasks/unknown-task"),
	inTasks("lists-no-tasks", "lists no tasks", out(func(m *Message) {
		if m.Answers("tasks/list") && m.Result()["tasks"] != nil {
			m.Result()["tasks"] = []any{}
		}
	}), "tasks/listed"),
	inTasks("cancels-ended-task", "accepts the cancellation of a task that has ended", cancelsEndedTask, "tasks/end-is-final"),
	inTasks("cancels-later", "responds to a cancellation with the status before it", out(func(m *Message) {
		if m.Answers("tasks/cancel") && m.Result()["status"] == "cancelled" {
			m.Result()["status"] = "working"
			m.Result()["lastUpdatedAt"] = m.Result()["createdAt"]
			delete(m.Result(), "statusMessage")
		}
	}), "tasks/task-cancel"),
	inTasks("uncancels", "completes a task that was cancelled", uncancels, "tasks/stays-cancelled", "tasks/status",
		"tasks/work-stops"),
	inTasks("works-on-cancelled-task", "keeps the model working for a task that was cancelled",
		func(w *Wire) Edit { return Edit{Model: w.detached} }, "tasks/work-stops"),
	inTasks("progress-under-id", "reports the progress of a task with its id as the token", progress(
		func(p map[string]any) {
			if id := member(member(p, "_meta"), relatedTask)["taskId"]; id != nil {
				p["progressToken"] = id
			}
		}), "tasks/progress-token-kept"),
	inTasks("progress-after-end", "reports progress of a task that has ended", progressAfterEnd, "tasks/progress-token-kept"),
	inTasks("wants-tasks", "refuses sampling requests without a task", func(w *Wire) Edit {
		return Edit{Asked: func(s *Sample) {
			if s.Asked["task"] == nil && w.declaresTasks() {
				s.Refuse(codeInvalidRequest, "samples have to be tasks")
			}
		}}
	}, "tasks/plain"),
}

// inTasks is a mutant of a client that declares tasks, or that is asked for them anyway.
func inTasks(name, doc string, edit func(*Wire) Edit, kills string, also ...string) Mutant {
	return Mutant{Name: name, Doc: doc, Kills: []string{kills}, Also: also, Wire: true, Era: "legacy", edit: edit}
}

// declaresTasks reports whether the client was told to declare tasks.
func (w *Wire) declaresTasks() bool {
	requests := member(member(w.told(), "tasks"), "requests")
	return member(requests, "sampling")["createMessage"] != nil
}

// knowsTask reports whether the client has created a task with the id.
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
			told["tasks"] = map[string]any{"requests": map[string]any{"sampling": map[string]any{"createMessage": map[string]any{}}}}
			env.Declare = marshal(told)
		},
		Declared: func(declared map[string]any) { delete(declared, "tasks") },
	}
}

// related is the _meta of a message that belongs to a task.
func related(id any) map[string]any { return map[string]any{relatedTask: map[string]any{"taskId": id}} }

// tasksIn calls f with each description of a task in a message.
func tasksIn(m *Message, f func(task map[string]any)) {
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

// everyTask edits each description of a task that the client sends.
func everyTask(f func(task map[string]any)) func(*Wire) Edit {
	return out(func(m *Message) { tasksIn(m, f) })
}

// afterGet edits the responses to tasks/get.
func afterGet(f func(task map[string]any)) func(*Wire) Edit {
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
			tasksIn(m, func(task map[string]any) { task["taskId"] = shared })
			for _, meta := range []map[string]any{m.Meta(), member(m.Result(), "_meta")} {
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

// createsLate holds back a created task until the client reports its end.
func createsLate(*Wire) Edit {
	var mu sync.Mutex
	held := map[string]map[string]any{}
	return Edit{Out: func(m *Message) {
		mu.Lock()
		defer mu.Unlock()
		if task := member(m.Result(), "task"); task["taskId"] != nil {
			held[Key(task["taskId"])] = m.Body
			m.Drop()
		} else if created := held[Key(m.Params()["taskId"])]; created != nil && m.Method() == methodTaskStatus {
			m.Before(created)
		}
	}}
}

// resultAtOnce refuses tasks/result for a task whose end the client has not reported.
func resultAtOnce(w *Wire) Edit {
	var ended sync.Map // by Key
	return Edit{
		Out: func(m *Message) {
			tasksIn(m, func(task map[string]any) {
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
	latest := map[string]map[string]any{}
	return Edit{Out: func(m *Message) {
		mu.Lock()
		defer mu.Unlock()
		tasksIn(m, func(task map[string]any) { latest[Key(task["taskId"])] = copyOf(task) })
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
	return Edit{Model: w.detached, Out: func(m *Message) {
		tasksIn(m, func(task map[string]any) {
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
	var first map[string]any
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
			m.Before(map[string]any{"jsonrpc": "2.0", "method": methodProgress, "params": copyOf(first)})
		}
	}}
}
