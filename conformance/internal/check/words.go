package check

import (
	"fmt"
	"regexp"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// HowToDeclare says how the driver of a client declares a feature. Only a client in process is written in Go.
func HowToDeclare(s *evidence.Session, feature string) string {
	for i := range s.Trace.Events {
		if p := s.Trace.Events[i].Process; p != nil && p.State == trace.Started && len(p.Argv) == 0 {
			return fmt.Sprintf("declare it with Env.Announce(%q)", feature)
		}
	}
	return fmt.Sprintf(`declare it with --has %s, or print {"mcp-conform":"supports","feature":%q}`, feature, feature)
}

// The words of clients and hosts, where nothing else tells: neither the protocol nor most providers have a member for
// these reasons. No pattern matches a message of ours.
var (
	// SaysError matches a text by which a client passes a failure on, for a provider without a flag for it.
	SaysError = regexp.MustCompile(`(?i)error|fail`)
	// SaysFailure matches a text by which a host tells its model or its user that something could not be done.
	SaysFailure = regexp.MustCompile(`(?i)error|fail|invalid|unknown|unable|cannot|can't|could not|couldn't|refus|` +
		`not (found|available|valid|allowed)|no such|exist|unexpected|unrecognized|unsupported|missing|denied|wrong|abort`)
	// tooMany matches an error by which a client says that it handles only so many requests at once.
	tooMany = regexp.MustCompile(
		`(?i)busy|concurren|parallel|in (progress|flight)|already|another|at a time|many|limit`)
	// tooOften matches an error by which a client says that it serves only so many requests in a time or a session.
	tooOften = regexp.MustCompile(`(?i)rate.?limit|too many (sampling )?requests|slow down|` +
		`(requests?|samples?|samplings?|calls?) (per|a|an|every|each) (\d+ )?(second|minute|hour|day|session)|` +
		`(request|sample|sampling|session) (budget|quota)|(sampling|session) limit|` +
		`(budget|quota) (is |was )?(reached|exceeded|exhausted|used up)|` +
		`(limit|maximum) of \d+ (sampling )?(requests|samples)`)
	// pausing matches an error by which a client says that it asks no model for a while, such as after failures.
	pausing = regexp.MustCompile(`(?i)circuit.{0,9}(breaker|open)|cool.?(ing.)?down|` +
		`try again (in|after) [\d.]+ ?(s\b|sec|ms\b|milli|min)`)
)
