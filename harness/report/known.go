package report

import (
	"bytes"
	"fmt"
	"strings"
)

func (r *Result) sign() string {
	if r.Known != nil {
		return "known"
	}
	return signs[r.Verdict]
}

// text is the reason with what belongs to it.
func (k *Known) text() string {
	parts := []string{k.Reason}
	for _, part := range []string{k.Issue, k.Owner} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if k.Until != "" {
		parts = append(parts, "until "+k.Until)
	}
	if k.Flaky {
		parts = append(parts, "flaky")
	}
	return strings.Join(parts, " · ")
}

// known returns a line for each check that fails as the baseline says. Revisions with the same reason share one.
func (rs *Results) known(o TextOptions) []byte {
	var b bytes.Buffer
	revisions := map[string][]string{}
	key := func(r *Result) string { return r.ID() + "\n" + r.Known.text() }
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Known != nil {
			revisions[key(r)] = include(revisions[key(r)], r.Revision)
		}
	}
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Known != nil && revisions[key(r)] != nil && r.Prerequisite == "" {
			fmt.Fprintf(&b, "%s  %s   %s   %s\n", paint("known", Info, o), r.ID(), strings.Join(revisions[key(r)], " "),
				printable(r.Known.text()))
			delete(revisions, key(r))
		}
	}
	return b.Bytes()
}

func (rs *Results) baseline(b *bytes.Buffer, o TextOptions) {
	if rs.Baseline == nil {
		return
	}
	for _, p := range rs.Baseline.Problems {
		place := p.Check
		if p.Place != "" {
			place = p.Place + "   " + p.Check
		}
		fmt.Fprintf(b, "\n%s  %s\n      %s\n", paint("BASELINE", Fail, o), place, wrapped(p.Kind+": "+p.Message, 6))
	}
	if n := rs.Baseline.Unpinned; n > 0 {
		fmt.Fprintf(
			b,
			"\nnote: %d entries of the baseline name no cases, so that a new failure with an old message counts as known: "+
				"mcp-conform baseline RESULTS --update adds them\n",
			n,
		)
	}
}
