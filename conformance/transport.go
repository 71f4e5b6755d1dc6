package conformance

import "slices"

// The ways in which messages travel: over a pipe, in batches, in the version that both sides know.
var transports = Scenario{
	ID:        "transport",
	Purpose:   "how messages travel: over stdio, in batches, in a version that both sides speak",
	Revisions: Known(),
	Cases:     slices.Concat(stdioCases, batchCases, versionCases),
	Checks:    slices.Concat(stdioChecks, batchChecks, versionChecks),
}
