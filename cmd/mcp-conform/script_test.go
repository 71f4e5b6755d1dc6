package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

const everything = `
pace: {firstToken: 1ms, token: 10us, jitter: 0.5, seed: 7}
lenient: true
rules:
  - when: {lastUser: a, system: b, toolResults: 0, turn: 1, offers: t, choice: auto, model: m, dialect: openai-chat}
    reply: [{text: "18°C"}, {call: t, id: c1, arguments: {b: [1, 2.5], a: "x"}}, {call: t, arguments: '{"half'}, {call: t}]
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
  - {when: {turn: 8}, reply: [{thinking: hm, signature: Er==}, {call: t, signature: Es==}], fault: {spread: 10ms, pauseBefore: 1ms}}
  - {when: {turn: 9}, reply: [{thinking: hm}], fault: {pauseAfter: {events: 1, pause: 1ms}}}
`

func TestAScriptCanExpressEveryRule(t *testing.T) {
	s, err := parseScript("s.yaml", []byte(everything))
	require.NoError(t, err)
	require.True(t, s.options.Lenient)
	require.Equal(t, llm.Pace{FirstToken: 1e6, Token: 1e4, Jitter: 0.5, Seed: 7}, s.options.Pace)
	same := func(want *llm.Rule, got *llm.Rule) {
		t.Helper()
		require.Equal(t, want.String(), got.String())
		// The journal names the faults, which are functions.
		answer := func(r *llm.Rule) (code int, header, body, journal string) {
			server, err := llm.Start(llm.Options{Lenient: true}, r)
			require.NoError(t, err)
			defer server.Close()
			w := httptest.NewRecorder()
			server.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/chat/completions", strings.NewReader(
				`{"model":"m","tool_choice":"auto","messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"t"}}]}`)))
			x := server.Journal()[0]
			return w.Code, fmt.Sprint(w.Header()), w.Body.String(), x.Rule + x.Fault + x.Miss
		}
		code, header, body, journal := answer(want)
		gotCode, gotHeader, gotBody, gotJournal := answer(got)
		require.Equal(t, []any{code, header, body, journal}, []any{gotCode, gotHeader, gotBody, gotJournal})
	}
	same(llm.When(llm.LastUser("a"), llm.System("b"), llm.Offers("t"), llm.Choice("auto"), llm.Model("m"), llm.Dialect("openai-chat"), llm.ToolResults(0), llm.Turn(1)).
		Reply(llm.Text("18°C"), llm.CallID("c1", "t", `{"a":"x","b":[1,2.5]}`), llm.Call("t", `{"half`), llm.Call("t", "{}")).StopReason(llm.StopMaxTokens).Model("other").
		Header(http.Header{"X-Machine": {"seven"}}).Account("org-1").
		Fault(llm.TruncateInside(2), llm.SplitAtRandom(9), llm.WrongContentType("text/html")), s.rules[0])
	header := llm.RetryAfter(3)
	header.Set("X-Own", "y")
	same(llm.When().Fail(&llm.Error{Status: 429, Message: "slow", Kind: "k", Code: "c", Param: "p", Header: header}), s.rules[1])
	for i, turn := range s.rules[2:] {
		require.Equal(t, fmt.Sprintf("When(Turn(%d))", i+2), turn.String())
	}
	thought := s.rules[8]
	sealed := llm.Call("t", "{}")
	sealed.Signature = "Es=="
	anew := llm.When(llm.Turn(8)).Reply(llm.Thinking("hm", "Er=="), sealed).Fault(llm.Spread(10*time.Millisecond), llm.PauseBefore(time.Millisecond))
	require.Equal(t, anthropicAnswer(t, anew, 8), anthropicAnswer(t, thought, 8))
	require.Contains(t, anthropicAnswer(t, thought, 8), `"signature":"Er=="`)
	paused := llm.When(llm.Turn(9)).Reply(llm.Thinking("hm", "")).Fault(llm.PauseAfter(1, time.Millisecond))
	require.Equal(t, anthropicAnswer(t, paused, 9), anthropicAnswer(t, s.rules[9], 9))
}

// anthropicAnswer returns the answer of a rule for the turn to Anthropic's clients, and its fault in the journal.
func anthropicAnswer(t *testing.T, r *llm.Rule, turn int) string {
	t.Helper()
	server, err := llm.Start(llm.Options{Lenient: true}, r)
	require.NoError(t, err)
	defer server.Close()
	history := strings.Repeat(`{"role":"user","content":"a"},{"role":"assistant","content":"b"},`, turn-1) + `{"role":"user","content":"a"}`
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/messages", strings.NewReader(`{"model":"m","max_tokens":1,"messages":[`+history+`]}`)))
	require.Equal(t, 200, w.Code, w.Body.String())
	return w.Body.String() + server.Journal()[0].Fault
}

func TestTheSchemaHasTheMembersOfTheFile(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage
	}
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
		{schema.object, scriptFile{}}, {schema.Defs["rule"], scriptRule{}}, {schema.Defs["when"], scriptWhen{}}, {schema.Defs["block"], scriptBlock{}},
		{schema.Defs["error"], scriptError{}}, {schema.Defs["fault"], scriptFault{}}, {schema.Defs["pace"], scriptPace{}},
		{nested("errorAfter"), scriptErrorAfter{}}, {nested("drip"), scriptDrip{}}, {nested("pauseAfter"), scriptPause{}},
	} {
		var described, read []string
		for name := range c.object.Properties {
			described = append(described, name)
		}
		of := reflect.TypeOf(c.read)
		for i := range of.NumField() {
			read = append(read, of.Field(i).Tag.Get("yaml"))
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
	raw, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	script, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	require.NoError(t, err)
	return schema.Validate(script) == nil
}

func TestInvalidScriptsAreRefused(t *testing.T) {
	require.True(t, schemaAccepts(t, everything))
	const oneKind, onlyCall = "rule 1 has an invalid block: use one of text, thinking and call",
		"rule 1 has id or arguments without call: use them with call only"
	const signature = "rule 1 has a text with signature: use it with thinking or call only"
	const duration, noRules = "expected a duration with a unit, such as 250ms, found ", "s.yaml: expected at least one rule under rules"
	for text, want := range map[string]string{
		"rules:\n- reply: [{tekst: a}]":                    `s.yaml:2:12: unknown field "tekst"`,
		"rules:\n- reply: [{text: [a]}]":                   "s.yaml:2:18: expected a text, found a list",
		"rules:\n- reply: [{}]":                            "s.yaml:2:11: " + oneKind,
		"rules:\n- reply: [{text: a, call: b}]":            "s.yaml:2:11: " + oneKind,
		"rules:\n- reply: [{text: a, id: b}]":              "s.yaml:2:11: " + onlyCall,
		"rules:\n- reply: [{thinking: a, arguments: {}}]":  "s.yaml:2:11: " + onlyCall,
		"rules:\n- reply: [{text: a, signature: b}]":       "s.yaml:2:11: " + signature,
		"rules:\n- reply: []\n  times: 0":                  "s.yaml:2:8: rule 1 ",
		"rules:\n- reply: []\n  times: often":              "s.yaml:3:10: expected a whole number, found a text",
		"rules:\n- reply: []\n  pace: {token: 10}":         "s.yaml:3:17: " + duration + "10",
		"rules:\n- reply: []\n  pace: {token: fast}":       "s.yaml:3:17: " + duration + "fast",
		"rules:\n- reply: []\n  pace: {jitter: 2}":         "s.yaml:2:8: rule 1 ",
		"rules:\n- reply: []\npace: {jitter: 2}":           "s.yaml:3:7: the script ",
		"rules:\n- reply: []\n  fault: {stallAfter: -1}":   "s.yaml:2:8: rule 1 ",
		"rules:\n- fail: {status: 200}":                    "s.yaml:2:7: rule 1 ",
		"rules: 7":                                         "s.yaml:1:8: ",
		"rules: []":                                        noRules,
		"lenient: true":                                    noRules,
		"rules:\n- reply: []\n  optional: 1":               "s.yaml:3:13: expected true or false, found a whole number",
		"rules:\n- reply: []\n  fault: {drip: {bytes: 1}}": "s.yaml:2:8: rule 1 ",
		"rules:\n- reply: []\n  fault: {errorAfter: {}}":   "s.yaml:2:8: rule 1 ",
		"rules:\n- reply: []\n  fault: {errorAfter: [a]}":  "s.yaml:3:23: ",
	} {
		_, err := parseScript("s.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
		assert.False(t, schemaAccepts(t, text), text)
	}
	for text, want := range map[string]string{ // not in the schema
		"":                                 noRules,
		"rules: [":                         "s.yaml:1:8: sequence end token ']' not found\n>  1 | rules: [\n              ^",
		"rules:\n- reply: []\n---\na: 1":   "s.yaml: expected one YAML document, found more",
		"rules:\n- reply: []\n  reply: []": `s.yaml:3:3: mapping key "reply" already defined at [2:3]`,
		"rules:\n- reply: [{call: t, arguments: {a: .nan}}]": "s.yaml:2:11: rule 1 has arguments that JSON cannot hold",
		"rules:\n- reply: []\n  fault: {spread: 0s}":         "s.yaml:2:8: rule 1 ",
		"rules:\n- reply: []\n  fail: {status: 400}":         "s.yaml:2:8: rule 1 ",
	} {
		_, err := parseScript("s.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
	}
	_, err := readScript("missing.yaml")
	require.ErrorContains(t, err, "reading the script: open missing.yaml")
}

// A file is a valid script, or an error that names the file.
func FuzzScripts(f *testing.F) {
	for _, seed := range []string{everything, "rules:\n- reply: [{text: *a}]", "rules: [", "\x00", "a: &a [*a]", "? {}", "rules:\n- fault: {drip: {bytes: 1, wait: 1s}}\n  reply: []", "%YAML 9", "- \n-"} {
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
