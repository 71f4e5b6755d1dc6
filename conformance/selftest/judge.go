package selftest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/reference"
)

// judge says what is not as it must be with each client.
func (m *Matrix) judge(jobs []job) {
	m.compare(jobs)
	for i, row := range m.Rows {
		j := jobs[i]
		if j.mutant == nil {
			for _, id := range slices.Concat(row.Killed, row.Unseen) {
				m.complain("%s does not pass %s", j.name(), id)
			}
			if len(row.Passed) == 0 {
				m.complain("%s passed nothing", j.name())
			}
			continue
		}
		for _, id := range j.mutant.Kills {
			if !slices.Contains(m.Checks, id) {
				m.complain("mutant %s is made for %s, which is no check", j.mutant.Name, id)
			} else if !slices.Contains(row.Killed, id) {
				m.complain("%s survives %s", j.name(), id)
			}
		}
		for _, id := range row.Killed {
			if !j.mutant.Concerns(id) {
				m.complain("%s is failed by %s, which is about something else", j.name(), id)
			}
		}
	}
}

// judgeChecks says which checks are not proven, once every client was played.
func (m *Matrix) judgeChecks(mutants []reference.Mutant) {
	for _, id := range m.Checks {
		if !slices.ContainsFunc(m.Rows, func(r Row) bool { return r.Mutant == "" && slices.Contains(r.Passed, id) }) {
			m.complain("the reference passes %s in no setting: a check that nobody passes proves nothing", id)
		}
		if !slices.ContainsFunc(mutants, func(mutant reference.Mutant) bool { return slices.Contains(mutant.Kills, id) }) {
			m.complain("no mutant is made to fail %s: a check that nobody fails proves nothing", id)
		}
	}
}

// compare finds the mutants of which a check that only reports says something else than it does of the reference in the same setting: that
// is how such a check finds a client out.
func (m *Matrix) compare(jobs []job) {
	for i := range m.Rows {
		row := &m.Rows[i]
		of := slices.IndexFunc(jobs, func(j job) bool {
			return j.mutant == nil && j.setting.name == row.Setting && string(j.revision) == row.Revision
		})
		if jobs[i].mutant == nil || of < 0 {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(row.told)) {
			if differs(row.told[id], m.Rows[of].told[id]) {
				row.Killed = append(row.Killed, id)
				row.Passed = slices.DeleteFunc(row.Passed, func(passed string) bool { return passed == id })
			}
		}
	}
}

// differs reports whether two reports, by case, differ in a case that both have.
func differs(a, b map[string]string) bool {
	for name, said := range a {
		if other, ok := b[name]; ok && other != said {
			return true
		}
	}
	return false
}

func (m *Matrix) complain(format string, args ...any) {
	m.Wrong = append(m.Wrong, fmt.Sprintf(format, args...))
}
