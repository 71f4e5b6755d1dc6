package evidence

import "slices"

// SamplingTasks is the path of the capability of a client that takes sampling requests as tasks.
var SamplingTasks = []string{"tasks", "requests", "sampling", "createMessage"}

// OnlyTakesTasks reports whether the client refused a plain sampling request of the case because it takes them only as
// tasks, which it may (2025-11-25, basic/utilities/tasks#task-support-and-handling).
func (ev *Case) OnlyTakesTasks() bool {
	return slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.RefusedWithoutTask() && !r.asksForTask() })
}

// AsksForTask reports whether the server asked for a task in the case.
func (ev *Case) AsksForTask() bool { return slices.ContainsFunc(ev.Rounds, (*Round).asksForTask) }

func (r *Round) asksForTask() bool { return HasMember(r.Raw, "task") }

// RefusedWithoutTask reports whether a client that declares [SamplingTasks] refused the request with the error -32600.
func (r *Round) RefusedWithoutTask() bool {
	return !r.Hostile && len(r.Answers) > 0 && r.Answers[0].Err != nil &&
		r.Answers[0].Err.Code == CodeInvalidRequest && r.Declared.Declares(SamplingTasks...)
}
