package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Outcome is what a client says of a call of its own: the wire does not show what it took an answer for. A client in a process of its own
// says it in a line on its standard output:
//
//	{"mcp-conform":"outcome","tool":"basic-question","outcome":"failed","error":{"code":-32602,"message":"unknown tool"}}
type Outcome struct {
	// Tool is the tool that was called, the prompt that was got, or the URI of the resource that was read.
	Tool string `json:"tool"`
	// Ended is how the call ended for the client: one of the constants below.
	Ended string `json:"outcome"`
	// Error is the error with which it ended; nil where there was none.
	Error *OutcomeError `json:"error,omitempty"`
}

// OutcomeError is an error as the client saw it. Code is 0 for one that is no JSON-RPC error.
type OutcomeError struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message"`
}

// What a call can end in.
const (
	Completed     = "completed"      // a result, whatever it says
	Failed        = "failed"         // an error
	InputRequired = "input_required" // a result that asks for input, which the client did not give
	GaveUp        = "gave-up"        // the client's own limit, of time or of rounds, or that it was told to ([Env.GiveUp])
)

// outcomeKind is what the member mcp-conform of an outcome line says.
const outcomeKind = "outcome"

// Line is the outcome as a line of standard output, with its end.
func (o Outcome) Line() []byte {
	raw, err := json.Marshal(struct {
		Kind string `json:"mcp-conform"`
		Outcome
	}{outcomeKind, o})
	if err != nil {
		panic("harness: an outcome is plain data: " + err.Error())
	}
	return append(raw, '\n')
}

// readOutcome reads a line of output that is an outcome line; anything else is not.
func readOutcome(line []byte) (o Outcome, ok bool) {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.Contains(line, []byte("mcp-conform")) {
		return o, false
	}
	var told struct {
		Kind string `json:"mcp-conform"`
		Outcome
	}
	err := json.Unmarshal(line, &told)
	known := slices.Contains([]string{Completed, Failed, InputRequired, GaveUp}, told.Ended)
	return told.Outcome, err == nil && told.Kind == outcomeKind && known && told.Tool != ""
}

// outcomes takes the contract's lines, which begin with a brace, out of what a process writes and passes the rest on: those that tell an
// outcome, and those that announce a feature. It is for one writer at a time.
type outcomes struct {
	to       io.Writer
	report   func(Outcome)
	announce func(feature string)
	line     []byte // the beginning of a line that may be one, up to longestLine
	passed   bool   // the line is none, and is passed on as it comes
}

// longestLine is how long an outcome line may be, in bytes.
const longestLine = 64 << 10

func (o *outcomes) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if o.passed || len(o.line) == 0 && p[0] != '{' {
			p = o.pass(p)
			continue
		}
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			o.take(p)
			break
		}
		o.take(p[:end])
		o.flush()
		o.passed = false
		p = p[end:]
	}
	return n, nil
}

// pass passes on all that comes before the next line that may be an outcome, at once, and returns the rest: floods are of short lines.
func (o *outcomes) pass(p []byte) []byte {
	end := bytes.Index(p, []byte("\n{")) + 1
	o.passed = end == 0 && p[len(p)-1] != '\n'
	if end == 0 {
		end = len(p)
	}
	_, _ = o.to.Write(p[:end]) // memory takes everything
	return p[end:]
}

// take adds to the line, unless that is too long to be one.
func (o *outcomes) take(part []byte) {
	o.line = append(o.line, part...)
	if len(o.line) > longestLine {
		_, _ = o.to.Write(o.line)
		o.line, o.passed = nil, true
	}
}

// flush deals with the line as it is, also when no end of it will come.
func (o *outcomes) flush() {
	if said, ok := readOutcome(o.line); ok {
		o.report(said)
	} else if feature, ok := readFeature(o.line); ok {
		o.announce(feature)
	} else {
		_, _ = o.to.Write(o.line)
	}
	o.line = o.line[:0]
}

// mark is the outcome as a note in the trace.
func (o Outcome) mark() *trace.Mark {
	return &trace.Mark{Name: trace.MarkOutcome, Text: strings.TrimSpace(string(o.Line()))}
}
