package evidence

// Reason is a set of reasons for a verdict, for programs.
type Reason uint8

// The reasons.
const (
	// NoResult: a sampling request has no result, or something else that the server waited for did not come.
	NoResult Reason = 1 << iota
	// NoResponse: a request that the client must refuse has no response.
	NoResponse
	// StillRunning: the client hung until the harness ended it.
	StillRunning
	// ServerRefused: the server did not take a message of the client, ModelRefused: the model did not take its request.
	ServerRefused
	ModelRefused
)

// Has reports whether one of the other reasons is among them.
func (r Reason) Has(other Reason) bool { return r&other != 0 }

// Why explains a verdict, in words that end its message, and for programs. The zero value explains nothing.
type Why struct {
	Text   string
	Reason Reason
	// See is the check whose result explains that there is nothing to judge.
	See string
}

func (w Why) String() string { return w.Text }

// And adds another explanation.
func (w Why) And(other Why) Why {
	if w.See == "" {
		w.See = other.See
	}
	return Why{w.Text + other.Text, w.Reason | other.Reason, w.See}
}

// See refers to the check whose result explains that there is nothing to judge.
func See(check string) Why { return Why{Text: "(see " + check + ")", See: check} }

func serverRefused(how string) Why {
	return Why{Text: "; the server refused a message of the client with " + how, Reason: ServerRefused}
}
