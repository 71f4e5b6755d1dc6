package tracetest

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Steps tell a story.
type Steps = func(*Story)

// Judging returns a function that runs the tests of one check of the scenario. A test without a CaseID is about the
// case with the given one.
func Judging(scenario check.Scenario) func(t *testing.T, checkID, caseID string, tests ...Test) {
	return func(t *testing.T, checkID, caseID string, tests ...Test) {
		for i := range tests {
			tests[i].Check, tests[i].CaseID = scenario.ID+"/"+checkID, cmp.Or(tests[i].CaseID, caseID)
		}
		Run(t, check.Catalogue{scenario}, tests)
	}
}

// Row is a test in both eras and two dialects.
func Row(name string, do Steps, verdict report.Verdict, message string) Test {
	return Test{Name: name, Steps: do, Verdict: verdict, Message: message}
}

// A test for each verdict. The message may be omitted.
var (
	Passes       = giving(report.Pass)
	Fails        = giving(report.Fail)
	Warns        = giving(report.Warn)
	Informs      = giving(report.Info)
	Unobserved   = giving(report.NotObserved)
	Inapplicable = giving(report.NotApplicable)
	Unsupported  = giving(report.Unsupported)
)

func giving(verdict report.Verdict) func(name string, do Steps, message ...string) Test {
	return func(name string, do Steps, message ...string) Test {
		return Row(name, do, verdict, strings.Join(message, ""))
	}
}

// Legacy limits a test to 2025-11-25.
func Legacy(t Test) Test { return in(t, server.V20251125) }

// Modern limits a test to 2026-07-28.
func Modern(t Test) Test { return in(t, server.V20260728) }

func in(t Test, revision server.Revision) Test {
	t.In = []server.Revision{revision}
	return t
}

// InNative limits a test to the native dialect.
func InNative(t Test) Test { t.Dialects = Native; return t }

// InOpenAI limits a test to the dialect of OpenAI.
func InOpenAI(t Test) Test { t.Dialects = OpenAI; return t }

// Declaring is a test of a client that declares these capabilities.
func Declaring(capabilities string, t Test) Test { t.Declares = capabilities; return t }

// About is a test of another case than the others.
func About(caseID string, t Test) Test { t.CaseID = caseID; return t }
