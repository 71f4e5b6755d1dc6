package selftest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-conform/mcp-conform/conformance"
)

func TestNarrow(t *testing.T) {
	o := Options{Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	jobs := slices.DeleteFunc(allJobs(false), func(j job) bool {
		if j.mutant == nil {
			return false
		}
		return !slices.ContainsFunc(j.mutant.Kills, func(id string) bool { return strings.HasPrefix(id, os.Getenv("NARROW")) })
	})
	m := &Matrix{Wrong: []string{}}
	for _, s := range conformance.Scenarios() {
		for _, c := range s.Checks {
			if strings.HasPrefix(s.ID+"/", os.Getenv("NARROW")) {
				m.Checks = append(m.Checks, s.ID+"/"+c.ID)
			}
		}
	}
	m.Rows = make([]Row, len(jobs))
	for i, j := range jobs {
		if j.mutant == nil { j.only = []string{strings.TrimSuffix(os.Getenv("NARROW"), "/")} }
		row, err := j.play(t.Context(), o)
		if err != nil {
			t.Fatal(j.name(), err)
		}
		m.Rows[i] = row
	}
	m.judge(jobs)
	for _, w := range m.Wrong {
		t.Error(w)
	}
}
