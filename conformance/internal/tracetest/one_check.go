package tracetest

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

// RunCheck is [Run] for tests of one check, all on one case unless a test names another.
func RunCheck(t *testing.T, catalogue check.Catalogue, checkID, caseID string, tests []Test) {
	for i := range tests {
		tests[i].Check = checkID
		if tests[i].CaseID == "" {
			tests[i].CaseID = caseID
		}
	}
	Run(t, catalogue, tests)
}
