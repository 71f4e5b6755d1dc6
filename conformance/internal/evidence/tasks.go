package evidence

import (
	"slices"
)

// samplingTasks is the capability of a client that takes samples as tasks.
var SamplingTasks = []string{"tasks", "requests", "sampling", "createMessage"}

// takesNoPlain reports whether the client refused a plain sample of the case as one that takes them as tasks alone,
// which it may (2025-11-25, basic/utilities/tasks#task-support-and-handling).
func (ev *Case) OnlyTakesTasks() bool {
	return slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.RefusedWithoutTask() && !HasMember(r.Raw, "task") })
}

// asksForTask reports whether a sample of the case was asked for as a task.
func (ev *Case) AsksForTask() bool {
	return slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return HasMember(r.Raw, "task") })
}

// refusedPlain reports whether a sample was refused with the code for that.
func (r *Round) RefusedWithoutTask() bool {
	return !r.Hostile && len(r.Answers) > 0 && r.Answers[0].Err != nil && r.Answers[0].Err.Code == CodeInvalidRequest && r.Declared.Declares(SamplingTasks...)
}
