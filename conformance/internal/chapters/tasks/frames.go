package tasks

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// aboutTask is a request of the server's about tasks, and what the client answered.
type aboutTask struct {
	Method server.TaskMethod
	Asked  evidence.Place
	// TaskID and Cursor are those that the params name; "" for none.
	TaskID, Cursor string
	// Misleading is true for one whose _meta names another task.
	Misleading bool
	// Answer is what came back; nil where nothing did.
	Answer *evidence.Answer

	id    json.RawMessage
	onGET bool
}

// result is the result of the answer; nil where there is none.
func (a *aboutTask) result() dialect.Object {
	var o dialect.Object
	if a.Answer != nil && a.Answer.Result != nil {
		_ = dialect.ReadPart(a.Answer.Result, &o) // what is no object says nothing
	}
	return o
}

// failed reports whether the answer is an error of the code.
func (a *aboutTask) failed(code int) bool { return a.Answer.Err != nil && a.Answer.Err.Code == code }

// saw shows a request and its answer.
func (a *aboutTask) saw(v check.Verdict) check.Verdict {
	v = v.Show(a.Asked, "")
	switch {
	case a.Answer == nil:
	case a.Answer.Err != nil:
		v = v.Show(a.Answer.Place, "%s", evidence.Compact(a.Answer.RawErr))
	default:
		v = v.Show(a.Answer.Place, "%s", evidence.Compact(a.Answer.Result))
	}
	return v
}

// aboutTasks are the requests of the case about tasks, in order.
func aboutTasks(ev *evidence.Case) []*aboutTask {
	var asked []*aboutTask
	ev.EachFrame(func(e *trace.Event, m *evidence.Message) {
		switch {
		case e.Frame.Resent:
		case e.Frame.Dir == trace.ToClient && isTaskMethod(m.Method):
			var params dialect.Object
			_ = dialect.ReadPart(m.Params, &params) // what is no object names nothing
			asked = append(asked, &aboutTask{Method: server.TaskMethod(m.Method), Asked: evidence.Place{Ref: e.Ref(), Path: "params", Label: m.Method}, id: m.ID, TaskID: params.Text("taskId"),
				Cursor: params.Text("cursor"), Misleading: relatedIn(m.Params) != nil, onGET: elsewhereThanTheCall(ev, e)})
		case e.Frame.Dir == trace.FromClient && m.IsResponse():
			i := slices.IndexFunc(asked, func(a *aboutTask) bool { return a.Answer == nil && evidence.IDText(a.id) == evidence.IDText(m.ID) })
			if i >= 0 {
				path := "result"
				if m.Err != nil {
					path = "error"
				}
				asked[i].Answer = &evidence.Answer{Place: evidence.Place{Ref: e.Ref(), Path: path, Label: "answer to " + string(asked[i].Method)}, ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr}
			}
		}
	})
	return asked
}

func isTaskMethod(method string) bool {
	return slices.Contains([]server.TaskMethod{server.TasksGet, server.TasksResult, server.TasksCancel, server.TasksList}, server.TaskMethod(method))
}

// elsewhereThanTheCall reports whether a message went out on another stream than the case's first sample.
func elsewhereThanTheCall(ev *evidence.Case, e *trace.Event) bool {
	return len(ev.Rounds) > 0 && ev.Session.Trace.Find(ev.Rounds[0].Asked.Ref).Frame.Stream != e.Frame.Stream
}

// relatedIn is what stands in the _meta of params or of a result for the task that it belongs to; nil for nothing.
func relatedIn(raw json.RawMessage) json.RawMessage {
	var o, meta dialect.Object
	_ = dialect.ReadPart(raw, &o) // what cannot be read names nothing
	_ = o.Read("_meta", &meta)
	return meta[relatedTask]
}

// sighting is a task as the client shows it: what it says when it makes one, and in answers and reports about it.
type sighting struct {
	evidence.Place
	Task dialect.Object
	// ID and Status are what it says; "" where that is no text.
	ID, Status string

	kind  string // the message, such as "tasks/get"; "" for the creation
	asked int    // the place of the request that it answers among all events, -1 for a report
	at    int    // its own
}

// What a task has come to when it has ended (2025-11-25, basic/utilities/tasks#task-status-lifecycle).
var endsOfTasks = []string{"completed", "failed", "cancelled"}

func (s *sighting) ended() bool { return slices.Contains(endsOfTasks, s.Status) }

const methodTaskStatus = "notifications/tasks/status"

// created is the task that the client has made of the case's first sample; nil where it has made none that can be asked about.
func created(ev *evidence.Case) *sighting {
	all := sightings(ev)
	if len(all) == 0 || all[0].kind != "" || all[0].ID == "" {
		return nil
	}
	return &all[0]
}

// sightings are what the client shows of the case's task, in the order in which it came, and first the task as it was made, if it was.
func sightings(ev *evidence.Case) []sighting {
	if len(ev.Rounds) == 0 || ev.Rounds[0].Result() == nil {
		return nil
	}
	var seen []sighting
	add := func(at evidence.Place, raw json.RawMessage, kind string, asked evidence.Place) {
		s := sighting{Place: at, kind: kind, asked: -1, at: ev.Session.Order[at.Ref]}
		if asked.Ref != (trace.Ref{}) {
			s.asked = ev.Session.Order[asked.Ref]
		}
		if dialect.ReadPart(raw, &s.Task) == nil && s.Task != nil {
			s.ID, s.Status = s.Task.Text("taskId"), s.Task.Text("status")
			seen = append(seen, s)
		}
	}
	made := ev.Rounds[0].Result()
	var result dialect.Object
	_ = dialect.ReadPart(made.Result, &result) // what is no object holds no task
	add(made.At("task"), result["task"], "", ev.Rounds[0].Asked)
	if len(seen) == 0 {
		return nil
	}
	id := seen[0].ID
	for _, a := range aboutTasks(ev) {
		switch a.Method {
		case server.TasksGet, server.TasksCancel:
			if o := a.result(); o != nil && a.TaskID == id && (o.Text("taskId") == id || !o.Has("taskId")) {
				add(a.Answer.Place, a.Answer.Result, string(a.Method), a.Asked)
			}
		case server.TasksList:
			var listed []json.RawMessage
			_ = a.result().Read("tasks", &listed) // what is no list holds none
			for i, raw := range listed {
				var o dialect.Object
				if dialect.ReadPart(raw, &o) == nil && o.Text("taskId") == id {
					add(a.Answer.At(fmt.Sprintf("tasks[%d]", i)), raw, string(a.Method), a.Asked)
				}
			}
		}
	}
	for _, report := range statusReports(ev.Session) {
		if report.ID == id {
			seen = append(seen, report)
		}
	}
	slices.SortStableFunc(seen[1:], func(a, b sighting) int { return a.at - b.at })
	return seen
}

// statusReports are the client's reports of how tasks stand, in order. They belong to no call.
func statusReports(s *evidence.Session) []sighting {
	var reports []sighting
	for e, m := range s.FromClient() {
		if m.Method != methodTaskStatus {
			continue
		}
		report := sighting{Place: evidence.Place{Ref: e.Ref(), Path: "params", Label: methodTaskStatus}, kind: methodTaskStatus, asked: -1, at: s.Order[e.Ref()]}
		_ = dialect.ReadPart(m.Params, &report.Task) // what is no object is about no task
		report.ID, report.Status = report.Task.Text("taskId"), report.Task.Text("status")
		reports = append(reports, report)
	}
	return reports
}

// tasksMade are the ids of the tasks that the session's samples were taken as before the case's, as they were written.
func tasksMade(ev *evidence.Case) map[string]evidence.Place {
	made := map[string]evidence.Place{}
	for caseID := range ev.Session.Calls {
		other := ev.Session.Case(caseID)
		if other == nil || other == ev || len(other.Rounds) == 0 {
			continue
		}
		if t := created(other); t != nil && ev.Session.Order[t.Ref] < ev.Session.Order[ev.Rounds[0].Asked.Ref] {
			made[t.ID] = t.Place
		}
	}
	return made
}
