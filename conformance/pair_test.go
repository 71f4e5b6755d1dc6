package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestResultsWithoutIDsBelongToTheUsesOfTheirNameAndPlace(t *testing.T) {
	const first, second = "weather, number 1 of turn 1", "weather, number 2 of turn 1"
	use := func(name, id string) dialect.Block {
		return dialect.Block{Type: dialect.ToolUse, Name: name, ID: id}
	}
	result := func(name, id string) dialect.Block {
		return dialect.Block{Type: dialect.ToolResult, Name: name, ID: id}
	}
	for name, c := range map[string]struct {
		uses, results []dialect.Block
		want          []string // ids of the uses, then of the results
	}{
		"one":             {[]dialect.Block{use("weather", "")}, []dialect.Block{result("weather", "")}, []string{first, first}},
		"two of a name":   {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", ""), result("weather", "")}, []string{first, second, first, second}},
		"of two names":    {[]dialect.Block{use("weather", ""), use("time", "")}, []dialect.Block{result("time", ""), result("weather", "")}, []string{first, "time, number 2 of turn 1", "time, number 2 of turn 1", first}},
		"ids":             {[]dialect.Block{use("weather", "a"), use("weather", "b")}, []dialect.Block{result("weather", "b"), result("weather", "a")}, []string{"a", "b", "b", "a"}},
		"ids of one side": {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", "b"), result("weather", "a")}, []string{"b", "a", "b", "a"}},
		"of the other":    {[]dialect.Block{use("weather", "a"), use("weather", "b")}, []dialect.Block{result("weather", ""), result("weather", "")}, []string{"a", "b", "a", "b"}},
		"one id in two":   {[]dialect.Block{use("weather", "a"), use("weather", "")}, []dialect.Block{result("weather", ""), result("weather", "a")}, []string{"a", first, first, "a"}},
		"a result lost":   {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", "")}, []string{first, second, first}},
		"a result too many": {[]dialect.Block{use("weather", "")}, []dialect.Block{result("weather", ""), result("weather", "")},
			[]string{first, first, "weather, a result without a use, number 2 of turn 1"}},
		"another name":   {[]dialect.Block{use("weather", "")}, []dialect.Block{result("time", "")}, []string{first, "time, a result without a use, number 2 of turn 1"}},
		"a foreign id":   {[]dialect.Block{use("weather", "a")}, []dialect.Block{result("weather", "b")}, []string{"a", "b"}},
		"without a name": {[]dialect.Block{use("weather", "a")}, []dialect.Block{result("", "")}, []string{"a", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			messages := []dialect.Message{{Role: dialect.User}, {Role: dialect.Assistant, Content: c.uses}, {Role: dialect.User, Content: c.results}}
			pair(messages)
			var got []string
			for _, b := range append(turns(messages, dialect.ToolUse), turns(messages, dialect.ToolResult)...) {
				got = append(got, b.ID)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// asGemini is the second round of two cities as a client puts it to Gemini: the responses as they are written.
func asGemini(responses string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"What is the weather like there?"}]},
		{"role":"model","parts":[{"functionCall":{"name":"get_weather","args":{"city":"Paris"}}},{"functionCall":{"name":"get_weather","args":{"city":"London"}}}]},
		{"role":"user","parts":[` + responses + `]}]}`
}

func TestResultsThatGeminiIsGiven(t *testing.T) {
	const (
		asked  = `{"contents":[{"role":"user","parts":[{"text":"What is the weather like there?"}]}]}`
		warm   = `{"functionResponse":{"name":"get_weather","response":{"output":"eighteen degrees"}}}`
		mild   = `{"functionResponse":{"name":"get_weather","response":{"output":"fifteen degrees"}}}`
		worked = `{"functionResponse":{"name":"get_weather","response":{"output":"station seven reports"}}}`
		failed = `{"functionResponse":{"name":"get_weather","response":{"error":"station eight reports"}}}`
		silent = `{"functionResponse":{"name":"get_weather","response":{"output":"station eight reports"}}}`
	)
	told := func(results func([]server.ToolUseContent) []server.ToolResultContent, responses string) func(*story) {
		return func(s *story) {
			uses := twoUses()
			s.asks(askingForWeather()).prompt(asked, trace.ModelEnd{Status: 200}).answers(uses)
			s.asks(askingForWeather().After(json.RawMessage(uses), results)).prompt(asGemini(responses), trace.ModelEnd{Status: 200}).answers(saying("so"))
		}
	}
	cities := reversed(texts("eighteen degrees", "fifteen degrees"))
	tellings := []telling{
		{name: "in the order of the calls", check: "parallel/results-order", tell: told(cities, warm+","+mild),
			verdict: report.Pass, message: "every result stands under its own id"},
		{name: "in the order in which they came", check: "parallel/results-order", tell: told(cities, mild+","+warm), verdict: report.Fail,
			message: "the result for get_weather, number 2 of turn 1 was given to the model as the result for get_weather, number 1 of turn 1"},
		{name: "both of one name", check: "parallel/results-reach-model", tell: told(cities, warm+","+mild),
			verdict: report.Pass, message: "all 2 results reached the model"},
		{name: "one for the name", check: "parallel/results-reach-model", tell: told(cities, warm), verdict: report.Fail,
			message: "the server sent 2 tool results, and the model was given 1"},
		{name: "an error by the API's own word", check: "parallel/error-result", tell: told(oneFails, worked+","+failed),
			verdict: report.Pass, message: "the model can tell that the tool failed"},
		{name: "an error like any other", check: "parallel/error-result", tell: told(oneFails, worked+","+silent), verdict: report.Fail,
			message: "the model cannot tell the failed tool's result from the others"},
	}
	for i := range tellings {
		tellings[i].dialects = []string{dialect.Gemini}
		tellings[i].caseID = map[string]string{"parallel/error-result": "failing-tool"}[tellings[i].check]
		if tellings[i].caseID == "" {
			tellings[i].caseID = "two-cities"
		}
	}
	hold(t, catalogue, tellings)
}

func TestGeminisOwnRoundingIsNotTheClients(t *testing.T) {
	rounded := strings.Replace(booking, "9007199254740993", "9007199254740992", 1)
	for d, want := range map[string]report.Verdict{dialect.Gemini: report.Pass, dialect.OpenAIChat: report.Fail} {
		s := begin(t, catalogue, server.V20251125, d, "tool-use/one-tool")
		request := asking("Book a flight.", bookFlight)
		if d == dialect.Gemini {
			s.asks(request).prompt(`{"contents":[{"role":"user","parts":[{"text":"Book a flight."}]}]}`, trace.ModelEnd{Status: 200})
		} else {
			s.asks(request).prompts(request)
		}
		s.answers(wanting([3]string{"call_a", "book_flight", rounded}))
		require.Equal(t, want, s.result("tool-use/input-intact").Verdict, d)
	}
}
