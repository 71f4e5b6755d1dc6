package report

import (
	"fmt"
	"slices"
)

// everyCase are the scenarios whose checks judge every case that is played.
var everyCase = []string{"always", "client"}

// place names a finding in all runs of a client.
type place struct{ id, difference, revision string }

// Since says in a few words what fails now and did not in an earlier run of the same client, and the other way round;
// "" if they cannot be compared. Only what both runs judged counts: of rules for every case, if they played the same
// cases. A known failure is a failure, too.
func Since(earlier, now *Results, strict bool) string {
	if earlier == nil || earlier.Client != now.Client {
		return ""
	}
	same := earlier.Whole && now.Whole || slices.Equal(earlier.Flags, now.Flags)
	before, judgedBefore := failing(earlier, strict, same)
	after, judgedNow := failing(now, strict, same)
	fresh, fixed := less(after, before, judgedBefore), less(before, after, judgedNow)
	switch {
	case len(judgedBefore) == 0:
		return ""
	case fresh+fixed == 0:
		return "nothing new since the last run"
	}
	return fmt.Sprintf("%d new, %d fixed since the last run", fresh, fixed)
}

// failing returns the findings that fail, and all results that say something of the client.
func failing(rs *Results, strict, same bool) (failed, judged map[place]bool) {
	failed, judged = map[place]bool{}, map[place]bool{}
	for i := range rs.Results {
		r := rs.Results[i]
		if r.Verdict == HarnessError || r.Verdict == Unsupported || r.Prerequisite != "" ||
			!same && slices.Contains(everyCase, r.Scenario) {
			continue
		}
		judged[place{r.ID(), "", r.Revision}] = true
		if r.Known = nil; r.Failed(strict) {
			for _, f := range r.Findings() {
				if f.Failed(strict) {
					failed[place{r.ID(), f.Difference, r.Revision}] = true
				}
			}
		}
	}
	return failed, judged
}

func less(failed, others, judged map[place]bool) (n int) {
	for p := range failed {
		if !others[p] && judged[place{p.id, "", p.revision}] {
			n++
		}
	}
	return n
}
