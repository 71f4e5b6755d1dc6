package check

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// NameSame names, in each result of a revision, the difference between the two wires that explains it: in each case
// that it fails, the model refused what differs, or the verdict rests on the same place of the same messages.
func NameSame(results []Judged) {
	for i := range results {
		r := &results[i]
		if r.Difference != "" || r.Prerequisite != "" {
			continue
		}
		for j := range results {
			root := &results[j]
			if r.repeats(root) {
				r.SameAs = root.Title()
			}
			if root.Difference == "" || root.Verdict != report.Fail {
				continue
			}
			for _, f := range root.Findings() {
				if r.SameAs == "" && r.explainedBy(root, f.Difference) {
					r.SameAs = f.Title()
				}
			}
		}
	}
}

// repeats reports whether both found something, and the result names the other as the check that it repeats.
func (r *Judged) repeats(root *Judged) bool {
	found := func(v report.Verdict) bool { return v == report.Fail || v == report.Warn }
	return r.See == root.ID() && found(r.Verdict) && found(root.Verdict)
}

func (r *Judged) explainedBy(root *Judged, difference string) bool {
	switch r.Verdict {
	case report.Fail, report.Warn, report.NotObserved:
	default:
		return false
	}
	return len(r.verdicts) > 0 && !slices.ContainsFunc(r.verdicts, func(v caseVerdict) bool {
		return v.Kind == r.Verdict && !slices.ContainsFunc(root.verdicts, func(w caseVerdict) bool {
			return w.on.Case.ID == v.on.Case.ID && w.Kind == report.Fail && w.difference() == difference &&
				(v.Reason.Has(evidence.ModelRefused) && !v.Reason.Has(evidence.ServerRefused) || samePlaces(v.Evidence, w.Evidence))
		})
	})
}

// samePlaces reports whether both are about one place of a message, about one setting of several requests, or about the
// same messages.
func samePlaces(shown, other []report.Evidence) bool {
	found := map[int64]bool{}
	for _, a := range shown {
		for _, b := range other {
			if a.Case == b.Case && a.Path == b.Path && isSetting(a.Path) {
				return true
			}
			if a.Seq == b.Seq && a.Case == b.Case && a.Seq > 0 {
				found[a.Seq] = true
				if a.Path != "" && a.Path == b.Path {
					return true
				}
			}
		}
	}
	return len(found) > 1 && !slices.ContainsFunc(shown, func(a report.Evidence) bool { return !found[a.Seq] })
}

// isSetting reports whether a path is that of a member of a sampling request, except its messages.
func isSetting(path string) bool {
	return strings.HasPrefix(path, "params.") && !strings.HasPrefix(path, "params.messages")
}
