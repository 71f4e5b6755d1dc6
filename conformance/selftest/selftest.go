// Package selftest proves the checks: it plays the reference client and every mutant of it against the whole catalogue and builds the
// kill matrix. The reference must pass everything, every mutant must be caught by the checks that it is made for, and every check
// must be failed by at least one mutant.
package selftest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/reference"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Options are the settings of [Run]. The zero value plays everything, one session after the other, in real time.
type Options struct {
	// Parallel is how many clients are played at once; 0 for one.
	Parallel int
	// Bubble runs a function in virtual time, as for a [conformance.Suite]; nil for real time.
	Bubble func(func())
	// Every plays each mutant in every setting in which its fault shows, and the whole catalogue in each, which takes several times as long.
	// Otherwise it is played in some of them, the scenarios of the checks that must or may fail it, and in the first setting some others, too.
	Every bool
	// Mutants are the names of those that are played, beside the reference where they are; nil for all. What the others prove is then not
	// asked for.
	Mutants []string
}

// timeScenario is the one in which clients are kept waiting.
const timeScenario = "time"

// mostBeside is how many clients are played at once, in real time, that are kept waiting. They do little else.
const mostBeside = 8

// waits reports whether the client is played to be kept waiting.
func (j *job) waits() bool {
	return j.mutant == nil && slices.Contains(conformance.Revisions(), j.revision) || j.mutant != nil && slices.Contains(scenariosOf(j.mutant), timeScenario)
}

// limit is how long a client that is kept waiting waits for the model, so that it can be held to that; 0 for any other.
func (j *job) limit(o Options) time.Duration {
	switch {
	case j.mutant == nil || !j.waits():
		return 0
	case o.Bubble == nil:
		return time.Second
	}
	return time.Minute
}

// hangTimeout is how long a mutant that hangs is waited for, longer than a case waits for a late answer. Others end by themselves.
const hangTimeout = 5 * time.Second

// Matrix is the outcome.
type Matrix struct {
	// Checks are all checks of the catalogue, as scenario/check, in its order.
	Checks []string `json:"checks"`
	// Rows are the clients that were played: first the reference, then the mutants, each in every setting.
	Rows []Row `json:"rows"`
	// Wrong says in sentences what is not as it must be; empty when all is well.
	Wrong []string `json:"wrong"`
}

// Row is one client in one setting.
type Row struct {
	// Mutant is "" for the reference.
	Mutant   string `json:"mutant,omitempty"`
	Setting  string `json:"setting"`
	Revision string `json:"revision"`
	// Killed are the checks that found it broken, and those that only report and have something else to report than of the reference.
	Killed []string `json:"killed"`
	// Unseen are the checks that had nothing to judge, because the client did not get that far.
	Unseen []string `json:"unseen"`
	// Passed are those that passed.
	Passed []string `json:"passed"`

	told map[string]map[string]string // by check and case, what those that only report said
}

// setting is a way in which the client asks the model, and speaks to the server.
type setting struct {
	name   string
	config reference.Config
	stdio  bool
}

var settings = []setting{
	{"openai-chat, streamed", reference.Config{}, false},
	{"openai-chat, plain", reference.Config{Plain: true}, false},
	{"native", reference.Config{Dialect: dialect.Native}, false},
	{"native, over stdio", reference.Config{Dialect: dialect.Native}, true},
	{"anthropic, streamed", reference.Config{Dialect: dialect.Anthropic}, false},
	{"anthropic, plain", reference.Config{Dialect: dialect.Anthropic, Plain: true}, false},
	{"openai-responses, streamed", reference.Config{Dialect: dialect.OpenAIResponses}, false},
	{"openai-responses, plain", reference.Config{Dialect: dialect.OpenAIResponses, Plain: true}, false},
	{"ollama, streamed", reference.Config{Dialect: dialect.Ollama}, false},
	{"ollama, plain", reference.Config{Dialect: dialect.Ollama, Plain: true}, false},
	{"ollama without ids, streamed", reference.Config{Dialect: dialect.Ollama, Model: "llama3.2:no-ids"}, false},
	{"gemini 2, streamed", reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini2}, false},
	{"gemini 2, plain", reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini2, Plain: true}, false},
	{"gemini 3, streamed", reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini3}, false},
}

// job is one client to be played in one revision.
type job struct {
	mutant   *reference.Mutant
	setting  setting
	revision server.Revision
	only     []string // the scenarios; nil for all
}

// Run plays everything and returns the matrix. Its error says that something on our own side failed, or that the context ended.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	m := &Matrix{Wrong: []string{}}
	for _, s := range conformance.Scenarios() {
		for _, c := range s.Checks {
			m.Checks = append(m.Checks, c.ID)
		}
	}
	jobs := allJobs(o.Every)
	if o.Mutants != nil {
		jobs = only(jobs, o.Mutants)
	}
	m.Rows = make([]Row, len(jobs))
	errs := make([]error, len(jobs))
	slots, beside := make(chan struct{}, max(o.Parallel, 1)), make(chan struct{}, mostBeside)
	var running sync.WaitGroup
	for i, j := range jobs {
		running.Go(func() {
			slot := slots
			if o.Bubble == nil && j.waits() {
				slot = beside
			}
			slot <- struct{}{}
			m.Rows[i], errs[i] = j.play(ctx, o)
			<-slot
		})
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("playing %s: %w", jobs[i].name(), err)
		}
	}
	m.judge(jobs)
	if o.Mutants == nil {
		m.judgeChecks(reference.Mutants())
	}
	return m, nil
}

// only are the jobs of the mutants with these names, and of the reference in their settings and revisions.
func only(jobs []job, names []string) []job {
	var mutants []job
	for _, j := range jobs {
		if j.mutant != nil && slices.Contains(names, j.mutant.Name) {
			mutants = append(mutants, j)
		}
	}
	beside := func(j job) bool {
		return j.mutant == nil && slices.ContainsFunc(mutants, func(m job) bool { return m.setting.name == j.setting.name && m.revision == j.revision })
	}
	return append(slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return !beside(j) }), mutants...)
}

// allJobs are the reference in every setting, and each mutant in the settings that are its own.
func allJobs(every bool) []job {
	var jobs []job
	for _, s := range settings {
		for _, r := range conformance.AllRevisions() {
			jobs = append(jobs, job{nil, s, r, nil})
		}
	}
	for i, mutant := range reference.Mutants() {
		for k, s := range settingsOf(&mutant, i, every) {
			var only []string
			if !every {
				only = playedOf(&mutant, i, k == 0 && !mutant.Once)
			}
			for _, r := range mutant.Revisions(conformance.Revisions()) {
				if mutant.Era == "" || (mutant.Era == "modern") == r.Modern() {
					jobs = append(jobs, job{&mutant, s, r, only})
				}
			}
		}
	}
	return jobs
}

// settingsOf are the settings in which a mutant is played: all in which its fault shows, for one that is about the wire to the model. Any
// other is the same fault whatever wire follows: unless every one is wanted, it is played in the first, in the next, and in another
// that the mutants take in turns; and in the first alone where the fault is on the wire to the server, or the same in all.
func settingsOf(m *reference.Mutant, turn int, every bool) []setting {
	var shown []setting
	for _, s := range settings {
		if m.ShowsIn(s.config) && (s.stdio || !m.Stdio) {
			shown = append(shown, s)
		}
	}
	const always = 2
	if (m.Wire || m.Once) && !every {
		return shown[:1]
	}
	if every || m.Dialects != nil || m.Streamed || len(shown) <= always {
		return shown
	}
	return append(shown[:always:always], shown[always+turn%(len(shown)-always)])
}

// playedOf are the scenarios that a mutant is played in when not every one is wanted: its own, and in its first setting the simplest ones and
// others that the mutants take in turns, so that each scenario sees a third of all mutants that are about something else.
func playedOf(m *reference.Mutant, turn int, first bool) []string {
	own := scenariosOf(m)
	if !first || own == nil {
		return own
	}
	const simplest, turns = 4, 3
	var played []string
	for i, s := range conformance.Scenarios()[1:] {
		if i < simplest || i%turns == turn%turns || slices.Contains(own, s.ID) {
			played = append(played, s.ID)
		}
	}
	return played
}

// scenariosOf are the scenarios of the checks that must or may fail the mutant; nil for one that shows in any.
func scenariosOf(m *reference.Mutant) []string {
	var scenarios []string
	for _, s := range conformance.Scenarios()[1:] {
		if slices.ContainsFunc(slices.Concat(m.Kills, m.Also), func(id string) bool { return strings.HasPrefix(id, s.ID+"/") }) {
			scenarios = append(scenarios, s.ID)
		}
	}
	return scenarios
}

func (j *job) name() string {
	name := "the reference"
	if j.mutant != nil {
		name = "mutant " + j.mutant.Name
	}
	return fmt.Sprintf("%s (%s, %s)", name, j.setting.name, j.revision)
}

// play plays one client.
func (j *job) play(ctx context.Context, o Options) (Row, error) {
	row := Row{Setting: j.setting.name, Revision: string(j.revision), Killed: []string{}, Unseen: []string{}, Passed: []string{}, told: map[string]map[string]string{}}
	config := j.setting.config
	suite := conformance.Suite{Revisions: []server.Revision{j.revision}, Seed: 1, Bubble: o.Bubble, Only: j.only}
	if j.mutant != nil || j.setting.name != settings[0].name {
		suite.Skip = append(suite.Skip, "malformed/long-string") // which costs more than all else together, and proves no check
	}
	if j.mutant != nil {
		row.Mutant = j.mutant.Name
		if !j.mutant.Concerns("basic/text-intact") && !j.mutant.Concerns("basic/prompt-reaches-model") {
			suite.Skip = append(suite.Skip, "basic/long") // which costs as much as all else together
		}
		if !j.mutant.Concerns("mrtr/endless") {
			suite.Skip = append(suite.Skip, "mrtr/for-ever") // which costs as much as the rest of its scenario
		}
		if !j.mutant.Concerns("consent/burst") {
			suite.Skip = append(suite.Skip, "consent/fifty") // whose fifty conversations tell no mutant from another
		}
		if !j.mutant.Concerns("loop/iteration-limit") && !j.mutant.Concerns("loop/stops-with-error") {
			suite.Skip = append(suite.Skip, "loop/sixty-four-rounds") // and this as much as most of it
		}
		config = j.mutant.Config(config)
		suite.ClientTimeout = j.limit(o)
		switch {
		case o.Bubble != nil:
		case j.waits():
			suite.Only = scenariosOf(j.mutant)
		default:
			suite.Skip = append(suite.Skip, timeScenario, timeScenario+"/*")
		}
		if j.mutant.Hangs {
			suite.Timeout = hangTimeout
		}
	}
	var options []harness.Option
	if j.setting.stdio {
		options = append(options, harness.Stdio())
	}
	suite.Client = harness.InProcess(reference.Client(config), options...)
	rs, _, err := suite.Run(ctx)
	if err != nil {
		return row, err
	}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Level == report.May {
			row.told[r.ID()] = map[string]string{}
			for _, c := range r.Cases {
				if c.Verdict == report.Info {
					row.told[r.ID()][c.Case] = c.Message
				}
			}
		}
		switch r.Verdict {
		case report.Fail, report.Warn:
			row.Killed = append(row.Killed, r.ID())
		case report.NotObserved:
			row.Unseen = append(row.Unseen, r.ID())
		case report.Pass, report.Info:
			row.Passed = append(row.Passed, r.ID())
		case report.HarnessError:
			return row, fmt.Errorf("%s: harness error: %s", r.ID(), r.Message)
		}
	}
	return row, nil
}
