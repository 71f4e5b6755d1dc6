package always_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/legitimate"
)

// weatherTalk is a history with two tools, a failed one among the results, and an image.
const weatherTalk = `{"maxTokens":100,"systemPrompt":"Be brief.","messages":[
{"role":"user","content":{"type":"text","text":"Warm in Köln and Paris?"}},
{"role":"assistant","content":[{"type":"text","text":"Let me look."},
 {"type":"tool_use","id":"a1","name":"get.weather","input":{"city":"Köln","n":9007199254740993,"o":{}}},
 {"type":"tool_use","id":"a2","name":"get.weather","input":{"city":"Paris"}}]},
{"role":"user","content":[{"type":"tool_result","toolUseId":"a2","content":[{"type":"text","text":"13 °C"}]},
 {"type":"tool_result","toolUseId":"a1","content":[{"type":"text","text":"unknown place"}],"isError":true}]},
{"role":"assistant","content":{"type":"text","text":"Mild there."}},
{"role":"user","content":[{"type":"text","text":"See this:"},{"type":"image","mimeType":"image/png","data":"AAECAwQF"},
 {"type":"text","text":"And then?"}]}],
"tools":[{"name":"get.weather","description":"Looks it up","inputSchema":{"type":"object","properties":{
 "city":{"type":"string"},"unit":{"anyOf":[{"type":"string"},{"type":"array"}]}},"required":["city"]}},
 {"name":"stop","inputSchema":{"type":"object","properties":{}}}],"toolChoice":{"mode":"none"}}`

// otherResults has results with other content than a text.
const twoTexts = `{"maxTokens":100,"messages":[
{"role":"user","content":{"type":"text","text":"What does it say?"}},
{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},
{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"text","text":"It rains there."},
 {"type":"text","text":"A second text, which says it of Köln."}]}]}],
"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`

const otherResults = `{"maxTokens":100,"messages":[
{"role":"user","content":{"type":"text","text":"What do they say?"}},
{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}},
 {"type":"tool_use","id":"b2","name":"stop","input":{}},{"type":"tool_use","id":"b3","name":"stop","input":{}},
 {"type":"tool_use","id":"b4","name":"stop","input":{}},{"type":"tool_use","id":"b5","name":"stop","input":{}}]},
{"role":"user","content":[
 {"type":"tool_result","toolUseId":"b1","content":[],"structuredContent":{"sky":["blue",1.5]}},
 {"type":"tool_result","toolUseId":"b2","content":[{"type":"text","text":"a map"},
  {"type":"image","mimeType":"image/png","data":"AAECAwQF"}]},
 {"type":"tool_result","toolUseId":"b3","content":[{"type":"resource_link","uri":"weather:nine","name":"nine"},
  {"type":"resource","resource":{"uri":"weather:log","text":"noon"}}]},
 {"type":"tool_result","toolUseId":"b4","content":[]},
 {"type":"tool_result","toolUseId":"b5","content":[{"type":"text","text":"{\"rain\":\"10 mm\"}"}],
  "structuredContent":{"rain":"10 mm"}}]}],
"tools":[{"name":"stop","inputSchema":{"type":"object","properties":{}}}],"toolChoice":{"mode":"required"}}`

// onePoint is a PNG image of one point, onePointAnew the same encoded anew, and otherPoint of another colour.
const (
	onePoint     = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADklEQVR42mJiBwQAAP//AA0ACnDtW+QAAAAASUVORK5CYII="
	onePointAnew = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAAEklEQVR4AQACAP3/AAcBAAD//wAJAAiNFgDkAAAAAElFTkSuQmCC"
	otherPoint   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADklEQVR42mLiAAQAAP//AA4AC5CR+80AAAAASUVORK5CYII="
)

const pointTalk = `{"maxTokens":100,"messages":[{"role":"user","content":{"type":"image","mimeType":"image/png",` +
	`"data":"` + onePoint + `"}}]}`

// picture is an image that providers accept.
const picture = `{"maxTokens":100,"messages":[{"role":"user","content":{"type":"image","mimeType":"image/gif",` +
	`"data":"R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs="}}]}`

const audioTalk = `{"maxTokens":100,"messages":[
{"role":"user","content":{"type":"audio","mimeType":"audio/x-wav","data":"AAECAwQF"}}]}`

// given is a request to the model that differs from the correct one.
type given struct {
	name string
	// legal is the change of the list that allows it; "" for a fault, which has the path at the end of its message.
	legal, path string
	// kind is that of the difference.
	kind    string
	dialect string
	params  string
	// edits are texts of the correct body and what is there instead, in turn.
	edits edits
	// refused says why the model refused the request.
	refused string
}

type edits []string

// correctBody returns the request of the built-in client.
func correctBody(t *testing.T, d, params string) string {
	t.Helper()
	var body []byte
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		return nil, errors.New("enough")
	})
	p, err := jsonvalue.ReadObject([]byte(params))
	require.NoError(t, err)
	m := model.New(model.Options{Dialect: d, URL: "http://model", HTTP: &http.Client{Transport: transport}, Plain: true})
	_, err = m.Sample(context.Background(), p)
	require.Error(t, err)
	require.NotEmpty(t, body, err)
	return string(body)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (g given) test(t *testing.T) tracetest.Test {
	t.Helper()
	params, body := g.params, ""
	if params == audioTalk && (g.dialect == dialect.Anthropic || g.dialect == dialect.Ollama) {
		body = g.edits[0]
	} else {
		body = correctBody(t, g.dialect, params)
		for i := 0; i < len(g.edits); i += 2 {
			require.Contains(t, body, g.edits[i], g.name)
			body = strings.Replace(body, g.edits[i], g.edits[i+1], 1)
		}
	}
	do := func(s *session) {
		end := trace.ModelEnd{Status: 200}
		if g.refused != "" {
			end = trace.ModelEnd{Status: 400, Refused: g.refused}
		}
		s.Asks(json.RawMessage(params)).Prompt(body, end).Answers(answer)
	}
	test := tracetest.Row(g.dialect+": "+g.name, do, report.Pass, "")
	switch g.legal {
	case "":
		test.Verdict, test.Message = report.Fail, g.path
	case "one text with the history", "rounded numbers":
		test.Verdict = report.Warn
	}
	test.Fix = always.Kinds[0][g.kind]
	test.Dialects, test.In = []string{g.dialect}, []server.Revision{server.V20251125}
	return test
}

const chat, responses, anthropic, gemini, ollama, native = dialect.OpenAIChat, dialect.OpenAIResponses,
	dialect.Anthropic, dialect.Gemini, dialect.Ollama, dialect.Native

func TestTheModelIsGivenWhatTheServerSent(t *testing.T) {
	var all []tracetest.Test
	kinds := maps.Clone(always.Kinds[0])
	delete(kinds, "foreign-text") // has its own test
	var known []string
	for _, c := range legitimate.On(legitimate.Model) {
		known = append(known, c.Change)
	}
	unused := slices.Clone(known)
	for _, d := range []string{chat, responses, anthropic, gemini, ollama, native} {
		all = append(all, given{name: "a talk", legal: "-", dialect: d, params: weatherTalk}.test(t),
			given{name: "results", legal: "-", dialect: d, params: otherResults}.test(t))
	}
	all = append(all, given{name: "no images", legal: "-", dialect: chat, params: weatherTalk,
		refused: "image_url is only supported by certain models"}.test(t),
		given{name: "a name", legal: "-", dialect: chat, params: weatherTalk,
			refused: "'messages[2].tool_calls[0].function.name' does not match the pattern"}.test(t),
		given{name: "no provider accepts it", legal: "-", dialect: chat, params: oddNames,
			refused: "want them in every object schema, \"properties\": {}"}.test(t),
		given{name: "the form of an image", path: "it refused: invalid value", dialect: chat, params: picture,
			refused: "invalid value: ''. Supported values are: 'text' and 'image_url'"}.test(t),
		given{name: "no media but immediately", path: "it refused: messages.1", dialect: chat, params: picture,
			refused: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a"}.test(t),
		given{name: "refused", path: "it refused: unknown tool type", dialect: chat, params: shortTalk,
			refused: "unknown tool type"}.test(t))
	for _, g := range slices.Concat(legalChanges, faults) {
		if g.params == "" {
			g.params = weatherTalk
		}
		if g.legal != "" {
			require.Contains(t, known, g.legal)
			unused = slices.DeleteFunc(unused, func(change string) bool { return change == g.legal })
		}
		all = append(all, g.test(t))
		delete(kinds, g.kind)
	}
	require.Empty(t, kinds, "every kind of difference needs a test")
	require.Empty(t, unused, "every legitimate change needs a test")
	judges(t, "model-was-given", "basic/question", all...)
}

// One request can show several bugs, and the rounds behind it more: each kind of difference has a finding.
func TestEachKindOfDifferenceInACaseIsNamed(t *testing.T) {
	lost := strings.NewReplacer(`"description":"Looks it up"`, `"description":""`, `"mode":"none"`, `"mode":"auto"`,
		`,"isError":true`, ``)
	s := tracetest.Begin(t, catalogue, server.V20251125, native, "basic/question")
	talk := json.RawMessage(weatherTalk)
	s.Asks(talk).Prompt(lost.Replace(weatherTalk), trace.ModelEnd{Status: 200}).Answers(answer)
	s.Asks(talk).Prompt(strings.Replace(weatherTalk, "Mild there.", "Mild.", 1), trace.ModelEnd{Status: 200}).
		Answers(answer)
	got := s.Result("always/model-was-given")
	kinds := []string{got.Difference}
	for _, f := range got.Others {
		require.NotEmpty(t, f.Fix)
		kinds = append(kinds, f.Difference)
	}
	require.Equal(t, []string{"changed-description", "lost-tool-choice", "lost-error", "changed-text"}, kinds)
	var cases []string
	for _, c := range got.Cases {
		require.Equal(t, "basic/question", c.Case)
		cases = append(cases, c.Difference)
	}
	require.Equal(t, kinds, cases)
}
