package tracetest

import (
	"cmp"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

// RunCheck is [Run] for tests of one check. A test without a CaseID is about the case with the given one.
func RunCheck(t *testing.T, catalogue check.Catalogue, checkID, caseID string, tests []Test) {
	for i := range tests {
		tests[i].Check, tests[i].CaseID = checkID, cmp.Or(tests[i].CaseID, caseID)
	}
	Run(t, catalogue, tests)
}
