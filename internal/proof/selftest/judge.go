package selftest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// judge finds what is wrong with each client. A sample may have too few cases for the checks of the client as a whole.
func (m *Matrix) judge(jobs []job, sample bool) {
	m.compare(jobs)
	for i := range m.Rows {
		if jobs[i].mutant == nil {
			m.judgeReference(&jobs[i], &m.Rows[i])
		} else {
			m.judgeMutant(&jobs[i], &m.Rows[i], sample)
		}
	}
}

func (m *Matrix) judgeReference(j *job, row *Row) {
	for _, id := range slices.Concat(row.Killed, row.Unseen) {
		m.complain("%s does not pass %s", j.name(), id)
	}
	if len(row.Passed) == 0 {
		m.complain("%s passes nothing", j.name())
	}
}

func (m *Matrix) judgeMutant(j *job, row *Row, sample bool) {
	if row.Fired == 0 && j.setting.stdio && j.mutant.Wire {
		return // a bug in HTTP, which fires over HTTP
	}
	for _, id := range j.mutant.Kills {
		if !slices.Contains(m.Checks, id) {
			m.complain("mutant %s is made for %s, an unknown check", j.mutant.Name, id)
		} else if !slices.Contains(row.Killed, id) {
			m.complain("%s survives %s", j.name(), id)
		}
	}
	for _, id := range row.Killed {
		if !j.mutant.Concerns(id) && !(sample && strings.HasPrefix(id, clientScenario+"/")) {
			m.complain("%s fails %s, which is about something else", j.name(), id)
		}
	}
	if row.Fired == 0 {
		m.complain("%s never fires", j.name())
	}
}

// judgeChecks finds the checks that are not proven.
func (m *Matrix) judgeChecks(all []mutants.Mutant) {
	for _, id := range m.Checks {
		if !slices.ContainsFunc(m.Rows, func(r Row) bool { return r.Mutant == "" && slices.Contains(r.Passed, id) }) {
			m.complain("the reference passes %s in no setting: a check that nobody passes proves nothing", id)
		}
		if !slices.ContainsFunc(all, func(mutant mutants.Mutant) bool { return slices.Contains(mutant.Kills, id) }) {
			m.complain("no mutant is made to fail %s: a check that nobody fails proves nothing", id)
		}
	}
}

// compare finds the checks of level MAY that report something else of a mutant than of the reference in the same
// setting. Such a check never fails; its report is how it finds the mutant.
func (m *Matrix) compare(jobs []job) {
	for i := range m.Rows {
		row := &m.Rows[i]
		of := slices.IndexFunc(jobs, func(j job) bool {
			return j.mutant == nil && j.setting.name == row.Setting && string(j.revision) == row.Revision
		})
		if jobs[i].mutant == nil || of < 0 {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(row.reports)) {
			if differs(row.reports[id], m.Rows[of].reports[id]) {
				row.Killed = append(row.Killed, id)
				row.Passed = slices.DeleteFunc(row.Passed, func(passed string) bool { return passed == id })
			}
		}
	}
}

// differs reports whether two reports, by case, differ in a case that both have.
func differs(a, b map[string]string) bool {
	for name, message := range a {
		if other, ok := b[name]; ok && other != message {
			return true
		}
	}
	return false
}

func (m *Matrix) complain(format string, args ...any) {
	m.Wrong = append(m.Wrong, fmt.Sprintf(format, args...))
}
