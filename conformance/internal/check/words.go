package check

import "regexp"

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
)
