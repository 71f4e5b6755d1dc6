package trace

// Mark is a note that the harness or a handler left in the trace.
type Mark struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// Names of the harness's own marks. Handlers choose other names.
const (
	// MarkHarnessError says that the harness itself broke the protocol: the client must not be judged.
	MarkHarnessError = "harness-error"
	// MarkHandlerStarted and MarkHandlerEnded enclose a handler; the text of the latter is its error, if any.
	MarkHandlerStarted = "handler-started"
	MarkHandlerEnded   = "handler-ended"
	// MarkBatch precedes the messages of a batch; the text is their number.
	MarkBatch = "batch"
	// MarkConnection says that a connection with one message a line was opened; the text is its name, which is the
	// Session of its frames.
	MarkConnection = "connection"
	// MarkKilled says that the client killed the server before closing its input; the text is the connection.
	MarkKilled = "killed"
	// MarkStderr is a line that the server wrote to its standard error, over stdio.
	MarkStderr = "stderr"
	// MarkWithheld says that the server did not send a sampling request because the client did not declare the
	// capability in the text, such as "sampling.tools".
	MarkWithheld = "withheld"
	// MarkSessionEnded says that the server ended the client's session: later requests with its id get 404.
	MarkSessionEnded = "session-ended"
	// MarkNotPlayed says that a case was not played; the text is the reason.
	MarkNotPlayed = "not-played"
	// MarkOutOfTime is MarkNotPlayed for a client that made progress and had too little time in earlier sessions.
	MarkOutOfTime = "out-of-time"
	// MarkInapplicable says that a case was not played because of a feature that was declared; the text is the reason.
	MarkInapplicable = "inapplicable"
	// MarkUnsupported says that a case was not played because nothing makes the client do what it needs.
	MarkUnsupported = "unsupported"
	// MarkEnding says that the harness now ends the client: what follows is not the client's doing.
	MarkEnding = "ending"
	// MarkStrangers says that requests came without the random part of our URLs; the text is their number. They are
	// refused and not recorded: another program sent them, or the client dropped the path.
	MarkStrangers = "strangers"
	// MarkOutcome is a client's report about its own call; the text is an adapter's outcome line.
	MarkOutcome = "outcome"
	// MarkSupports is a feature that the client announced; the text is its name.
	MarkSupports = "supports"
)
