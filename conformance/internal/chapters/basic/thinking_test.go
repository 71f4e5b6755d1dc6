package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestThoughtsStayWithTheClient(t *testing.T) {
	const check, caseID = "basic/thinking-apart", "thinking"
	told := func(result string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("Name a colour.")).Prompt(`{"model":"m","stream":false,"messages":[{"role":"user","content":"Name a colour."}]}`, trace.ModelEnd{Status: 200}).Answers(result)
		}
	}
	ollama := []string{dialect.Ollama}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they do", Check: check, CaseID: caseID, Dialects: ollama, Steps: told(tracetest.Saying("Teal.")), Verdict: report.Pass, Message: "the server was not told what the model thought"},
		{Name: "the client has a word of its own", Check: check, CaseID: caseID, Dialects: ollama, Steps: told(tracetest.Saying("The model thought about it. Teal.")), Verdict: report.Pass,
			Message: "the server was not told what the model thought"},
		{Name: "they are told", Check: check, CaseID: caseID, Dialects: ollama, Steps: told(tracetest.Saying("<think>" + thought + "</think>Teal.")), Verdict: report.Fail,
			Message: "what the model thought was given to the server as if it had said it"},
		{Name: "they are told in a block of their own", Check: check, CaseID: caseID, Dialects: ollama, Verdict: report.Fail,
			Steps:   told(tracetest.With(tracetest.Saying(""), "content", string(dialect.Marshal([]any{server.Text(thought), server.Text("Teal.")})))),
			Message: "what the model thought was given to the server as if it had said it"},
		{Name: "the model shows none", Check: check, CaseID: caseID, Dialects: []string{dialect.Native}, Verdict: report.NotApplicable,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("Name a colour.")).Prompts(tracetest.Asking("Name a colour.")).Answers(tracetest.Saying("Teal."))
			},
			Message: "in native a model does not show what it thinks"},
	})
}
