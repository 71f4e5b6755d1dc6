package llm

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// said returns each request's reply text or error, in order.
func said(t *testing.T, rules []*Rule, requests ...*Request) []string {
	t.Helper()
	s, err := newScript("the server", 0, rules)
	require.NoError(t, err)
	var answers []string
	for _, r := range requests {
		rule, err := s.choose(r)
		if err != nil {
			answers = append(answers, err.Error())
		} else {
			answers = append(answers, rule.reply.Content[0].Text)
		}
	}
	return answers
}

func TestFirstMatchingRuleWithAnswersLeftAnswers(t *testing.T) {
	q := question()
	rules := []*Rule{
		When(Turn(1)).Reply(Text("one")),
		When(Turn(2), System("brief")).Reply(Text("two")).Times(1),
		When(LastUser("well")).Reply(Text("three")).Times(2),
		When(ToolResults(2)).Reply(Text("four")),
	}
	require.Equal(t, []string{"two", "three", "three", "four", "four"}, said(t, rules, q, q, q, q, q))
}

func TestMissNamesTheNearestRule(t *testing.T) {
	q := question()
	for _, c := range []struct {
		name  string
		rules []*Rule
		want  string
	}{
		{"no rules", nil, "no rule matches this request: the server has no rules"},
		{"one rule", []*Rule{When(Turn(1)).Reply()},
			"no rule of the server matches this request; the nearest of 1 is rule 1, When(Turn(1)): the turn is 2, expected 1"},
		{"fewest differences", []*Rule{When(Turn(1), System("x")).Reply(), When(Turn(1)).Reply()},
			"the nearest of 2 is rule 2, When(Turn(1)): the turn is 2, expected 1"},
		{"most that is right", []*Rule{When(Turn(1)).Reply(), When(System("brief"), Turn(1)).Reply()},
			`rule 2, When(System("brief"), Turn(1)): the turn is 2`},
		{"then the first", []*Rule{When(Turn(1)).Reply(), When(Turn(3)).Reply()}, "rule 1, When(Turn(1))"},
		{"the first difference", []*Rule{When(Turn(3), Turn(1)).Reply()}, "the turn is 2, expected 3"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Contains(t, said(t, c.rules, q)[0], c.want) })
	}
	spent := said(t, []*Rule{When(Turn(1)).Reply(), When(Turn(2)).Reply(Text("a")).Times(1)}, q, q)
	require.Equal(t, "no rule of the server matches this request; the nearest of 2 is rule 2, When(Turn(2)): it "+
		"matches, but has given its 1 answer", spent[1])
	spent = said(t, []*Rule{When().Reply(Text("a")).Times(2)}, q, q, q)
	require.Contains(t, spent[2], "rule 1, When(): it matches, but has given its 2 answers")
}

func TestInvalidRulesAreRefused(t *testing.T) {
	for _, c := range []struct {
		rule *Rule
		want string
	}{
		{nil, "rule 2 of the server is nil"},
		{When(), "rule 2 of the server says nothing: add Reply(…) or Fail(…)"},
		{When(nil).Reply(), "rule 2 of the server has a nil matcher"},
		{When().Reply().Fail(&Error{Status: 400}), "rule 2 of the server has both Reply and Fail: expected one of them"},
		{When().Fail(&Error{}), "rule 2 of the server fails with the status 0: expected one from 400 to 599"},
		{When().Fail(&Error{Status: 200}), "fails with the status 200"},
		{When().Reply().Times(0), "rule 2 of the server answers 0 times: expected at least 1"},
	} {
		_, err := Start(Options{}, When().Reply(), c.rule)
		require.ErrorContains(t, err, "starting the model server: ")
		require.ErrorContains(t, err, c.want)
	}
}

func TestUnusedRulesAreReported(t *testing.T) {
	s, err := newScript("mark abcdef", 0, []*Rule{
		When(Turn(1)).Reply(), When(Turn(1)).Reply().Optional(), When(Turn(2)).Reply().Times(1),
		When(Turn(2)).Reply().Times(3), When(Turn(2)).Reply(),
	})
	require.NoError(t, err)
	require.Len(t, s.unused(), 4)
	for range 3 {
		_, err := s.choose(question())
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"rule 1, When(Turn(1)) of mark abcdef was never used",
		"rule 4, When(Turn(2)) of mark abcdef answered 2 of 3 times",
		"rule 5, When(Turn(2)) of mark abcdef was never used",
	}, s.unused())
}

func TestRulesAreCopied(t *testing.T) {
	failure := &Error{Status: 400, Message: "no"}
	blocks := []Block{Text("a")}
	matchers := []Matcher{Turn(2)}
	rule := When(matchers...).Reply(blocks...).Times(1)
	blocks[0].Text, matchers[0] = "changed", Turn(9)
	failing := When().Fail(failure)
	require.Equal(t, []string{"a"}, said(t, []*Rule{rule}, question())[:1])
	s, err := newScript("x", 0, []*Rule{rule, failing})
	require.NoError(t, err)
	rule.Reply(Text("b")).Times(5)
	failure.Message = "changed"
	chosen, err := s.choose(question())
	require.NoError(t, err)
	require.Equal(t, "a", chosen.reply.Content[0].Text)
	chosen, err = s.choose(question())
	require.NoError(t, err)
	require.Equal(t, "no", chosen.fail.Message)
}

func TestAndLimitsACopyOfTheRule(t *testing.T) {
	rule := When(LastUser("well")).Reply(Text("a"))
	late := rule.And(Turn(9))
	require.Equal(t, []string{"b", "b"}, said(t, []*Rule{late, When().Reply(Text("b"))}, question(), question()))
	require.Equal(t, []string{"a"}, said(t, []*Rule{rule.And(), late}, question()))
	require.Equal(t, `When(LastUser("well"), Turn(9))`, late.String())
	require.Equal(t, `When(LastUser("well"))`, rule.String())
}

func TestTimesIsExactUnderConcurrency(t *testing.T) {
	s, err := newScript("x", 0, []*Rule{When().Reply().Times(20)})
	require.NoError(t, err)
	var wg sync.WaitGroup
	missed := make(chan string, 100)
	for range 50 {
		wg.Go(func() {
			if _, err := s.choose(question()); err != nil {
				missed <- err.Error()
			}
		})
	}
	wg.Wait()
	require.Len(t, missed, 30)
	require.Empty(t, s.unused())
}

// A matcher may read the journal.
func TestMatchersMayUseTheServer(t *testing.T) {
	var s *Server
	s = start(t, Options{}, When(MatcherFunc(func(*Request) error {
		if len(s.Requests()) == 1 && len(s.Unused()) == 1 {
			return nil
		}
		return errors.New("the server does not know this request")
	})).Reply(Text("seen")))
	require.Contains(t, post(s, "/native", `{}`).Body.String(), "seen")
	require.True(t, strings.HasPrefix(s.Journal()[0].Rule, "rule 1, When(llm.MatcherFunc) of the server"))
}

// Proxies add headers to every answer; some providers name the account in a header.
func TestHeaderAndAccountAreInEveryAnswer(t *testing.T) {
	rules := map[string]*Rule{
		"a reply":             When().Reply(Text("a text of several words, to be cut")),
		"a cut reply":         When().Reply(Text("a text of several words, to be cut")).Fault(TruncateAfter(1)),
		"an error":            When().Fail(&Error{Status: 429, Message: "slow down", Header: RetryAfter(3)}),
		"an error in a reply": When().Reply(Text("a")).Fault(ErrorAfter(1, &Error{Status: 500, Message: "broken"})),
	}
	const body = `"messages":[{"role":"user","content":"hi"}]}`
	for name, rule := range rules {
		for _, at := range []struct{ path, body, account string }{
			{chatPath, `{"model":"m","stream":true,` + body, "Openai-Organization"},
			{"/v1/messages", `{"model":"m","max_tokens":5,` + body, "Anthropic-Organization-Id"},
			{"/native", `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`, ""},
		} {
			t.Run(name+" at "+at.path, func(t *testing.T) {
				s := start(t, Options{Lenient: true},
					rule.Header(http.Header{"Set-Cookie": {"a=b; path=/"}}).Account("org-planted"))
				got := post(s, at.path, at.body).Header()
				require.Equal(t, "a=b; path=/", got.Get("Set-Cookie"))
				if at.account != "" {
					require.Equal(t, []string{"org-planted"}, got.Values(at.account))
				}
				if name == "an error" {
					require.Equal(t, "3", got.Get("Retry-After"))
				}
			})
		}
	}
	s := start(t, Options{}, When().Reply(Text("a")))
	got := post(s, chatPath, `{"model":"m",`+body).Header()
	require.Empty(t, got.Get("Set-Cookie")+got.Get("Openai-Organization"), "nothing is added unasked")
}
