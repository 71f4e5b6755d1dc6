package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What parses, parses again to the same when it is put together from its parts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"id":null,"error":{"code":1,"message":"m"}}`, `{"method":"notifications/cancelled"}`,
		` {"id":-1e9,"method":"\u0000\ud800"}`, `{"id":1,"id":2,"method":"a","Method":"b"}`, `[]`, `null`, `{"id":true,"result":1}`, "\xef\xbb\xbf{}", `{"id":01}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, bad := parse(raw)
		if bad != nil {
			require.Nil(t, m)
			require.NotEmpty(t, bad.Message)
			return
		}
		kinds := 0
		for _, is := range []bool{m.isRequest(), m.isNotification(), m.isResponse()} {
			if is {
				kinds++
			}
		}
		require.Equal(t, 1, kinds, "exactly one of request, notification and response")
		var method []byte
		if m.Method != nil {
			method = mustEncode(*m.Method)
		}
		again, bad := parse(join(member{"id", m.ID}, member{"method", method}, member{"params", m.Params}, member{"result", m.Result}, member{"error", m.Error}))
		require.Nil(t, bad)
		require.Equal(t, m, again)
		require.True(t, json.Valid(resultFrame(m.ID, []byte("{}"))), "an id that can be sent back")
	})
}

// Any value arrives through its sentinel form, and a plain one as it is.
func FuzzHeaderValue(f *testing.F) {
	for _, seed := range []string{"tool", "", "天気", " padded ", "=?base64?literal?=", "=?base64?=", "=?base64??=", "a\x00b", "a\tb", "\x7f", "=?base64?a\r\nA==?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		decoded, err := HeaderValue("=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?=")
		require.NoError(t, err)
		require.Equal(t, value, decoded)

		decoded, err = HeaderValue(value)
		switch sentinel := strings.HasPrefix(value, "=?base64?") && strings.HasSuffix(value[len("=?base64?"):], "?="); {
		case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }):
			require.Error(t, err)
		case !sentinel:
			require.NoError(t, err)
			require.Equal(t, value, decoded)
		case err == nil:
			require.Equal(t, value, "=?base64?"+base64.StdEncoding.EncodeToString([]byte(decoded))+"?=")
		}
	})
}

// Equal ids have equal keys, however they are written, and different ones different keys.
func FuzzIDKey(f *testing.F) {
	f.Add(int64(1), "a", "1e999999999")
	f.Add(int64(-1), "", "1.5")
	f.Add(int64(1<<53+1), "1", "-0")
	f.Add(int64(-1<<63), "null", "123456789012345678901234567890")
	f.Add(int64(1000001), "\"", "0.0000001e7")
	f.Fuzz(func(t *testing.T, n int64, text, number string) {
		key := fmt.Sprint(n)
		require.Equal(t, key, idKey(json.RawMessage(key)))
		require.Equal(t, key, idKey(mustEncode(key)), "a number that came back as a string")
		if -maxExact <= n && n <= maxExact {
			require.Equal(t, key, idKey(json.RawMessage(key+".0")))
			require.Equal(t, key, idKey(json.RawMessage(key+"e0")))
		}
		if utf8.ValidString(text) {
			require.Equal(t, text, idKey(mustEncode(text)))
		}
		if id := json.RawMessage(strings.TrimSpace(number)); json.Valid(id) && isID(id) {
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, id))
			require.Equal(t, idKey(id), idKey(compact.Bytes()))
			require.LessOrEqual(t, len(idKey(id)), 3*len(id)+20, "however big the number is")
		}
	})
}

// A schema compiles or is an error that names the tool; arguments fit or are told why not.
func FuzzToolSchema(f *testing.F) {
	for schema, arguments := range map[string]string{
		`{"type":"object"}`: `{}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^a+$","format":"email"}}}`: `{"a":1}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`:              `{"a":{"a":1}}`,
		`{"type":"object","$ref":"file:///etc/passwd"}`:                                                             `{}`,
		`{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{}}}`:              `{"a":[1,2]}`,
		`{"type":"object","properties":{"a":{"multipleOf":1e-300,"maximum":1e300}}}`:                                `{"a":1e301}`,
		`{"type":"object","$dynamicRef":"#a","unevaluatedProperties":false,"if":{},"then":{"minProperties":2}}`:     `{"a":1}`,
		`{"type":"object","properties":{"a":{"maximum":1e999999999}}}`:                                              `{"a":-1e999999999}`,
		`[]`: `{"a":`,
	} {
		f.Add([]byte(schema), []byte(arguments))
	}
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		tool, err := compileTool(Tool{Name: "tool", InputSchema: json.RawMessage(schema), Play: func(*Session) (any, error) { return nil, nil }}, 0)
		if err != nil {
			require.ErrorContains(t, err, "input schema of tool tool: ")
			return
		}
		why := tool.checkArguments(arguments)
		require.True(t, why == "" || strings.HasPrefix(why, "the arguments of tool "), why)
		require.Equal(t, why, tool.checkArguments(arguments), "the same each time")
	})
}
