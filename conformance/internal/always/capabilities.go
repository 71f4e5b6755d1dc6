package always

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

var capabilitiesConstant = check.Check{
	ID: "capabilities-constant",
	Rule: "A retry MUST declare what its call declares, and a later session of the client declares what the first one " +
		"does",
	Levels:     check.Levels(report.Robust, report.Must),
	Statements: []string{"basic/31", "mrtr/02", "sampling/06"},
	Cause:      "the code that retries, or reconnects, builds its request without the handlers that the first one knows",
	Fix:        "Keep the declared capabilities in one place, and send them with every request or initialize.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		pairs := repeatedCalls(s)
		if s.Revision.Modern() {
			pairs = calls(s)
		}
		for _, p := range pairs {
			if missing := less(p.before.Capabilities, p.after.Capabilities, ""); missing != "" {
				return check.Fail("expected %s to declare %s like the one before, found it missing", p.after.Method, missing).
					ShowJSON(p.before.CapabilitiesAt(), p.before.Capabilities).
					ShowJSON(p.after.CapabilitiesAt(), p.after.Capabilities)
			}
		}
		if v := declaresLess(s, pairs); v != nil {
			return *v
		}
		if len(pairs) == 0 {
			return check.NotApplicable("the client declared its capabilities once")
		}
		return check.Pass("the client always declared the same capabilities")
	},
}

// declaresLess warns of the first request of 2026-07-28 that declares less than a call. It returns nil if no request
// does.
func declaresLess(s *evidence.Session, retried []pair) *check.Verdict {
	if !s.Revision.Modern() {
		return nil
	}
	isRetry := map[*evidence.ClientRequest]bool{} // which may declare more than its call
	for _, p := range retried {
		isRetry[p.after] = true
	}
	for _, a := range different(s, func(r *evidence.ClientRequest) bool {
		return replay.Carriers[r.Method] != "" && !isRetry[r]
	}) {
		for _, b := range different(s, func(*evidence.ClientRequest) bool { return true }) {
			missing := less(a.Capabilities, b.Capabilities, "")
			if missing == "" {
				continue
			}
			return check.Instead(check.Warn("expected %s to declare %s like %s, found it missing", b.Method, missing, a.Method).
				ShowJSON(a.CapabilitiesAt(), a.Capabilities).ShowJSON(b.CapabilitiesAt(), b.Capabilities))
		}
	}
	return nil
}

// different returns the first wanted request with each value of the capabilities, in order.
func different(s *evidence.Session, wanted func(*evidence.ClientRequest) bool) []*evidence.ClientRequest {
	var first []*evidence.ClientRequest
	seen := map[string]bool{}
	for i := range s.Requests {
		if r := &s.Requests[i]; wanted(r) && !seen[string(r.Capabilities)] {
			seen[string(r.Capabilities)] = true
			first = append(first, r)
		}
	}
	return first
}

// pair is two requests of which the later must declare what the earlier declares.
type pair struct{ before, after *evidence.ClientRequest }

// calls returns each call of 2026-07-28 with each of its retries.
func calls(s *evidence.Session) []pair {
	by := map[trace.Ref]*evidence.ClientRequest{}
	for i := range s.Requests {
		by[s.Requests[i].Ref] = &s.Requests[i]
	}
	var pairs []pair
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			for from, retry := range retries(ev) {
				before, after := by[from.Ref], by[retry.Ref]
				if before != nil && after != nil {
					pairs = append(pairs, pair{before, after})
				}
			}
		}
	}
	return pairs
}

// repeatedCalls returns each initialize that follows one after which the client called a tool, and
// is followed by a call.
func repeatedCalls(s *evidence.Session) []pair {
	var pairs []pair
	var before, latest *evidence.ClientRequest
	for i := range s.Requests {
		switch r := &s.Requests[i]; r.Method {
		case "initialize":
			latest = r
		case "tools/call":
			if before != nil && latest != nil && latest != before {
				pairs = append(pairs, pair{before, latest})
			}
			if latest != nil {
				before = latest
			}
		}
	}
	return pairs
}

// less returns the path of the first member of one object that is missing in another one; "" if none is.
func less(before, after json.RawMessage, path string) string {
	was, is := evidence.ObjectOf(before), evidence.ObjectOf(after)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		at := (evidence.Place{Path: path}).At(name).Path
		switch {
		case !was.Has(name):
		case !is.Has(name):
			return at
		default:
			if missing := less(was[name], is[name], at); missing != "" {
				return missing
			}
		}
	}
	return ""
}
