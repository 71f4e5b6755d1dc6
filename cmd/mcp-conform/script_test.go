package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

const everything = `
pace: {firstToken: 1ms, token: 10us, jitter: 0.5, seed: 7}
lenient: true
rules:
  - when: {lastUser: a, system: b, toolResults: 0, turn: 1, offers: t, choice: auto, model: m, dialect: openai-chat}
    reply:
      - text: "18°C"
      - {call: t, id: c1, arguments: {b: [1, 2.5], a: "x"}}
      - {call: t, arguments: '{"half'}
      - {call: t}
    header: {x-machine: seven}
    account: org-1
    stop: maxTokens
    model: other
    lateUse: true
    pace: {token: 20us}
    times: 2
    optional: true
    fault: {truncateInside: 2, splitAtRandom: 9, wrongContentType: text/html}
  - fail: {status: 429, message: slow, kind: k, code: c, param: p, retryAfter: 3, header: {x-own: y}}
    times: 1
  - {when: {turn: 2}, fault: {stallBeforeHeaders: true}}
  - {when: {turn: 3}, fault: {resetBeforeHeaders: true}}
  - {when: {turn: 4}, reply: [], fault: {stallAfter: 1, splitEveryByte: true}}
  - {when: {turn: 5}, reply: [], fault: {resetAfter: 0, drip: {bytes: 3, wait: 1s}}}
  - {when: {turn: 6}, reply: [], fault: {truncateAfter: 1}}
  - {when: {turn: 7}, reply: [], fault: {errorAfter: {events: 1, error: {status: 500, message: oops}}}}
  - when: {turn: 8}
    reply: [{thinking: hm, signature: Er==}, {call: t, signature: Es==}]
    fault: {spread: 10ms, pauseBefore: 1ms}
  - {when: {turn: 9}, reply: [{thinking: hm}], fault: {pauseAfter: {events: 1, pause: 1ms}}}
`

func TestAScriptCanExpressEveryRule(t *testing.T) {
	s, err := parseScript("s.yaml", []byte(everything))
	require.NoError(t, err)
	require.True(t, s.options.Lenient)
	require.Equal(t, llm.Pace{FirstToken: 1e6, Token: 1e4, Jitter: 0.5, Seed: 7}, s.options.Pace)
	for i, rule := range s.rules[2:] {
		require.Equal(t, fmt.Sprintf("when: {turn: %d}", i+2), rule.String())
	}
	header := llm.RetryAfter(3)
	header.Set("X-Own", "y")
	sealed := llm.Call("t", "{}")
	sealed.Signature = "Es=="
	for i, want := range map[int]*llm.Rule{
		0: llm.When(llm.LastUser("a"), llm.System("b"), llm.Offers("t"), llm.Choice("auto"), llm.Model("m"),
			llm.Dialect("openai-chat"), llm.ToolResults(0), llm.Turn(1)).
			Reply(llm.Text("18°C"), llm.CallID("c1", "t", `{"a":"x","b":[1,2.5]}`), llm.Call("t", `{"half`),
				llm.Call("t", "{}")).
			StopReason(llm.StopMaxTokens).Model("other").Header(http.Header{"X-Machine": {"seven"}}).Account("org-1").
			Fault(llm.TruncateInside(2), llm.SplitAtRandom(9), llm.WrongContentType("text/html")),
		1: llm.When().Fail(&llm.Error{Status: 429, Message: "slow", Kind: "k", Code: "c", Param: "p", Header: header}),
	} {
		const path, request = "/v1/chat/completions", `{"model":"m","tool_choice":"auto",` +
			`"tools":[{"type":"function","function":{"name":"t"}}],` +
			`"messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`
		want = want.Named(s.rules[i].String())
		require.Equal(t, answerTo(t, want, path, request), answerTo(t, s.rules[i], path, request))
	}
	for turn, want := range map[int]*llm.Rule{
		8: llm.When(llm.Turn(8)).Reply(llm.Thinking("hm", "Er=="), sealed).
			Fault(llm.Spread(10*time.Millisecond), llm.PauseBefore(time.Millisecond)),
		9: llm.When(llm.Turn(9)).Reply(llm.Thinking("hm", "")).Fault(llm.PauseAfter(1, time.Millisecond)),
	} {
		earlier := strings.Repeat(`{"role":"user","content":"a"},{"role":"assistant","content":"b"},`, turn-1)
		request := `{"model":"m","max_tokens":1,"messages":[` + earlier + `{"role":"user","content":"a"}]}`
		got := answerTo(t, s.rules[turn], "/v1/messages", request)
		require.Equal(t, answerTo(t, want.Named(s.rules[turn].String()), "/v1/messages", request), got)
		require.Contains(t, got, `"thinking"`)
	}
}

// answerTo returns what a rule answers, and what the journal says about it: rules hold functions and do not compare.
func answerTo(t *testing.T, r *llm.Rule, path, request string) string {
	t.Helper()
	server, err := llm.Start(llm.Options{Lenient: true}, r)
	require.NoError(t, err)
	defer server.Close()
	w := httptest.NewRecorder()
	post := httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(request))
	server.Handler().ServeHTTP(w, post)
	x := server.Journal()[0]
	answer := fmt.Sprint(w.Code, w.Header(), w.Body.String(), x.Rule, x.Fault, x.Miss)
	return second.ReplaceAllString(answer, "NOW")
}

// second matches the times in answers, which may be those of two seconds.
var second = regexp.MustCompile(`\b\d{10}\b|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func TestTheSchemaHasTheMembersOfTheFile(t *testing.T) {
	type object struct{ Properties map[string]json.RawMessage }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(scriptSchema), &schema))
	nested := func(name string) (o object) {
		require.NoError(t, json.Unmarshal(schema.Defs["fault"].Properties[name], &o))
		return o
	}
	for _, c := range []struct {
		object object
		read   any
	}{
		{schema.object, scriptFile{}}, {schema.Defs["rule"], scriptRule{}}, {schema.Defs["when"], scriptWhen{}},
		{schema.Defs["block"], scriptBlock{}}, {schema.Defs["usage"], scriptUsage{}},
		{schema.Defs["error"], scriptError{}},
		{schema.Defs["fault"], scriptFault{}}, {schema.Defs["pace"], scriptPace{}},
		{nested("errorAfter"), scriptErrorAfter{}}, {nested("drip"), scriptDrip{}},
		{nested("pauseAfter"), scriptPause{}},
	} {
		var described, read []string
		for name := range c.object.Properties {
			described = append(described, name)
		}
		of := reflect.TypeOf(c.read)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
			read = append(read, name)
		}
		slices.Sort(described)
		slices.Sort(read)
		require.Equal(t, read, described, of.Name())
	}
}

// schemaAccepts reports whether a script is valid by the schema.
func schemaAccepts(t testing.TB, text string) bool {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(scriptSchema))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("script.json", document))
	schema, err := compiler.Compile("script.json")
	require.NoError(t, err)
	return schema.Validate(asJSON(t, text)) == nil
}

// asJSON returns a YAML file as its schema sees it.
func asJSON(t testing.TB, text string) any {
	var value any
	require.NoError(t, yamlfile.Decode("file", []byte(text), &value))
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return value
}

func TestInvalidScriptsAreRefused(t *testing.T) {
	require.True(t, schemaAccepts(t, everything))
	const rule, empty, noRules = "rules:\n- ", "rules:\n- reply: []\n  ", "s.yaml: expected at least one rule"
	const oneKind, onlyCall = "2:11: rule 1 has an invalid block", "2:11: rule 1 has id or arguments without call"
	const duration = "3:17: expected a duration with a unit, such as 250ms, found "
	for text, want := range map[string]string{
		rule + "reply: [{tekst: a}]":                   `2:12: unknown field "tekst"`,
		rule + "reply: [{text: [a]}]":                  "2:18: expected a text, found a list",
		rule + "reply: [{}]":                           oneKind,
		rule + "reply: [{text: a, call: b}]":           oneKind,
		rule + "reply: [{text: a, id: b}]":             onlyCall,
		rule + "reply: [{thinking: a, arguments: {}}]": onlyCall,
		rule + "reply: [{text: a, signature: b}]":      "2:11: rule 1 has a text with signature",
		rule + "fail: {status: 200}":                   "2:3: rule 1 ",
		empty + "times: 0":                             "2:3: rule 1 ",
		empty + "times: often":                         "3:10: expected a whole number, found a text",
		empty + "pace: {token: 10}":                    duration + "10",
		empty + "pace: {token: 0}":                     duration + "0",
		empty + "pace: {token: fast}":                  duration + "fast",
		empty + "pace: {jitter: 2}":                    "2:3: rule 1 ",
		empty + "fault: {stallAfter: -1}":              "2:3: rule 1 ",
		empty + "optional: 1":                          "3:13: expected true or false, found a whole number",
		empty + "fault: {drip: {bytes: 1}}":            "2:3: rule 1 ",
		empty + "fault: {errorAfter: {}}":              "2:3: rule 1 ",
		empty + "fault: {errorAfter: [a]}":             "3:23: ",
		"rules:\n- reply: []\npace: {jitter: 2}":       "3:7: the script ",
		"rules: 7":                                     "1:8: ",
		"rules: []":                                    noRules,
		"lenient: true":                                noRules,
	} {
		_, err := parseScript("s.yaml", []byte(text))
		assert.ErrorContains(t, err, "s.yaml:")
		assert.ErrorContains(t, err, want)
		assert.False(t, schemaAccepts(t, text), text)
	}
	for text, want := range map[string]string{ // beyond the schema
		"": noRules,
		"rules: [": "1:8: did not find expected node content, while parsing a flow node\n" +
			">  1 | rules: [\n              ^",
		"rules:\n- reply: []\n---\na: 1":                  "s.yaml: expected one YAML document, found more",
		empty + "reply: []":                               `3:3: mapping key "reply" already defined at line 2`,
		empty + "fault: {spread: 0s}":                     "2:3: rule 1 ",
		empty + "fail: {status: 400}":                     "2:3: rule 1 ",
		rule + "reply: [{call: t, arguments: {a: .nan}}]": "2:11: rule 1 has arguments that JSON cannot hold",
	} {
		_, err := parseScript("s.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
	}
	_, err := readScript("missing.yaml")
	require.ErrorContains(t, err, "reading the script: open missing.yaml")
}

// A file is a valid script, or an error that names the file.
func FuzzScripts(f *testing.F) {
	for _, seed := range []string{everything, "rules:\n- reply: [{text: *a}]", "rules: [", "\x00", "a: &a [*a]", "? {}",
		"rules:\n- fault: {drip: {bytes: 1, wait: 1s}}\n  reply: []", "%YAML 9", "- \n-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScript("s.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, r := range s.rules {
			if err := r.Validate(); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

func TestInvalidUTF8IsRefusedAtItsPlace(t *testing.T) {
	_, err := parseScript("s.yaml", []byte("rules:\n  - reply: [{text: ü\xe9}]\n"))
	require.EqualError(t, err, "s.yaml:2:21: invalid UTF-8, the byte 0xe9: save the file as UTF-8")
}

func TestAScriptReportsUsage(t *testing.T) {
	const rule = "rules:\n  - reply: [{text: hi}]\n    usage: "
	s, err := parseScript("s.yaml", []byte(rule+"{input: 9, output: 3, cached: 4}\n"))
	require.NoError(t, err)
	answer := answerTo(t, s.rules[0], "/v1/responses", `{"model":"m","input":"hello"}`)
	require.Contains(t, fmt.Sprint(answer), `"total_tokens": 12`)
	_, err = parseScript("s.yaml", []byte(rule+"{input: 3, cached: 4}\n"))
	require.ErrorContains(t, err, "rule 1 reports the usage 3, 0, 4: expected no negative number, and not more cached")
}

func TestRulesThatNeverAnswerAreWarnedOf(t *testing.T) {
	const text = `rules:
  - when: {lastUser: weather}
    times: 1
    reply: [{text: one}]
  - when: {lastUser: weather, turn: 1}
    reply: [{text: two}]
  - when: {lastUser: wind}
    reply: [{text: three}]
  - when: {turn: 1, lastUser: the weather, model: m}
    reply: [{text: never}]
  - when: {turn: 2, lastUser: weather}
    reply: [{text: four}]
  - reply: [{text: five}]
  - when: {system: brief}
    reply: [{text: never}]
`
	s, err := parseScript("s.yaml", []byte(text))
	require.NoError(t, err)
	require.Equal(t, []string{
		"s.yaml:9: warning: rule 4 never answers, since rule 2 answers all its requests: move it up, or limit rule 2 " +
			"with times",
		"s.yaml:14: warning: rule 7 never answers, since rule 6 answers all its requests: move it up, or limit rule 6 " +
			"with times",
	}, s.warnings)
}

func TestServeCountsItsRules(t *testing.T) {
	model, err := llm.Start(llm.Options{})
	require.NoError(t, err)
	defer model.Close()
	for n, want := range map[int]string{1: "serving the rule of f until", 2: "serving the 2 rules of f until"} {
		var out strings.Builder
		require.NoError(t, printAddresses(&out, model, "f", "k", n))
		require.Contains(t, out.String(), want)
	}
}
