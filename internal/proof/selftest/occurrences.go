package selftest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// occurrences say in which cases the conditions occur, in one revision. They are learned from a run of the reference.
type occurrences struct {
	facts    map[string]map[string]bool // conditions by case
	examples map[string][]string        // by condition: one case of each scenario
}

// in reports whether the condition occurs in the case.
func (o *occurrences) in(id, condition string) bool { return o.facts[id][condition] }

// played is what occurrences depend on: the revision, and whether the client runs the tool loop itself.
type played struct {
	revision server.Revision
	loop     bool
}

// occurrences returns what it has learned about a revision.
func (p *player) occurrences(ctx context.Context, r played) (*occurrences, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learned[r] != nil {
		return p.learned[r], nil
	}
	o := &occurrences{map[string]map[string]bool{}, map[string][]string{}}
	var mu sync.Mutex
	client := func(ctx context.Context, env harness.Env) error {
		current := watch(&env)
		notes := mutants.Condition{Name: "notes", Holds: func(f mutants.Facts) bool {
			mu.Lock()
			defer mu.Unlock()
			o.note(current(), f)
			return false
		}}
		return mutants.Client(reference.Config{Loop: r.loop}, mutants.Everything, notes, nil)(ctx, env)
	}
	suite := conformance.Suite{Client: harness.InProcess(client), Revisions: []server.Revision{r.revision}, Seed: 1,
		Bubble: p.Bubble}
	if r.loop {
		suite.Only = []string{mutants.ClientLoop, plainCase}
	} else if p.omits(func(m *mutants.Mutant) bool { return slices.Contains(scenariosOf(m), malformedScenario) }) {
		suite.Skip = []string{malformedScenario, malformedScenario + "/*"}
	}
	for _, e := range expensive {
		if p.omits(e.isFor) {
			suite.Skip = append(suite.Skip, e.pattern)
		}
	}
	if p.Bubble == nil {
		suite.Skip = append(suite.Skip, timeScenario, timeScenario+"/*")
	}
	if _, _, err := suite.Run(ctx); err != nil {
		return nil, err
	}
	o.choose()
	p.learned[r] = o
	return o, nil
}

// omits reports whether expensive cases are left out: in a sample, and if no mutant to play needs them.
func (p *player) omits(needs func(m *mutants.Mutant) bool) bool {
	return p.Sample || !slices.ContainsFunc(chosenMutants(&p.Options), func(t turn) bool { return needs(&t.Mutant) })
}

// note notes the conditions that hold for the facts.
func (o *occurrences) note(id string, f mutants.Facts) {
	if id == "" || id == beforeAll {
		return
	}
	if o.facts[id] == nil {
		o.facts[id] = map[string]bool{}
	}
	for _, c := range mutants.Conditions() {
		if c.Holds(f) {
			o.facts[id][c.Name] = true
		}
	}
}

// choose chooses examples. Malformed requests are left out: every client refuses them.
func (o *occurrences) choose() {
	for _, s := range chapters() {
		for _, c := range mutants.Conditions() {
			i := slices.IndexFunc(s.Cases, func(id string) bool { return o.in(id, c.Name) })
			if i >= 0 && s.ID != timeScenario && s.ID != malformedScenario {
				o.examples[c.Name] = append(o.examples[c.Name], s.Cases[i])
			}
		}
	}
}

// witness notes the cases in which a bug changed something.
type witness struct {
	mu    sync.Mutex
	cases []string
	early bool // before the first case: the client is another from the start
}

func (w *witness) saw(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == beforeAll {
		w.early = true
	} else if id != "" && !slices.Contains(w.cases, id) {
		w.cases = append(w.cases, id)
	}
}

// beforeAll is in place of a case before the first call.
const beforeAll = "before all"

// watch watches the calls of a client. What it returns is the case of the latest one; "" for a call of no case.
func watch(env *harness.Env) (current func() string) {
	var mu sync.Mutex
	latest := beforeAll
	note := func(body []byte) {
		if o, err := jsonvalue.ReadObject(body); err == nil {
			params, _ := o["params"].(map[string]any)
			arguments, _ := params["arguments"].(map[string]any) // with some, it is a call for the model
			if (params["name"] != nil || params["uri"] != nil) && len(arguments) == 0 {
				mu.Lock()
				latest = caseOf(params)
				mu.Unlock()
			}
		}
	}
	if env.HTTP != nil {
		network := *env.HTTP
		network.Transport = watched{network.Transport, note}
		env.HTTP = &network
	}
	if launch := env.Launch; launch != nil {
		env.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
			to, err := launch(ctx, stderr)
			if err != nil {
				return nil, err
			}
			return &watchedPipe{to.(mutants.Pipe), note}, nil
		}
	}
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return latest
	}
}

type watched struct {
	next http.RoundTripper
	note func(body []byte)
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	next := w.next
	if next == nil {
		next = http.DefaultTransport
	}
	if r.Body == nil || r.Header.Get("Mcp-Protocol-Version") == "" {
		return next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	w.note(body)
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return next.RoundTrip(r)
}

type watchedPipe struct {
	mutants.Pipe
	note func(body []byte)
}

func (p *watchedPipe) Write(line []byte) (int, error) {
	p.note(line)
	return p.Pipe.Write(line)
}

// caseOf is the case to which a call with the params belongs.
func caseOf(params map[string]any) string {
	name, uri := jsonvalue.TextIn(params, "name"), jsonvalue.TextIn(params, "uri")
	for _, s := range cases() {
		tool := strings.ReplaceAll(s, "/", "-")
		if name == tool || strings.HasSuffix(uri, tool) || strings.HasSuffix(uri, s) {
			return s
		}
	}
	return ""
}

// cases are the IDs of all cases.
var cases = sync.OnceValue(func() []string {
	var all []string
	for _, s := range chapters() {
		all = append(all, s.Cases...)
	}
	return all
})
