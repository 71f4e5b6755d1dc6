package llm

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// question is a request in its second turn with two results.
func question() *Request {
	result := func(s string) Block {
		return Block{Type: dialect.ToolResult, Content: []Block{Text(s)}}
	}
	return &Request{
		Dialect: "native", Model: "small", System: "be brief", ToolChoice: "auto",
		Messages: []Message{
			{Role: dialect.User, Content: []Block{Text("what is the weather?")}},
			{Role: dialect.Assistant, Content: []Block{Call("get_weather", "{}")}},
			{Role: dialect.User, Content: []Block{result("18°C"), result("15°C")}},
			{Role: dialect.User, Content: []Block{Text("well?")}},
		},
		Tools: []Tool{{Name: "get_weather"}, {Name: "get_time"}},
	}
}

func TestMatchersReportDifferences(t *testing.T) {
	for _, c := range []struct {
		matcher Matcher
		name    string
		want    string // "" for a match
	}{
		{LastUser("well?"), `LastUser("well?")`, ""},
		{LastUser("15°C"), `LastUser("15°C")`, ""},
		{LastUser("weather"), `LastUser("weather")`,
			`the last user turn is "18°C\n15°C\nwell?", expected it to contain "weather"`},
		{System("brief"), `System("brief")`, ""},
		{System("long"), `System("long")`, `the system prompt is "be brief", expected it to contain "long"`},
		{ToolResults(2), "ToolResults(2)", ""},
		{ToolResults(1), "ToolResults(1)", "the number of tool results in the last user turn is 2, expected 1"},
		{Turn(2), "Turn(2)", ""},
		{Turn(1), "Turn(1)", "the turn is 2, expected 1"},
		{Offers("get_time"), `Offers("get_time")`, ""},
		{Offers("x"), `Offers("x")`, `the tools offered are "get_weather, get_time", expected "x" among them`},
		{Choice("auto"), `Choice("auto")`, ""},
		{Choice("none"), `Choice("none")`, `the tool choice is "auto", expected "none"`},
		{Model("small"), `Model("small")`, ""},
		{Model("large"), `Model("large")`, `the model is "small", expected "large"`},
		{Dialect("native"), `Dialect("native")`, ""},
		{Dialect("openai-chat"), `Dialect("openai-chat")`, `the dialect is "native", expected "openai-chat"`},
		{MatcherFunc(func(*Request) error { return errors.New("too hot") }), "llm.MatcherFunc", "too hot"},
	} {
		require.Equal(t, "When("+c.name+")", When(c.matcher).String())
		if err := c.matcher.Match(question()); c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.want)
		}
	}
	require.EqualError(t, Offers("x").Match(&Request{}), `no tools are offered, expected "x"`)
}

func TestDifferencesAreShortened(t *testing.T) {
	r := &Request{System: strings.Repeat("ö", 1000)}
	err := System("x").Match(r)
	require.Contains(t, err.Error(), strings.Repeat("ö", 160)+`…"`)
	require.Less(t, len(err.Error()), 500)
}
