package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestInvalidMarks(t *testing.T) {
	s := start(t, Options{})
	require.NoError(t, s.Script("abcdef1"))
	for mark, want := range map[string]string{
		"":          `mark "": expected at least 6 of a-z and 0-9`,
		"abcde":     `mark "abcde": expected at least 6 of a-z and 0-9`,
		"ABCDEF":    "expected at least 6 of a-z and 0-9",
		"abc-def":   "expected at least 6 of a-z and 0-9",
		"abcdefg\n": "expected at least 6 of a-z and 0-9",
		"abcdef1":   `mark "abcdef1" has a script already`,
		"abcdef":    `mark "abcdef": it contains the mark "abcdef1"`,
		"xabcdef1x": `mark "xabcdef1x": it contains the mark "abcdef1"`,
	} {
		require.ErrorContains(t, s.Script(mark, When().Reply()), want)
	}
	require.EqualError(t, s.Script("zzzzzz", When()), "rule 1 of mark zzzzzz says nothing: add Reply(…) or Fail(…)")
	require.NoError(t, s.Script("zzzzzz", When().Reply()), "a script that was refused does not take the mark")
}

func TestOwner(t *testing.T) {
	const a, b, c = "aaaaaa", "bbbbbb", "cccccc"
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	user := func(block string) string { return `{"role":"user","content":` + block + `}` }
	assistant := func(s string) string { return `{"role":"assistant","content":` + text(s) + `}` }
	messages := func(m ...string) string { return `"messages":[` + strings.Join(m, ",") + `]` }
	for _, tc := range []struct{ name, body, owner, marks string }{
		{"nobody", messages(user(text("hi"))), "", ""},
		{"text", messages(user(text("hi " + a + "."))), a, a},
		{"inside a word", messages(user(text("x_" + a + "x"))), a, a},
		{"another case is no mark", messages(user(text("AAAAAA"))), "", ""},
		{"the last one in the last turn", messages(user(text(b+a)), user(text(c+" "+b))), b, a + b + c},
		{"the last turn before the others", messages(user(text(a)), assistant(a), user(text(b))) + `,"systemPrompt":"` + c +
			`"`, b, a + b + c},
		{"a tool result", messages(user(text(a)), assistant("x"),
			user(`{"type":"tool_result","toolUseId":"u","content":[`+text(b)+`]}`)), b, a + b},
		{"a resource in a result",
			messages(user(`{"type":"tool_result","toolUseId":"u","content":[{"type":"resource_link","uri":"file:///` + b +
				`.txt"}]}`)), b, b},
		{"a block that nobody knows", messages(user(`{"type":"video","name":"` + b + `"}`)), b, b},
		{"the arguments of a use", messages(user(`{"type":"tool_use","id":"u","name":"n","input":{"k":"` + b + `"}}`)), b, b},
		{"the system prompt", messages(user(text("hi"))) + `,"systemPrompt":"` + a + `"`, a, a},
		{"a tool's name", messages(user(text("hi"))) + `,"tools":[{"name":"get_` + a + `"}]`, a, a},
		{"a tool's description", messages(user(text("hi"))) + `,"tools":[{"name":"t","description":"` + a + `"}]`, a, a},
		{"an earlier turn", messages(user(text(a)), assistant("x"), user(text("hi"))), a, a},
		{"an earlier turn before the system prompt", messages(user(text(a)), assistant("x"), user(text("hi"))) +
			`,"systemPrompt":"` + c + `"`, a, a + c},
		{"several elsewhere are nobody's", messages(user(text(a)), assistant(b), user(text("hi"))), "", a + b},
		{"refused", `"messages":"` + a + `"`, a, a},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var cases []string
			s := start(t, Options{Record: func(e trace.Event) trace.Ref {
				cases = append(cases, e.Case)
				return trace.Ref{}
			}})
			for _, mark := range []string{c, b, a} {
				require.NoError(t, s.Script(mark, When().Reply(Text(mark+"'s"))))
			}
			got := post(s, "/native", "{"+tc.body+"}")
			x := s.Journal()[0]
			require.Equal(t, tc.owner, x.Owner)
			require.Equal(t, tc.marks, strings.Join(x.Marks, ""))
			require.Equal(t, []string{tc.owner, tc.owner, tc.owner}, cases)
			if tc.name != "refused" && tc.owner != "" {
				require.Contains(t, got.Body.String(), tc.owner+"'s")
			}
		})
	}
}

func TestImageAddressMayContainAMark(t *testing.T) {
	s := start(t, Options{})
	require.NoError(t, s.Script("aaaaaa", When().Reply()))
	post(s, "/v1/chat/completions",
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/aaaaaa.png"}`+
			`}]}]}`)
	require.Equal(t, "aaaaaa", s.Journal()[0].Owner)
}

func TestOnlyTheirScriptAnswersMarkedRequests(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text("anybody's")))
	require.NoError(t, s.Script("aaaaaa", When(Turn(7)).Reply()))
	require.NoError(t, s.Script("bbbbbb"))
	ask := func(text string) string {
		return post(s, "/native", `{"messages":[{"role":"user","content":{"type":"text","text":"`+text+`"}}]}`).Body.String()
	}
	require.Contains(t, ask("hi"), "anybody's")
	require.Contains(t, ask("aaaaaa"),
		"no rule of mark aaaaaa matches this request; the nearest of 1 is rule 1, When(Turn(7)): the turn is 1, expected 7")
	require.Contains(t, ask("bbbbbb"), "no rule matches this request: mark bbbbbb has no rules")
	require.Equal(t, []string{"rule 1, When(Turn(7)) of mark aaaaaa was never used"}, s.Unused())
}

// A conversation's answers are the same in every run, whatever runs in parallel.
func TestIDsDependOnlyOnTheConversation(t *testing.T) {
	ids := func(others int) []string {
		s := start(t, Options{}, When().Reply(Call("t", "{}")))
		require.NoError(t, s.Script("aaaaaa", When().Reply(Call("t", "{}"))))
		seen := map[string]bool{}
		call := func(system string) string {
			var answer struct{ Content []struct{ ID string } }
			require.NoError(t, json.Unmarshal(post(s, "/native", `{"systemPrompt":"`+system+`"}`).Body.Bytes(), &answer))
			id := answer.Content[0].ID
			require.False(t, seen[id], "an id twice")
			seen[id] = true
			return id
		}
		var ids []string
		for range 3 {
			for range others {
				call("nobody's")
			}
			ids = append(ids, call("aaaaaa"))
		}
		return ids
	}
	require.Equal(t, ids(0), ids(2))
}
