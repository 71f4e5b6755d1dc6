package validity

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

const revision = "2025-11-25"

func read(t *testing.T, params string) map[string]any {
	t.Helper()
	o, err := jsonvalue.ReadObject([]byte(params))
	require.NoError(t, err, params)
	return o
}

// list returns the faults as "kind at path".
func list(faults []Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, strings.TrimSuffix(string(f.Kind)+" at "+f.Path, " at "))
	}
	return strings.Join(all, ", ")
}

// params is a request with these messages, and a tool.
func params(messages ...string) string {
	return `{"maxTokens":1,"tools":[{"name":"w","inputSchema":{"type":"object"}}],"messages":[` +
		strings.Join(messages, ",") + `]}`
}

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

const (
	text     = `{"type":"text","text":"Weather?"}`
	question = `{"role":"user","content":` + text + `}`
	image    = `{"type":"image","data":"aaaa","mimeType":"image/png"}`
	useA     = `{"type":"tool_use","id":"a","name":"w","input":{}}`
	useB     = `{"type":"tool_use","id":"b","name":"w","input":{}}`
	resultA  = `{"type":"tool_result","toolUseId":"a","content":[]}`
	resultB  = `{"type":"tool_result","toolUseId":"b","content":[]}`
)

func TestToolUsesAndResultsMustBalance(t *testing.T) {
	for name, c := range map[string]struct {
		messages []string
		want     string // "" for a valid history
	}{
		"a question":           {[]string{question, assistant(text)}, ""},
		"nothing in a message": {[]string{question, user()}, ""},
		"the assistant first":  {[]string{assistant(text), question}, ""},
		"balanced":             {[]string{question, assistant(useA, useB), user(resultB, resultA)}, ""},
		"balanced and continued": {[]string{question, assistant(useA), user(resultA), assistant(text), question},
			""},
		"a text beside a use":   {[]string{question, assistant(text, useA), user(resultA)}, ""},
		"an id in two turns":    {[]string{assistant(useA), user(resultA), assistant(useA), user(resultA)}, ""},
		"a block that is alone": {[]string{`{"role":"assistant","content":` + useA + `}`, user(resultA)}, ""},
		"a missing result": {[]string{question, assistant(useA, useB), user(resultA)},
			"missing-result at messages[2].content"},
		"no result": {[]string{question, assistant(useA), user(text)},
			"no-result at messages[2].content"},
		"no message of the user": {[]string{assistant(useA), assistant(text)}, "no-result at messages[1].content"},
		"a use at the end":       {[]string{question, assistant(useA)}, "trailing-use at messages[1].content"},
		"a text beside a result": {[]string{assistant(useA), user(resultA, text)},
			"mixed-content at messages[1].content"},
		"an image beside it": {[]string{assistant(useA), user(image, resultA)},
			"mixed-content at messages[1].content"},
		"an orphan result": {[]string{question, user(resultA)}, "orphan-result at messages[1].content[0]"},
		"another orphan": {[]string{assistant(useA), user(resultB, resultA)},
			"orphan-result at messages[1].content[0]"},
		"a result alone": {[]string{`{"role":"user","content":` + resultA + `}`},
			"orphan-result at messages[0].content"},
		"a duplicate result": {[]string{assistant(useA), user(resultA, resultA)},
			"duplicate-result at messages[1].content[1]"},
		"a duplicate id": {[]string{assistant(useA, useA), user(resultA)},
			"duplicate-use-id at messages[0].content[1]"},
		"a use of the user": {[]string{question, user(useA)}, "use-in-user at messages[1].content[0]"},
		"the assistant's result": {[]string{assistant(useA), assistant(resultA)},
			"result-in-assistant at messages[1].content[0]"},
		"a late result": {[]string{assistant(useA), user(text), user(resultA)},
			"late-result at messages[1].content, orphan-result at messages[2].content[0]"},
		"two mistakes": {[]string{user(useA), user(resultA)},
			"use-in-user at messages[0].content[0], orphan-result at messages[1].content[0]"},
		"an orphan and a new use": {[]string{user(resultA), assistant(useB)},
			"orphan-result at messages[0].content[0], trailing-use at messages[1].content"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := Check(revision, read(t, params(c.messages...)))
			require.Equal(t, c.want, list(faults))
			for _, f := range faults {
				require.True(t, f.Kind.OfHistory())
				require.NotEmpty(t, f.Kind.Statement())
			}
		})
	}
}

func content(b string) string { return params(`{"role":"user","content":` + b + `}`) }

func tool(name, schema string) string {
	return `{"maxTokens":1,"messages":[` + question + `],"tools":[{"name":` + name + `,"inputSchema":` + schema + `}]}`
}

func property(kind string) string {
	return `{"type":"object","properties":{"n":{"type":` + kind + `}}}`
}

func with(members string) string {
	return `{"maxTokens":1,` + members + `,"messages":[` + question + `]}`
}

var malformedRequests = map[string]string{
	`{"messages":[` + question + `]}`:                  "schema",
	`{"maxTokens":"1","messages":[` + question + `]}`:  "schema at maxTokens",
	`{"maxTokens":0.5,"messages":[` + question + `]}`:  "schema at maxTokens",
	`{"maxTokens":0,"messages":[` + question + `]}`:    "token-limit at maxTokens",
	`{"maxTokens":-1,"messages":[` + question + `]}`:   "token-limit at maxTokens",
	`{"maxTokens":1e99,"messages":[` + question + `]}`: "token-limit at maxTokens",
	`{"maxTokens":1}`:                                    "schema",
	`{"maxTokens":1,"messages":null}`:                    "schema at messages",
	`{"maxTokens":0,"messages":[]}`:                      "token-limit at maxTokens, no-messages at messages",
	params(`null`):                                       "schema at messages[0]",
	params(`{"role":"system","content":` + text + `}`):   "schema at messages[0].role",
	params(`{"content":` + text + `}`):                   "schema at messages[0]",
	content(`"hello"`):                                   "schema at messages[0].content",
	content(`null`):                                      "schema at messages[0].content",
	content(`[null]`):                                    "schema at messages[0].content[0]",
	content(`{"type":"video"}`):                          "schema at messages[0].content.type",
	content(`{"type":"text"}`):                           "schema at messages[0].content",
	content(`[{"type":"image","mimeType":"a/b"}]`):       "schema at messages[0].content[0]",
	content(`[{"type":"tool_use","id":"a"}]`):            "schema at messages[0].content[0]",
	content(`{"type":"tool_result","toolUseId":""}`):     "schema at messages[0].content",
	strings.Replace(content(image), "aaaa", "~", 1):      "media at messages[0].content.data",
	params(user(strings.Replace(image, "aaaa", "a", 1))): "media at messages[0].content[0].data",
	tool(`""`, `{"type":"object"}`):                      "tool-name at tools[0].name",
	tool(`7`, `{"type":"object"}`):                       "schema at tools[0].name",
	tool(`"a"`, `null`):                                  "schema at tools[0].inputSchema",
	tool(`"a"`, `{"type":"string"}`):                     "schema at tools[0].inputSchema.type",
	tool(`"a"`, property(`"int"`)):                       "tool-schema at tools[0].inputSchema.properties.n.type",
	tool(`"a"`, property(`["string","none"]`)):           "tool-schema at tools[0].inputSchema.properties.n.type",
	with(`"toolChoice":{"mode":"any"}`):                  "schema at toolChoice.mode",
	with(`"toolChoice":[]`):                              "schema at toolChoice",
	with(`"tools":{}`):                                   "schema at tools",
	// Valid, and unusual:
	tool(`"a.b/c d"`, property(`["string","null"]`)):                         "",
	content(`{"type":"text","text":""}`):                                     "",
	content(`[]`):                                                            "",
	strings.Replace(content(image), "aaaa", "", 1):                           "",
	with(`"toolChoice":{}`):                                                  "",
	with(`"toolChoice":{"mode":"required"},"tools":[]`):                      "",
	with(`"tools":null,"toolChoice":null`):                                   "",
	tool(`"a"`, `{"type":"object","required":null,"properties":{"n":true}}`): "",
	content(`{"type":"text","text":"","annotations":7}`):                     "",
	content(`[{"type":"tool_result","toolUseId":"a","content":[7]}]`):        "orphan-result at messages[0].content[0]",
	content(`[{"type":"tool_result","toolUseId":"a","content":7}]`):          "schema at messages[0].content[0].content",
	with(`"toolChoice":{"mode":null}`):                                       "",
	with(`"temperature":"hot","metadata":[],"_meta":0,"x":[]`):               "", // a client may ignore them
}

func TestMalformedRequestsAreInvalid(t *testing.T) {
	for params, want := range malformedRequests {
		require.Equal(t, want, list(Check(revision, read(t, params))), params)
	}
	require.Equal(t, "schema", list(Check("unheard-of", read(t, content(text)))))
	old := Check("2025-06-18", read(t, params(user(text))))
	require.Equal(t, "schema at messages[0].content", list(old), "no arrays yet")
	require.Equal(t, "maxTokens: expected a whole number above 0, found 0",
		(&Check(revision, read(t, `{"maxTokens":0,"messages":[`+question+`]}`))[0]).Error())
	require.Equal(t, "missing property 'maxTokens'",
		(&Check(revision, read(t, `{"messages":[`+question+`]}`))[0]).Error())
}

// The published schemas are compared with ours in package schema.
func TestWhatTheSchemaForbidsIsInvalid(t *testing.T) {
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		valid, both := 0, 0
		for n := range 300 {
			raw := malformed.Generate(revision, 5, n).Params
			o, err := jsonvalue.ReadObject(raw)
			if err != nil {
				continue
			}
			faults := Check(revision, o)
			if schema.Validate(revision, schema.CreateMessageRequestParams, raw) == nil {
				valid++
				for _, f := range faults {
					require.NotEqual(t, BadSchema, f.Kind, "%s: %s", revision, raw)
				}
			} else if len(faults) > 0 {
				both++
			}
		}
		require.Greater(t, valid, 20, revision)
		require.Greater(t, both, 100, revision)
	}
}

func TestUndeclaredCapabilities(t *testing.T) {
	declaring := func(names ...string) func(...string) bool {
		return func(path ...string) bool { return strings.Contains(strings.Join(names, " "), strings.Join(path, ".")) }
	}
	plain, withTools := read(t, `{"messages":[]}`), read(t, `{"tools":[]}`)
	onlyChoice, nulls := read(t, `{"toolChoice":{}}`), read(t, `{"tools":null,"toolChoice":null}`)
	for _, c := range []struct {
		params   map[string]any
		declares func(...string) bool
		want     string
	}{
		{plain, declaring(), "undeclared-sampling"}, {withTools, declaring(), "undeclared-sampling"},
		{plain, declaring("sampling"), ""}, {nulls, declaring("sampling"), ""},
		{withTools, declaring("sampling"), "undeclared-tools at tools"},
		{onlyChoice, declaring("sampling"), "undeclared-tools at toolChoice"},
		{withTools, declaring("sampling", "sampling.tools"), ""}, {onlyChoice, declaring("sampling", "sampling.tools"), ""},
	} {
		var faults []Fault
		if f := Undeclared(c.params, c.declares); f != nil {
			require.NotEmpty(t, f.Kind.Statement())
			require.False(t, f.Kind.OfHistory())
			faults = append(faults, *f)
		}
		require.Equal(t, c.want, list(faults), c.params)
	}
}

func TestUnusualRequests(t *testing.T) {
	const other = `{"type":"tool_use","id":"c","name":"unknown","input":{}}`
	resultWith := func(content string) string { return strings.Replace(resultA, "[]", "["+content+"]", 1) }
	for name, c := range map[string]struct {
		messages []string
		want     string
	}{
		"usual":               {[]string{question, assistant(text, useA), user(resultA)}, ""},
		"a result with media": {[]string{user(image), assistant(useA), user(resultWith(image))}, ""},
		"a tool says nothing": {[]string{question, assistant(useA), user(resultWith(`{"type":"text","text":""}`))},
			""},
		"the assistant first": {[]string{assistant(text), question}, "first-or-last at messages[0].role"},
		"the assistant last":  {[]string{question, assistant(text)}, "first-or-last at messages[1].role"},
		"no block":            {[]string{user()}, "no-content at messages[0].content"},
		"a blank text": {[]string{user(`{"type":"text","text":" \n"}`)},
			"blank-text at messages[0].content[0]"},
		"an id twice": {[]string{question, assistant(useA), user(resultA), assistant(useA), user(resultA)},
			"used-id at messages[3].content[0]"},
		"an empty id": {[]string{question, assistant(strings.Replace(useA, `"a"`, `""`, 1)), question},
			"used-id at messages[1].content[0]"},
		"a tool that is not there": {[]string{question, assistant(other), question},
			"unknown-tool at messages[1].content[0]"},
		"no data": {[]string{user(strings.Replace(image, "aaaa", "", 1))},
			"unreadable at messages[0].content[0]"},
		"another type": {[]string{user(strings.Replace(image, "image/png", "audio/wav", 1))},
			"unreadable at messages[0].content[0]"},
		"a link without an address": {[]string{question, assistant(useA),
			user(resultWith(`{"type":"resource_link","name":"l","uri":""}`))},
			"unreadable at messages[2].content[0].content[0]"},
		"a resource": {[]string{question, assistant(useA),
			user(resultWith(`{"type":"resource","resource":{"uri":"a:b","text":""}}`))},
			""},
	} {
		t.Run(name, func(t *testing.T) {
			faults := Unusual(read(t, params(c.messages...)))
			require.Equal(t, c.want, list(faults))
			for _, f := range faults {
				require.Empty(t, f.Kind.Statement(), "the specification allows it")
			}
		})
	}
	results := read(t, user(resultWith(strings.Replace(image, "aaaa", "", 1))))
	require.Equal(t, "unreadable at results[0].content[0]", list(UnusualResults(results["content"], "results")))
}
