package chapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const promptMark = "mkprompted"

// asksOwn is a request of the host's own with tools, and its answer: the use of a tool, or a text.
func asksOwn(s *session, host bool, prompt, result, uses string, tools ...string) {
	s.Models++
	var offered []string
	for _, name := range tools {
		offered = append(offered, fmt.Sprintf(`{"type":"function","function":{"name":%q}}`, name))
	}
	messages := fmt.Sprintf(`{"role":"user","content":%q}`, prompt)
	if result != "" {
		messages += `,{"role":"assistant","tool_calls":[{"id":"a","type":"function",` +
			`"function":{"name":"x","arguments":"{}"}}]}` +
			fmt.Sprintf(`,{"role":"tool","tool_call_id":"a","content":%q}`, result)
	}
	body := fmt.Sprintf(`{"model":"m","messages":[%s],"tools":[%s]}`, messages, strings.Join(offered, ","))
	answer := `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Fine."}}]}`
	if uses != "" {
		answer = fmt.Sprintf(`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":`+
			`[{"id":"a","type":"function","function":{"name":%q,"arguments":"{}"}}]}}]}`, uses)
	}
	s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: s.Models, Dialect: dialect.OpenAIChat, Host: host,
		Method: "POST", Path: "/v1/chat/completions", Body: []byte(body)}})
	s.Add("", trace.Event{Chunk: &trace.ModelChunk{Exchange: s.Models, Data: []byte(answer)}})
	s.Add("", trace.Event{End: &trace.ModelEnd{Exchange: s.Models, Status: 200, Host: host}})
}

func TestWhyAHostCallsNoTool(t *testing.T) {
	const offered = "mcp__x__basic-question"
	prompted := func(s *session) { asksOwn(s, true, "Task "+promptMark, "", offered, offered) }
	for name, c := range map[string]struct {
		connects bool
		tell     func(*session)
		process  trace.Process
		message  string
		fix      string
		model    string
	}{
		"it asks nobody": {false, nil, trace.Process{}, "it asked neither the server nor the model for anything; it wrote " +
			"nothing; it ended with success", "--config-template", "received no request"},
		"it waits for a terminal": {false, nil, trace.Process{ExitCode: 1, Stderr: "the input device is not a TTY\n"},
			"it needs a terminal; it exited with status 1: the input device is not a TTY", "--pty", "received no request"},
		"it asks a question": {false, nil, trace.Process{Stdout: "Welcome\n\x1b[1mTrust this server? [y/N]\x1b[0m "},
			`it asks "Trust this server? [y/N]"; it ended with success`, "--answer", "received no request"},
		"it waits for input": {true, prompted, trace.Process{Deadline: true, Stdout: "Ready.\n> "},
			`it asks ">"; it was still running`, "--answer", ""},
		"it asks another model": {true, nil, trace.Process{Stdout: "bye\n"},
			"its model received no request; it ended with success", "OPENAI_BASE_URL", "received no request"},
		"it loses the task": {true, func(s *session) { asksOwn(s, false, "hi", "", "", "shell") },
			trace.Process{Stdout: "bye\n"}, "no request to its model has the task", "{prompt}",
			"POST /v1/chat/completions, tools shell without the task"},
		"it never connects": {false, func(s *session) { asksOwn(s, true, "Task "+promptMark, "", "", "shell") },
			trace.Process{Stdout: "bye\n"}, "it did not connect to the server before it asked its model", "{url}",
			"POST /v1/chat/completions, tools shell with the task"},
		"it hides the tools": {true, func(s *session) {
			asksOwn(s, true, "Task "+promptMark, "", "", "a", "b", "c", "d", "e")
		}, trace.Process{Stdout: "bye\n"}, "it did not offer the server's tools to its model", "Allow the tools",
			"POST /v1/chat/completions, 5 tools (a, b, c, d, …) with the task"},
		"it calls another tool or none": {true, prompted, trace.Process{Stdout: "bye\n"},
			"it did not call the tool " + offered + " that its model used; it ended", "Allow the server's tools", ""},
		"its user refuses": {true, func(s *session) {
			prompted(s)
			asksOwn(s, true, "Task "+promptMark, "Denied by policy.", "", offered)
		}, trace.Process{Stdout: "bye\n"}, "it did not call the tool " + offered + " that its model used, and told " +
			`the model "Denied by policy."`, "Allow the server's tools", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracetest.Unconnected(t, clientCatalogue, server.V20251125, dialect.Native, "basic/question")
			s.Trace.Header.PromptMark = promptMark
			check := "client/connects"
			if c.connects {
				s.Connects()
				check = "client/sampled"
			}
			if c.tell != nil {
				c.tell(s)
			}
			got := s.Ends(c.process).Result(check)
			require.Equal(t, report.Fail, got.Verdict)
			require.Contains(t, got.Message, c.message)
			require.Contains(t, got.Fix, c.fix)
			require.Equal(t, "model", got.Evidence[0].Label)
			require.Contains(t, got.Evidence[0].Text, c.model)
			require.LessOrEqual(t, strings.Count(string(report.Text(&report.Results{Results: []report.Result{*got}},
				report.TextOptions{})), "\n"), 15)
		})
	}
}

func TestAHostsOwnTurnsAreNoEvidenceAndTheOthersAreCounted(t *testing.T) {
	tell := func(own ...bool) *report.Results {
		s := questionOf(t, server.V20251125)
		s.Trace.Header.PromptMark = promptMark
		for _, host := range own {
			asksOwn(s, host, "hi", "", "")
		}
		tracetest.Right(s)
		rs, err := judge.Traces(clientCatalogue, []*trace.Trace{s.Ends(trace.Process{}).Trace}, nil)
		require.NoError(t, err)
		require.False(t, rs.Failed(false))
		return rs
	}
	require.Empty(t, tell(true, true).Notes)
	require.Equal(t, []string{"1 model request belongs to no sample; it is not judged"}, tell(true, false).Notes)
	require.Equal(t, []string{"2 model requests belong to no sample; they are not judged"}, tell(false, true, false).Notes)
}

func TestAHostThatAnswersFromItsOwnConversationFails(t *testing.T) {
	s := questionOf(t, server.V20251125)
	s.Trace.Header.PromptMark = promptMark
	s.Asks(tracetest.Asking(story.Question))
	asksOwn(s, true, "Task "+promptMark, "", "")
	s.Answers(tracetest.Saying("Fine."))
	got := s.Ends(trace.Process{}).Result("client/sampled")
	require.Equal(t, report.Fail, got.Verdict)
	require.Contains(t, got.Message, "found a request of the host's own conversation")
}
