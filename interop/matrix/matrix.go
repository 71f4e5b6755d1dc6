// Package matrix says which SDK does what with sampling, as the tests of the SDKs see it. Each test writes or compares
// a column; docs/matrix.md is made of all columns.
package matrix

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// State is what a client does with a feature.
type State string

// A feature works, or does not work because of the SDK. HostsChoice is for one that the SDK leaves to its host, and the
// adapter of the test does not have. Without a state it was not judged, or does not apply.
const (
	Works       State = "yes"
	Fails       State = "no"
	HostsChoice State = "host"
)

// Column is an SDK.
type Column struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Version  string `json:"version"`
	// Init is the template of mcp-conform init with the adapter that was judged; "" for an adapter of interop.
	Init string `json:"init,omitempty"`
	// Run is the client of the template that was judged; "" for its first one, adapter. Without a template it is the
	// folder of interop.
	Run string `json:"run,omitempty"`
	// Features are by id.
	Features map[string]Cell `json:"features"`
}

// Cell is a state, and for a feature that does not work which checks show it and whose fault it is.
type Cell struct {
	State  State    `json:"state"`
	Shown  []string `json:"shown,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// judged is a result, or one finding of a result about differences of several kinds.
type judged struct {
	*report.Result
	kinds []string
}

// Fill judges the features by the results of a run.
func (c *Column) Fill(rs *report.Results) {
	c.Features = map[string]Cell{}
	withTools := slices.ContainsFunc(rs.Results, func(r report.Result) bool {
		return r.ID() == "declare/tools-declared" && r.Verdict == report.Pass
	})
	without := slices.ContainsFunc(rs.Results, func(r report.Result) bool {
		return r.ID() == sampled && r.Verdict == report.Fail
	})
	for _, f := range Features {
		if f.Tools && !withTools || without && f.Revision == "" && !slices.Contains(f.Checks, sampled) {
			continue
		}
		var cell Cell
		for i := range rs.Results {
			if one := newJudged(&rs.Results[i]); f.concerns(one) {
				cell.add(f.of(one), one)
			}
		}
		slices.Sort(cell.Shown)
		cell.Shown = slices.Compact(cell.Shown)
		if cell.State != "" {
			c.Features[f.ID] = cell
		}
	}
}

func newJudged(r *report.Result) judged {
	one := judged{Result: r}
	for _, f := range r.Findings() {
		one.kinds = append(one.kinds, f.Difference)
	}
	return one
}

// of returns the state of a feature by a result; "" for one that does not tell.
func (f *Feature) of(r judged) State {
	switch {
	case r.Verdict == report.Pass || r.Verdict == report.Info:
		return Works
	case r.Verdict == report.NotApplicable || r.Verdict == report.Unsupported || r.Known == nil:
		return ""
	case f.Kinds != nil && !slices.ContainsFunc(r.kinds, func(k string) bool { return slices.Contains(f.Kinds, k) }):
		return Works
	case strings.HasPrefix(r.Known.Reason, "SDK"):
		return Fails
	}
	return HostsChoice
}

func (c *Cell) add(s State, r judged) {
	rank := map[State]int{"": 0, Works: 1, HostsChoice: 2, Fails: 3}
	if s == Fails || s == HostsChoice {
		if rank[s] > rank[c.State] {
			c.Shown, c.Reason = nil, r.Known.Reason
		}
		if rank[s] >= rank[c.State] {
			c.Shown = append(c.Shown, r.ID())
		}
	}
	if rank[s] > rank[c.State] {
		c.State = s
	}
}

// File is the file of the column below a folder.
func (c *Column) File(folder string) string {
	return filepath.Join(folder, strings.ReplaceAll(strings.ToLower(c.Name), " ", "-")+".json")
}

// Read reads the columns of a folder, in the order of their files.
func Read(folder string) ([]Column, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Column
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var c Column
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
