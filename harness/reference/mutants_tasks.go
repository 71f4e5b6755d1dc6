package reference

// taskFaults are the ways in which tasks can be broken.
type taskFaults struct {
	takesUndeclared bool // requests as tasks, where it does not declare that
	refusesField    bool // a request for a task, where it does not declare that
	callsAsTasks    bool // tools
	answersPlainly  bool // what it was asked for as a task
	wantsTasks      bool // and refuses plain requests: no fault at all

	numericID, oneID, beginsSubmitted, createsLate bool
	unixTimes, dropsTTL, ownTTL                    bool

	revives           bool // a task that has ended, in what it says of it
	doesNotWait       bool // for a task's end
	wrapsResult       bool
	failsWell         bool // gives a failure for a result
	failsSilently     bool
	unrelated         bool // the result of a task
	relatesAll        bool // what needs no such mark
	believesMeta      bool // more than the parameter
	strangeIsInternal bool
	listsNothing      bool
	cancelsEnded      bool
	cancelsLater      bool
	uncancels         bool
	worksOn           bool // on a task that is cancelled
	progressUnderID   bool
	progressAfterEnd  bool
}

// inTasks is a mutant of a client that declares tasks, or is asked for them all the same.
func inTasks(name, doc string, broken taskFaults, kills string, also ...string) Mutant {
	return Mutant{Name: name, Doc: doc, Kills: []string{kills}, Also: also, Wire: true, Era: "legacy", broken: faults{tasks: broken}}
}

var taskMutants = []Mutant{
	inTasks("takes-undeclared-tasks", "takes a request as a task, and does not declare that it does", taskFaults{takesUndeclared: true}, "tasks/task-ignored"),
	inTasks("refuses-undeclared-tasks", "refuses a request that has a task, where it could ignore it", taskFaults{refusesField: true}, "tasks/task-ignored"),
	inTasks("calls-as-tasks", "calls tools as tasks on a server that offers none", taskFaults{callsAsTasks: true}, "tasks/no-task-calls"),
	inTasks("answers-tasks-plainly", "declares tasks, and answers as if it had not", taskFaults{answersPlainly: true}, "tasks/created-task"),
	inTasks("numeric-task-ids", "counts its tasks, and gives the count for an id", taskFaults{numericID: true}, "tasks/created-task"),
	inTasks("one-task-id", "gives all tasks one id", taskFaults{oneID: true}, "tasks/created-task", "tasks/status", "tasks/end-is-final"),
	inTasks("submitted-tasks", "begins tasks under a status that there is not", taskFaults{beginsSubmitted: true}, "tasks/created-task", "tasks/status"),
	inTasks("unix-times", "writes times as seconds since 1970", taskFaults{unixTimes: true}, "tasks/timestamps"),
	inTasks("drops-ttl", "does not say for how long it keeps a task", taskFaults{dropsTTL: true}, "tasks/ttl-told"),
	inTasks("revives-tasks", "says of every task that it is working", taskFaults{revives: true}, "tasks/status", "tasks/stays-cancelled"),
	inTasks("result-at-once", "answers with an error where a task's result is not there yet", taskFaults{doesNotWait: true}, "tasks/result-blocks"),
	inTasks("wraps-results", "puts a task's result into an object of its own", taskFaults{wrapsResult: true}, "tasks/result-equals-plain"),
	inTasks("failure-as-result", "gives the failure of a task for its result", taskFaults{failsWell: true}, "tasks/result-equals-plain"),
	inTasks("unrelated-result", "does not say of a result which task it is of", taskFaults{unrelated: true}, "tasks/related-task"),
	inTasks("believes-meta", "looks in _meta for the task that it is asked about", taskFaults{believesMeta: true}, "tasks/parameter-counts"),
	inTasks("strange-task-internal", "takes an id that it does not know for a fault of its own", taskFaults{strangeIsInternal: true}, "tasks/unknown-task"),
	inTasks("lists-no-tasks", "lists none of the tasks that it has", taskFaults{listsNothing: true}, "tasks/listed"),
	inTasks("cancels-ended-task", "takes the cancel of a task that has ended", taskFaults{cancelsEnded: true}, "tasks/end-is-final"),
	inTasks("cancels-later", "answers a cancel with the task as it was before", taskFaults{cancelsLater: true}, "tasks/task-cancel"),
	inTasks("uncancels", "completes a task that was cancelled", taskFaults{uncancels: true, worksOn: true}, "tasks/stays-cancelled", "tasks/status"),
	inTasks("progress-under-id", "reports the progress of a task under its id", taskFaults{progressUnderID: true}, "tasks/progress-token-kept"),
	inTasks("progress-after-end", "reports progress of a task that has ended", taskFaults{progressAfterEnd: true}, "tasks/progress-token-kept"),
}
