package selftest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// setting is a way to ask the model and to reach the server, in any revision.
type setting struct {
	name   string
	config reference.Config
	stdio  bool
}

func (s *setting) streams() bool { return !s.config.Plain && !dialects.FactsOf(s.config.Dialect).Plain }

// settings are all forms of all dialects, and others that differ.
var settings = func() []setting {
	var all []setting
	for _, form := range reference.Forms() {
		all = append(all, setting{form.Name, form.Config, false})
	}
	return append(all, []setting{
		{"native, over stdio", reference.Config{Dialect: dialect.Native}, true},
		{"ollama-streamed without ids", reference.Config{Dialect: dialect.Ollama, Model: "llama3.2:no-ids"}, false},
		{"openai-chat-streamed, a loop of its own", reference.Config{Loop: true}, false},
		{"native, a loop of its own", reference.Config{Dialect: dialect.Native, Loop: true}, false},
		{"anthropic-plain, a loop of its own",
			reference.Config{Dialect: dialect.Anthropic, Plain: true, Loop: true}, false},
		{"openai-chat-streamed, a host", reference.Config{Host: true}, false},
		{"anthropic-streamed, a host", reference.Config{Dialect: dialect.Anthropic, Host: true}, false},
		{"native, a host", reference.Config{Dialect: dialect.Native, Host: true}, false},
	}...)
}()

// job is one client to run in one setting and revision.
type job struct {
	mutant   *mutants.Mutant // nil for the reference
	setting  setting
	revision server.Revision
	only     []string // patterns of scenarios and checks; nil for all
	skip     []string // for the reference; a mutant skips what it does not need
}

func (j *job) name() string {
	name := "the reference"
	if j.mutant != nil {
		name = "mutant " + j.mutant.Name
	}
	return fmt.Sprintf("%s (%s, %s)", name, j.setting.name, j.revision)
}

func waits(m *mutants.Mutant) bool {
	return slices.Contains(scenariosOf(m), timeScenario) || slices.Contains(m.Kills, mutants.ClientLoop+"/overall-timeout")
}

// number is a mutant's own number. It chooses what the mutant plays, so that a new mutant changes nothing for others.
func number(m *mutants.Mutant) int { return play.Number(m.Name) }

// jobsOf are the reference's jobs, and then those of each mutant.
func jobsOf(o *Options) []job {
	if o.Sample {
		return sampleJobs()
	}
	var jobs []job
	for i, s := range settings {
		revisions := server.DefaultRevisions()
		if i < 4 || s.stdio || o.Every { // the model APIs differ in the same way in each revision
			revisions = server.AllRevisions()
		}
		for _, r := range revisions {
			j := job{setting: s, revision: r}
			if i > 0 {
				j.skip = []string{longString}
			}
			jobs = append(jobs, j)
		}
	}
	for _, mutant := range mutants.All() {
		jobs = append(jobs, mutantJobs(&mutant, o.Every)...)
	}
	return jobs
}

// mutantJobs are the jobs of one mutant. If every is false, its settings have revisions in turns.
func mutantJobs(m *mutants.Mutant, every bool) []job {
	var jobs []job
	for k, s := range settingsOf(m, every) {
		revisions := revisionsOf(m)
		turn := revisions[(number(m)+k)%len(revisions)]
		if !every && k > 0 {
			revisions = []server.Revision{turn}
		}
		for _, r := range revisions {
			var only []string
			if !every {
				only = scenariosFor(m, k == 0 && r == turn && !m.Once)
			}
			jobs = append(jobs, job{mutant: m, setting: s, revision: r, only: only})
		}
	}
	return jobs
}

// sampleJobs are one job for each mutant, the reference on everything in the first setting, and the reference in other
// settings on what the mutants there run. Expensive cases run in the first setting in one revision, and where a mutant
// needs them.
func sampleJobs() []job {
	var jobs, broken []job
	for _, r := range server.DefaultRevisions() {
		jobs = append(jobs, job{setting: settings[0], revision: r})
	}
	needs := make([][]*mutants.Mutant, len(jobs), len(settings)*len(jobs))
	for _, m := range mutants.All() {
		revisions := revisionsOf(&m)
		j := job{mutant: &m, setting: settingsOf(&m, false)[0], revision: revisions[number(&m)%len(revisions)],
			only: checksFor(&m)}
		broken = append(broken, j)
		of := slices.IndexFunc(jobs, func(k job) bool { return k.setting.name == j.setting.name && k.revision == j.revision })
		if of < 0 {
			of = len(jobs)
			jobs, needs = append(jobs, job{setting: j.setting, revision: j.revision, only: []string{}}), append(needs, nil)
		}
		needs[of] = append(needs[of], &m)
		if jobs[of].only != nil {
			jobs[of].only = append(jobs[of].only, j.only...)
		}
	}
	for i := range jobs {
		if jobs[i].only != nil || !jobs[i].revision.Modern() {
			jobs[i].skip = append(skips(needs[i]...), manyStories...)
		}
	}
	return append(jobs, broken...)
}

// only are the jobs of the mutants with these names, and beside them the reference: in their settings and revisions, on
// what they play.
func only(jobs []job, names []string) []job {
	var broken, beside []job
	for _, j := range jobs {
		if j.mutant != nil && slices.Contains(names, j.mutant.Name) {
			broken = append(broken, j)
		}
	}
	for _, j := range jobs {
		if j.mutant != nil {
			break // the reference's jobs are the first
		}
		same := slices.DeleteFunc(slices.Clone(broken), func(m job) bool {
			return m.setting.name != j.setting.name || m.revision != j.revision
		})
		if len(same) == 0 {
			continue
		}
		if !slices.ContainsFunc(same, func(m job) bool { return m.only == nil }) { // nil is everything
			j.only = slices.Concat(each(same, func(m job) []string { return m.only })...)
		}
		beside = append(beside, j)
	}
	return append(beside, broken...)
}

// revisionsOf are the revisions in which a mutant runs.
func revisionsOf(m *mutants.Mutant) []server.Revision {
	return slices.DeleteFunc(slices.Clone(m.Revisions(server.DefaultRevisions())), func(r server.Revision) bool {
		return m.Era != "" && (m.Era == "modern") != r.Modern()
	})
}

// settingsOf are the settings in which a mutant runs: all in which its bug shows, if that is about the wire to the
// model. Any other bug is the same in all of them. Unless every is true, such a mutant runs in the first, in the next,
// and in one that its number chooses; and in the first alone if the bug is on the wire to the server, or the
// same in all.
func settingsOf(m *mutants.Mutant, every bool) []setting {
	var shown []setting
	for _, s := range settings {
		if m.ShowsIn(s.config) && (s.stdio || !m.Stdio) {
			shown = append(shown, s)
		}
	}
	const always = 2
	switch {
	case every:
		return shown
	case m.Wire || m.Once:
		return shown[:1]
	case m.Dialects != nil || m.Streamed || len(shown) <= always:
		return shown
	}
	return append(shown[:always:always], shown[always+number(m)%(len(shown)-always)])
}

// scenariosFor is what a mutant runs: its own checks, and in its first setting and one revision their scenarios, the
// simplest ones and others that its number chooses. Each scenario sees a sixth of the mutants that are about something
// else.
func scenariosFor(m *mutants.Mutant, first bool) []string {
	if !first {
		return checksFor(m)
	}
	own := scenariosOf(m)
	if own == nil {
		return nil
	}
	const simplest, turns = 4, 6
	var chosen []string
	for i, s := range chapters() {
		if i < simplest || i%turns == number(m)%turns || slices.Contains(own, s.ID) {
			chosen = append(chosen, s.ID)
		}
	}
	return chosen
}

// scenariosOf are the scenarios of the checks that must or may fail the mutant; nil for one that shows in any.
func scenariosOf(m *mutants.Mutant) []string {
	var scenarios []string
	for _, s := range chapters() {
		if slices.ContainsFunc(slices.Concat(m.Kills, m.Also, m.Plays), func(id string) bool {
			return id == s.ID || strings.HasPrefix(id, s.ID+"/")
		}) {
			scenarios = append(scenarios, s.ID)
		}
	}
	return scenarios
}

// chapters are the scenarios with cases.
var chapters = sync.OnceValue(func() []conformance.Scenario {
	return slices.DeleteFunc(conformance.Scenarios(), func(s conformance.Scenario) bool { return len(s.Cases) == 0 })
})

// plainCase is in every sample, so that the checks of the client as a whole have something to judge.
const plainCase = "basic/question"

// checksFor are what a mutant runs in a sample: the checks that must fail it, and the plain case.
func checksFor(m *mutants.Mutant) []string {
	checks := append([]string{plainCase}, m.Plays...)
	for _, id := range m.Kills {
		if !strings.HasPrefix(id, clientScenario+"/") && !strings.HasPrefix(id, mutants.EveryCase) {
			checks = append(checks, id)
		}
		if id == "transport/on-post-stream" { // the bug shows after a request on the other stream
			checks = append(checks, "transport/get-stream")
		}
	}
	return checks
}
