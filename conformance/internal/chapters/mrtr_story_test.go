package chapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/mrtr"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// mrtrTest is a story of 2026-07-28 and the verdict of a check of this chapter.
type mrtrTest struct {
	check, caseID, name string
	verdict             report.Verdict
	message             string
	steps               []step
}

func mrtrRun(t *testing.T, tests []mrtrTest) {
	var all []tracetest.Test
	for _, c := range tests {
		all = append(all, tracetest.Test{Name: c.name, Check: "mrtr/" + c.check, CaseID: c.caseID, In: tracetest.InB,
			Dialects: tracetest.Native, Verdict: c.verdict, Message: c.message, Steps: inOrder(c.steps...)})
	}
	tracetest.Run(t, check.Catalogue{mrtr.Scenario}, all)
}

// mrtrResult is the result of the request with the id. Its members are without the braces.
func mrtrResult(id int, members string) step {
	return func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{%s}}`, id, members))
	}
}

// asks is a result that asks for input. Its members each end in a comma.
func asks(id int, members string) step {
	return mrtrResult(id, members+`"resultType":"input_required"`)
}

// calls is a call of the tool with the id. Its members each begin with a comma.
func calls(id any, members string) step {
	return func(s *session) {
		if !strings.Contains(members, `"arguments"`) {
			members = `,"arguments":{}` + members
		}
		s.Frame(s.CaseID, trace.FromClient, 0,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{%s"name":"x"%s}}`, id, s.Meta(), members))
	}
}

// inputs are inputRequests for samples under the keys.
func inputs(keys ...string) string {
	var members []string
	for _, key := range keys {
		members = append(members,
			fmt.Sprintf(`%q:{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, key))
	}
	return `"inputRequests":{` + strings.Join(members, ",") + `},`
}

// gives are the inputResponses of a retry, with a result under each key.
func gives(keys ...string) string {
	var members []string
	for _, key := range keys {
		members = append(members, fmt.Sprintf("%q:%s", key, tracetest.Saying("Yes.")))
	}
	return givesRaw(`{` + strings.Join(members, ",") + `}`)
}

func givesRaw(responses string) string { return `,"inputResponses":` + responses }

// The requestState of a result, and of a retry.
func state(s string) string     { return fmt.Sprintf(`"requestState":%q,`, s) }
func withState(s string) string { return fmt.Sprintf(`,"requestState":%q`, s) }

func mrtrPassesBarrier(s *session) { s.PassesBarrier() }

func mrtrPrompts(s *session) {
	s.Prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 200})
}

func handlerEnds(s *session) { s.Marks(trace.MarkHandlerEnded, "") }
