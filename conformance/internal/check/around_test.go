package check_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// told are the steps as lines, those with evidence marked.
func told(r *report.Result) []string {
	var lines []string
	for _, s := range r.Around {
		line := fmt.Sprintf("%s > %s: %s", s.From, s.To, s.Text)
		if s.Marked {
			line = "* " + line
		}
		lines = append(lines, line)
		for _, x := range s.Excerpts {
			lines = append(lines, "  "+string([]rune(x.Text)[x.Start:x.Start+x.Length]))
		}
	}
	return lines
}

func TestAFailureTellsWhatWentOnAroundTheEvidence(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.OpenAIChat,
		"basic/question").Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).
		Answers(tracetest.With(tracetest.Saying(story.Answer), "role", `"user"`))
	s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
	require.Equal(t, []string{
		"model > client: 200",
		"* client > server: result, id 1001",
		`  "user"`,
		"server > client: result, id 7",
	}, told(s.Result("always/role-assistant")))
}

func TestTheNextEraTellsOfRetries(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20260728, dialect.Native,
		"basic/question").Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).
		Answers(tracetest.Without(tracetest.Saying(story.Answer), "model"))
	require.Equal(t, []string{
		"model > client: 200",
		"* client > server: tools/call again with its inputResponses, id 8",
		"  }",
	}, told(s.Result("always/has-model")))
}

func TestWhatKeptAModelFromAnsweringIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		end  trace.ModelEnd
		says string
	}{
		"refused":         {trace.ModelEnd{Status: 400, Refused: "no max_tokens"}, "400, refused: no max_tokens"},
		"no rule matches": {trace.ModelEnd{Status: 404, Unmatched: "no rule"}, "404, no rule matches: no rule"},
		"hung up":         {trace.ModelEnd{Status: 200, HungUp: true}, "nothing more: the client hung up"},
		"a stream":        {trace.ModelEnd{Status: 200, Stream: true}, "200, a stream"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native,
				"basic/question").Asks(tracetest.Asking(story.Question))
			s.Prompt(string(jsonvalue.Marshal(tracetest.Asking(story.Question))), c.end)
			s.Refuses(-32603, "the model failed")
			require.Equal(t, []string{
				"client > server: tools/call, id 7",
				"* server > client: sampling/createMessage, id 1001",
				"client > model: POST /native",
				"model > client: " + c.says,
				"client > server: error response -32603, id 1001: the model failed",
			}, told(s.Result("basic/answered")))
		})
	}
}

// Through a gateway, what passed at its front while the case ran is told, too.
func TestAFailureTellsWhatPassedAtTheFrontOfAGateway(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	front := func(dir trace.Direction, name string) {
		s.Add("", trace.Event{Front: &trace.Frame{Dir: dir, Raw: fmt.Appendf(nil, `{"id":5,"method":%q}`, name)}})
	}
	front(trace.FromClient, "tools/call")
	s.Add("barrier", trace.Event{Mark: &trace.Mark{Name: trace.MarkOutcome}}) // what was before is not of the case
	s.Asks(tracetest.Asking(story.Question))
	front(trace.ToClient, "sampling/createMessage")
	front(trace.FromClient, "ping")
	s.Refuses(-32603, "the model failed")
	require.Equal(t, []string{
		"gateway > server: tools/call, id 7",
		"* server > gateway: sampling/createMessage, id 1001",
		"gateway > client: sampling/createMessage, id 5",
		"client > gateway: ping, id 5",
		"gateway > server: error response -32603, id 1001: the model failed",
	}, told(s.Result("basic/answered")))
}

func TestWhatPassesTellsNothingMore(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native,
		"basic/question").Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).
		Answers(tracetest.Saying(story.Answer))
	require.Empty(t, s.Result("always/role-assistant").Around)
}

func TestFramesInWords(t *testing.T) {
	for want, f := range map[string]trace.Frame{
		"GET":                       {HTTP: &trace.HTTP{Method: "GET"}},
		"HTTP 202":                  {HTTP: &trace.HTTP{Status: 202}},
		"ends the stream":           {Closed: true},
		"notifications/initialized": {Raw: trace.Bytes(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)},
		"HTTP 400, error response -32600, no id: no": {HTTP: &trace.HTTP{Status: 400},
			Raw: trace.Bytes(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`)},
		"result (input_required), id 3": {Raw: trace.Bytes(`{"jsonrpc":"2.0","id":3,` +
			`"result":{"resultType":"input_required"}}`)},
		"invalid JSON-RPC: nonsense": {Raw: trace.Bytes("nonsense")},
		`sampling/createMessage, id "a" (the stream was gone)`: {Raw: trace.Bytes(`{"jsonrpc":"2.0","id":"a",` +
			`"method":"sampling/createMessage"}`), Lost: true},
	} {
		require.Equal(t, want, check.DescribeFrame(&f))
	}
}

func TestWhatFollowsTheEndOfAClientIsNotTheClientsDoing(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.OpenAIChat,
		"basic/question").Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).
		Answers(tracetest.With(tracetest.Saying(story.Answer), "role", `"user"`))
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkEnding}})
	s.Add(s.CaseID, trace.Event{Call: 1, Frame: &trace.Frame{Dir: trace.FromClient, Closed: true}})
	require.Contains(t, told(s.Ends(trace.Process{Deadline: true}).Result("always/role-assistant")),
		"client > server: ends the stream, because the harness ended the client")
}
