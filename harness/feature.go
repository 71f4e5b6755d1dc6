package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Features of clients.
const (
	// Decisions is that of a client in which a person, or a driver in the person's place, decides as [Env.Decision] says.
	Decisions = "decisions"
	// Tasks is that of a client that takes samples as tasks where [Env.Declare] has it declare them (2025-11-25, basic/utilities/tasks). One without it
	// declares what it is told to, and is not held to that.
	Tasks = "tasks"
)

// features are those that a client can have. What has another name is no feature.
var features = []string{Decisions, Tasks}

// Announce says that the client has a feature: it can be held to what it would otherwise not be known to do. It is said once for a session,
// at any time and from any goroutine. A client in a process of its own says it in a line on its standard output:
//
//	{"mcp-conform":"supports","feature":"decisions"}
func (e Env) Announce(feature string) {
	if e.announce != nil {
		e.announce(feature)
	}
}

// featureLine is what a line of standard output says of a feature.
type featureLine struct {
	Kind    string `json:"mcp-conform"`
	Feature string `json:"feature"`
}

// featureKind is what the member mcp-conform of such a line says.
const featureKind = "supports"

// sayFeature is how a client in a process of its own announces.
func sayFeature(feature string) {
	raw, err := json.Marshal(featureLine{featureKind, feature})
	if err != nil {
		panic("harness: a feature is plain data: " + err.Error())
	}
	_, _ = os.Stdout.Write(append(raw, '\n')) // whom nobody reads has nothing to say
}

// readFeature reads a line of output that announces a feature; anything else does not.
func readFeature(line []byte) (feature string, ok bool) {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.Contains(line, []byte("mcp-conform")) {
		return "", false
	}
	var said featureLine
	err := json.Unmarshal(line, &said)
	return said.Feature, err == nil && said.Kind == featureKind && slices.Contains(features, said.Feature)
}

// featureMark is the feature as a note in the trace.
func featureMark(feature string) *trace.Mark {
	return &trace.Mark{Name: trace.MarkSupports, Text: feature}
}

// announcements are what a client has announced. They go into the trace at its end: what a process prints comes sooner or later than what it sends.
type announcements struct {
	mu    sync.Mutex
	names []string
}

func (f *announcements) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
}

func (f *announcements) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.names))
}
