package evidence_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
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
		"one": {[]dialect.Block{use("weather", "")}, []dialect.Block{result("weather", "")},
			[]string{first, first}},
		"two of a name": {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", ""),
			result("weather", "")}, []string{first, second, first, second}},
		"of two names": {[]dialect.Block{use("weather", ""), use("time", "")}, []dialect.Block{result("time", ""),
			result("weather", "")}, []string{first, "time, number 2 of turn 1", "time, number 2 of turn 1", first}},
		"ids": {[]dialect.Block{use("weather", "a"), use("weather", "b")}, []dialect.Block{result("weather", "b"),
			result("weather", "a")}, []string{"a", "b", "b", "a"}},
		"ids of one side": {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", "b"),
			result("weather", "a")}, []string{"b", "a", "b", "a"}},
		"of the other": {[]dialect.Block{use("weather", "a"), use("weather", "b")}, []dialect.Block{result("weather", ""),
			result("weather", "")}, []string{"a", "b", "a", "b"}},
		"one id in two": {[]dialect.Block{use("weather", "a"), use("weather", "")}, []dialect.Block{result("weather", ""),
			result("weather", "a")}, []string{"a", first, first, "a"}},
		"a result lost": {[]dialect.Block{use("weather", ""), use("weather", "")}, []dialect.Block{result("weather", "")},
			[]string{first, second, first}},
		"a result too many": {[]dialect.Block{use("weather", "")}, []dialect.Block{result("weather", ""),
			result("weather", "")},
			[]string{first, first, "weather, a result without a use, number 2 of turn 1"}},
		"another name": {[]dialect.Block{use("weather", "")}, []dialect.Block{result("time", "")},
			[]string{first, "time, a result without a use, number 2 of turn 1"}},
		"a foreign id":   {[]dialect.Block{use("weather", "a")}, []dialect.Block{result("weather", "b")}, []string{"a", "b"}},
		"without a name": {[]dialect.Block{use("weather", "a")}, []dialect.Block{result("", "")}, []string{"a", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			messages := []dialect.Message{{Role: dialect.User}, {Role: dialect.Assistant, Content: c.uses},
				{Role: dialect.User, Content: c.results}}
			evidence.Pair(messages)
			var got []string
			for _, b := range append(evidence.BlocksOf(messages, dialect.ToolUse), evidence.BlocksOf(messages,
				dialect.ToolResult)...) {
				got = append(got, b.ID)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// geminiTools are the tools of the request.
const geminiTools = `"tools":[{"functionDeclarations":[{"name":"get_weather",` +
	`"description":"Current weather in a city",` +
	`"parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}]`

// asGemini is the second round of two cities as a client puts it to Gemini: the responses as they are written.
func asGemini(responses string) string {
	return `{` + geminiTools + `,"contents":[{"role":"user","parts":[{"text":"What is the weather like there?"}]},
		{"role":"model","parts":[{"functionCall":{"name":"get_weather","args":{"city":"Paris"}}},
			{"functionCall":{"name":"get_weather","args":{"city":"London"}}}]},
		{"role":"user","parts":[` + responses + `]}]}`
}

func TestResultsThatGeminiIsGiven(t *testing.T) {
	const (
		asked  = `{` + geminiTools + `,"contents":[{"role":"user","parts":[{"text":"What is the weather like there?"}]}]}`
		warm   = `{"functionResponse":{"name":"get_weather","response":{"output":"eighteen degrees"}}}`
		mild   = `{"functionResponse":{"name":"get_weather","response":{"output":"fifteen degrees"}}}`
		worked = `{"functionResponse":{"name":"get_weather","response":{"output":"station seven reports"}}}`
		failed = `{"functionResponse":{"name":"get_weather","response":{"error":"station eight reports"}}}`
		silent = `{"functionResponse":{"name":"get_weather","response":{"output":"station eight reports"}}}`
	)
	told := func(results func([]server.ToolUseContent) []server.ToolResultContent,
		responses string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			uses := tracetest.TwoUses()
			s.Asks(tracetest.AskingForWeather()).Prompt(asked, trace.ModelEnd{Status: 200}).Answers(uses)
			s.Asks(tracetest.AskingForWeather().After(json.RawMessage(uses), results)).Prompt(asGemini(responses),
				trace.ModelEnd{Status: 200}).Answers(tracetest.Saying("so"))
		}
	}
	cities := story.Reversed(story.Texts("eighteen degrees", "fifteen degrees"))
	tellings := []tracetest.Test{
		{Name: "in the order of the calls", Check: "always/model-was-given", Steps: told(cities, warm+","+mild),
			Verdict: report.Pass},
		{Name: "in the order in which they came", Check: "always/model-was-given", Steps: told(cities, mild+","+warm),
			Verdict: report.Fail,
			Message: "expected the result of"},
		{Name: "under the name of no tool", Check: "always/model-was-given", Verdict: report.Fail,
			Steps:   told(cities, warm+","+strings.Replace(mild, "get_weather", "get", 1)),
			Message: "expected a result of get_weather in the model request, found one of get "},
		{Name: "both of one name", Check: "parallel/results-reach-model", Steps: told(cities, warm+","+mild),
			Verdict: report.Pass, Message: "all 2 results reached the model"},
		{Name: "one for the name", Check: "parallel/results-reach-model", Steps: told(cities, warm), Verdict: report.Fail,
			Message: "expected 2 tool results in the model request, found 1"},
		{Name: "an error by the API's own word", Check: "always/model-was-given", CaseID: "parallel/failing-tool",
			Steps: told(story.OneFails, worked+","+failed), Verdict: report.Pass},
		{Name: "an error like any other", Check: "always/model-was-given", CaseID: "parallel/failing-tool",
			Steps: told(story.OneFails, worked+","+silent), Verdict: report.Fail,
			Message: "no sign of the failure"},
	}
	for i := range tellings {
		tellings[i].Dialects = []string{dialect.Gemini}
		if tellings[i].CaseID == "" {
			tellings[i].CaseID = "parallel/two-cities"
		}
	}
	tracetest.Run(t, catalogue, tellings)
}
