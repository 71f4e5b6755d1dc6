package always_test

import (
	"cmp"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// catalogue has the rules, and the scenario of the cases on which the tests judge them.
var catalogue = check.Catalogue{always.Scenario, basic.Scenario}

// judges runs the tests of one rule. A test without a CaseID is about the case with the given one.
func judges(t *testing.T, rule, caseID string, tests ...tracetest.Test) {
	for i := range tests {
		tests[i].Check, tests[i].CaseID = always.ID+"/"+rule, cmp.Or(tests[i].CaseID, caseID)
	}
	tracetest.Run(t, catalogue, tests)
}

type (
	session = tracetest.Story
	test    = tracetest.Test
	steps   = tracetest.Steps
)

var (
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	warns        = tracetest.Warns
	inapplicable = tracetest.Inapplicable
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	inNative     = tracetest.InNative
	openAI       = tracetest.InOpenAI

	asked  = tracetest.Asking(story.Question)
	answer = tracetest.Saying(story.Answer)
)
