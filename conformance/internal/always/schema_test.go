package always

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// offered reports whether SameSchema accepts a schema for the one that was sent.
func offered(provider, declared, got, sent string) bool {
	body := json.RawMessage(`{"tools":[` + declared + `]}`)
	return SameSchema(&dialect.Request{Dialect: provider, Body: body},
		&dialect.Tool{InputSchema: []byte(got), Path: "tools[0]"}, &dialect.Tool{InputSchema: []byte(sent)})
}

// A tool may lose the keywords that its provider does not read, and no others.
func TestSchemasWithinTheLimitsOfAProvider(t *testing.T) {
	const sent = `{"type":"object","properties":{"a":{"type":"string","description":"d","minLength":1},` +
		`"b":{"type":"array","maxItems":2,"items":{"type":"integer","minimum":0}}},"required":["a"],` +
		`"additionalProperties":false}`
	const few = `{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"d"},` +
		`"b":{"type":"ARRAY","items":{"type":"INTEGER"}}},"required":["a"]}`
	without := func(schema, lost string) string {
		require.Contains(t, schema, lost)
		return strings.Replace(schema, lost, "", 1)
	}
	lower := strings.ToLower(few)
	ollama := strings.Replace(lower, `"integer"`, `"integer","minimum":0`, 1)
	const parameters, jsonSchema = `{"parameters":{}}`, `{"parametersJsonSchema":{}}`
	const strict, b = `{"function":{"strict":true}}`, `,"b":{"type":"ARRAY","items":{"type":"INTEGER"}}`
	for name, c := range map[string]struct {
		dialect, declared, got string
		want                   bool
	}{
		"Ollama":                     {dialect.Ollama, `{}`, ollama, true},
		"Ollama, description lost":   {dialect.Ollama, `{}`, without(ollama, `,"description":"d"`), false},
		"Ollama, required lost":      {dialect.Ollama, `{}`, without(ollama, `,"required":["a"]`), false},
		"Gemini":                     {dialect.Gemini, parameters, few, true},
		"Gemini, property lost":      {dialect.Gemini, parameters, without(few, b), false},
		"Gemini, another type":       {dialect.Gemini, parameters, strings.Replace(few, "INTEGER", "NUMBER", 1), false},
		"Gemini, JSON Schema, few":   {dialect.Gemini, jsonSchema, few, false},
		"Gemini, JSON Schema, whole": {dialect.Gemini, jsonSchema, sent, true},
		"Gemini, odd capitals":       {dialect.Gemini, parameters, strings.Replace(few, "INTEGER", "Integer", 1), false},
		"Anthropic, required twice":  {dialect.Anthropic, `{}`, strings.Replace(sent, `["a"]`, `["a","a"]`, 1), false},
		"OpenAI, few":                {dialect.OpenAIChat, `{"function":{"strict":false}}`, lower, false},
		"OpenAI, strict":             {dialect.OpenAIChat, strict, lower, true},
		"OpenAI responses, few":      {dialect.OpenAIResponses, `{}`, lower, false},
		"OpenAI responses, strict":   {dialect.OpenAIResponses, `{"strict":true}`, lower, true},
		"Anthropic, few":             {dialect.Anthropic, `{}`, lower, false},
		"Anthropic, whole":           {dialect.Anthropic, `{}`, sent, true},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, offered(c.dialect, c.declared, c.got, sent)) })
	}
}

// Ollama hands the definitions of a schema to its model as they are.
func TestDefinitionsForOllama(t *testing.T) {
	const a, properties = `{"a":{"type":"string","minLength":1}}`, `"properties":{"x":{"$ref":"#/$defs/a"}}`
	const sent = `{"type":"object","$defs":` + a + `,` + properties + `}`
	for name, c := range map[string]struct {
		got  string
		want bool
	}{
		"whole":                      {sent, true},
		"without references":         {`{"type":"object","$defs":` + a + `,"properties":{"x":{}}}`, true},
		"without both":               {`{"type":"object","properties":{"x":{}}}`, true},
		"inlined":                    {`{"type":"object","properties":{"x":{"type":"string"}}}`, true},
		"a reference to nothing":     {`{"type":"object","$defs":null,` + properties + `}`, false},
		"a definition lost its type": {strings.Replace(sent, `"type":"string",`, "", 1), false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, offered(dialect.Ollama, `{}`, c.got, sent)) })
	}
}

func TestALongEnumIsComparedToItsEnd(t *testing.T) {
	var values []string
	for i := range 250 {
		values = append(values, strconv.Itoa(i))
	}
	sent := `{"type":"object","properties":{"a":{"enum":[` + strings.Join(values, ",") + `]}}}`
	slices.Reverse(values)
	reversed := `{"type":"object","properties":{"a":{"enum":[` + strings.Join(values, ",") + `]}}}`
	require.True(t, offered(dialect.Anthropic, `{}`, reversed, sent))
	require.False(t, offered(dialect.Anthropic, `{}`, strings.Replace(sent, ",249]", ",250]", 1), sent))
	require.False(t, offered(dialect.Anthropic, `{}`, strings.Replace(sent, ",249]", "]", 1), sent))
	require.False(t, offered(dialect.Anthropic, `{}`, strings.Replace(sent, ",249]", `,249,"b","b"]`, 1),
		strings.Replace(sent, ",249]", `,249,"b"]`, 1)))
}

func TestASchemaMayReferToItself(t *testing.T) {
	const endless = `{"type":"object","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},` +
		`"properties":{"a":{"$ref":"#/$defs/a"}}}`
	require.False(t, offered(dialect.Native, `{}`, `{}`, endless))
	require.NotPanics(t, func() { offered(dialect.Native, `{}`, endless, endless) })
}

// A list of types and a variant for each accept the same values.
func TestTypesMayBeVariants(t *testing.T) {
	const types = `{"type":["string","null"],"description":"d","minLength":1}`
	const variants = `{"anyOf":[{"type":"string","minLength":1},{"type":"null"}],"description":"d"}`
	const numbers = `{"type":["integer","string"],"minimum":0,"pattern":"^a"}`
	for name, c := range map[string]struct {
		got, sent string
		want      bool
	}{
		"variants": {variants, types, true},
		"types":    {types, variants, true},
		"described in variants": {`{"anyOf":[{"type":"null"},{"type":"string","description":"d","minLength":1}]}`, types,
			true},
		"null added": {`{"anyOf":[{"type":"integer","minimum":0},{"type":"string","pattern":"^a"},{"type":"null"}]}`,
			numbers, true},
		"a type twice": {`{"type":["string","string","null"],"description":"d","minLength":1}`, types, false},
		"a variant that is no schema": {`{"anyOf":[{"type":"string","minLength":1},{"type":"null"},null],"description":"d"}`,
			types, false},
		"values": {`{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`,
			`{"type":["string","null"],"enum":["a",null]}`, true},
		"null lost":    {`{"anyOf":[{"type":"string","minLength":1}],"description":"d"}`, types, false},
		"a word lost":  {`{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d"}`, types, false},
		"a type lost":  {`{"anyOf":[{"type":"integer","minimum":0}]}`, numbers, false},
		"another type": {`{"type":["object","null"]}`, `{"anyOf":[{"type":"string"},{"type":"array"}]}`, false},
		"a type added": {`{"anyOf":[{"type":"string","minLength":1},{"type":"null"},{"type":"array"}],"description":"d"}`,
			types, false},
	} {
		t.Run(name, func(t *testing.T) {
			property := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
			require.Equal(t, c.want, offered(dialect.OpenAIChat, `{}`, property(c.got), property(c.sent)))
		})
	}
}
