package conformance

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestThoughtsStayWithTheClient(t *testing.T) {
	const check, caseID = "basic/thinking-apart", "thinking"
	told := func(result string) func(*story) {
		return func(s *story) {
			s.asks(asking("Name a colour.")).prompt(`{"model":"m","stream":false,"messages":[{"role":"user","content":"Name a colour."}]}`, trace.ModelEnd{Status: 200}).answers(result)
		}
	}
	ollama := []string{dialect.Ollama}
	hold(t, catalogue, []telling{
		{name: "they do", check: check, caseID: caseID, dialects: ollama, tell: told(saying("Teal.")), verdict: report.Pass, message: "the server was not told what the model thought"},
		{name: "the client has a word of its own", check: check, caseID: caseID, dialects: ollama, tell: told(saying("The model thought about it. Teal.")), verdict: report.Pass,
			message: "the server was not told what the model thought"},
		{name: "they are told", check: check, caseID: caseID, dialects: ollama, tell: told(saying("<think>" + thought + "</think>Teal.")), verdict: report.Fail,
			message: "what the model thought was given to the server as if it had said it"},
		{name: "they are told in a block of their own", check: check, caseID: caseID, dialects: ollama, verdict: report.Fail,
			tell:    told(with(saying(""), "content", string(dialect.Marshal([]any{server.Text(thought), server.Text("Teal.")})))),
			message: "what the model thought was given to the server as if it had said it"},
		{name: "the model shows none", check: check, caseID: caseID, dialects: []string{dialect.Native}, verdict: report.NotApplicable,
			tell: func(s *story) {
				s.asks(asking("Name a colour.")).prompts(asking("Name a colour.")).answers(saying("Teal."))
			},
			message: "in native a model does not show what it thinks"},
	})
}
