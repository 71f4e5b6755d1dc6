package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const block = `{"type":"text","text":"hello"}`

func TestContentIsASingleBlockBeforeArrays(t *testing.T) {
	for _, revision := range tracetest.InOld {
		content := func(content string, verdict report.Verdict, message string) basicTest {
			one := basicRow(content, answers("content", content), verdict, message)
			one.In = []server.Revision{revision}
			return one
		}
		basicJudges(t, "no-array-before-a", "question",
			content(block, report.Pass, ""), content("null", report.Pass, ""),
			content("["+block+"]", report.Fail, "found ["), content("[]", report.Fail, "found []"))
	}
}
