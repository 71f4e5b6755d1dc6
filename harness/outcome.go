package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Outcome is a client's report about its own call: the wire does not show how the client understood a response. A
// client in a process of its own writes it as a line to its standard output:
//
//	{"mcp-conform":"outcome","tool":"basic-text","outcome":"failed","error":{"code":-32602,"message":"unknown tool"}}
type Outcome struct {
	// Tool is the tool, the prompt, or the URI of the resource.
	Tool string `json:"tool"`
	// Ended is how the call ended for the client: one of the constants below.
	Ended string `json:"outcome"`
	// Error is the error with which it ended; nil for none.
	Error *OutcomeError `json:"error,omitempty"`
}

// OutcomeError is an error as the client saw it. Code is 0 if it is not a JSON-RPC error.
type OutcomeError struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message"`
}

// How a call ended.
const (
	Completed     = "completed"      // with a result, also an error result
	Failed        = "failed"         // with an error
	InputRequired = "input_required" // with a result that requires input, which the client did not give
	Abandoned     = "gave-up"        // by the client's own limit of time or rounds, or by [Env.Abandon]
)

// Features of clients.
const (
	// Decisions: a user, or a driver in the user's place, decides as [Env.Decision] says.
	Decisions = "decisions"
	// Tasks: the client runs samples as tasks if [Env.Declare] has them (2025-11-25, basic/utilities/tasks). Without
	// the feature a client still declares what it is asked to, and the checks of tasks do not apply.
	Tasks = "tasks"
	// OneModel: the client has one model, so hints cannot change which one it asks.
	OneModel = "one-model"
	// FixedCapabilities: the client declares the same in every session, whatever [Env.Declare] says.
	FixedCapabilities = "fixed-capabilities"
	// NeverAbandons: the client abandons no call, whatever [Env.Abandon] says.
	NeverAbandons = "never-abandons"
	// ToolsOnly: the client uses no prompts and no resources.
	ToolsOnly = "tools-only"
)

// Features returns all features.
func Features() []string {
	return []string{Decisions, Tasks, OneModel, FixedCapabilities, NeverAbandons, ToolsOnly}
}

// Values of the member mcp-conform of a contract line.
const (
	outcomeKind = "outcome"
	featureKind = "supports"
)

type outcomeLine struct {
	Kind string `json:"mcp-conform"`
	Outcome
}

type featureLine struct {
	Kind    string `json:"mcp-conform"`
	Feature string `json:"feature"`
}

// Announce says that the client has a feature, so that the feature's checks apply. Once a session is enough, at any
// time and from any goroutine. A client in a process of its own writes a line to its standard output:
//
//	{"mcp-conform":"supports","feature":"decisions"}
func (e Env) Announce(feature string) {
	if e.announce != nil {
		e.announce(feature)
	}
}

// Line returns the outcome as a line of standard output, with its newline.
func (o Outcome) Line() []byte { return contractLine(outcomeLine{outcomeKind, o}) }

func contractLine(v any) []byte { return append(jsonvalue.Marshal(v), '\n') }

// printOutcome and printFeature report from a process of its own. A write error means that nobody reads.
func printOutcome(o Outcome) { _, _ = os.Stdout.Write(o.Line()) }
func printFeature(feature string) {
	_, _ = os.Stdout.Write(contractLine(featureLine{featureKind, feature}))
}

// readLine reads a contract line into v, and reports whether it may be one.
func readLine(line []byte, v any) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte("mcp-conform")) &&
		json.Unmarshal(line, v) == nil
}

func readOutcome(line []byte) (o Outcome, ok bool) {
	var v outcomeLine
	ok = readLine(line, &v) && v.Kind == outcomeKind && v.Tool != "" &&
		slices.Contains([]string{Completed, Failed, InputRequired, Abandoned}, v.Ended)
	return v.Outcome, ok
}

func readFeature(line []byte) (feature string, ok bool) {
	var v featureLine
	ok = readLine(line, &v) && v.Kind == featureKind && slices.Contains(Features(), v.Feature)
	return v.Feature, ok
}

func (o Outcome) mark() *trace.Mark {
	return &trace.Mark{Name: trace.MarkOutcome, Text: strings.TrimSpace(string(o.Line()))}
}

// announcements collects a client's features. They enter the trace at its end: what a process prints may arrive before
// or after what it sends.
type announcements struct {
	mu    sync.Mutex
	names []string
}

func (a *announcements) add(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

func (a *announcements) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(slices.Values(a.names))
}
