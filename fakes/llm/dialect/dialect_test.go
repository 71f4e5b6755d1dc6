package dialect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestGeneratedIDs(t *testing.T) {
	seen := map[string]bool{}
	for serial := range int64(30) {
		for position := range 30 {
			id := GenerateID("call_", 24, serial, position)
			require.Regexp(t, "^call_[A-Za-z0-9]{24}$", id)
			require.Equal(t, id, GenerateID("call_", 24, serial, position))
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
	require.NotEqual(t, GenerateID("a", 8, 1, 0)[1:], GenerateID("b", 8, 1, 0)[1:])
}

func TestFragments(t *testing.T) {
	require.Empty(t, Fragments(""))
	require.Equal(t, []string{"hi"}, Fragments("hi"))
	require.Equal(t, []string{"in K", "öl:", " 18°", "C"}, Fragments("in Köl: 18°C"))
	require.Len(t, Fragments(strings.Repeat("x", 1<<20)), 8)
}

func FuzzFragments(f *testing.F) {
	f.Add("Paris 18°C, Zürich 💧 {\"a\":1}")
	f.Add("\xff\x80\x80\x80\x80\x80\x80\x80\x80")
	f.Fuzz(func(t *testing.T, text string) {
		fragments := Fragments(text)
		if got := strings.Join(fragments, ""); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
		for _, fragment := range fragments {
			if fragment == "" || utf8.ValidString(text) && !utf8.ValidString(fragment) {
				t.Fatalf("fragment %q of %q", fragment, text)
			}
		}
	})
}

func TestObjectsAndMembersHaveExactNames(t *testing.T) {
	const text = ` {"toolUseID":"x","name":"n","none":null,"n":1.5,"name":"m"} `
	var o Object
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	m, err := ReadMembers([]byte(text))
	require.NoError(t, err)
	type object interface {
		Has(name string) bool
		Text(name string) string
		Read(name string, v any) error
	}
	for _, o := range []object{o, m} {
		require.False(t, o.Has("toolUseId"))
		require.False(t, o.Has("none"))
		require.Equal(t, "m", o.Text("name"))
		require.Equal(t, "", o.Text("n"))
		n := int64(7)
		require.Error(t, o.Read("n", &n))
		require.NoError(t, o.Read("none", &n))
		require.NoError(t, o.Read("missing", &n))
		require.EqualValues(t, 7, n)
	}
	require.NoError(t, Object(nil).Read("x", new(int64)))
	require.NoError(t, Members(nil).Read("x", new(int64)))
	require.Equal(t, "null", string(m.Raw("none")))
	require.Nil(t, m.Raw("missing"))
	require.Equal(t, []string{"n", "name", "none", "toolUseID"}, m.Names())
	require.Equal(t, []string{"n", "none"}, m.Unknown(map[string]bool{"name": true, "toolUseID": true}))
	require.Error(t, new(Members).UnmarshalJSON([]byte("[]")))
}

func TestMarshalDoesNotEscapeHTML(t *testing.T) {
	require.Equal(t, `{"a":"<&>ö"}`, string(Marshal(map[string]string{"a": "<&>ö"})))
	require.Panics(t, func() { Marshal(json.RawMessage("{")) })
}

func TestBlocksIncludesToolResults(t *testing.T) {
	messages := []Message{
		{Role: User, Content: []Block{{Type: Text, Text: "q"}}},
		{Role: Assistant, Content: []Block{{Type: ToolUse, ID: "u"}}},
		{Role: User, Content: []Block{{Type: ToolResult, ID: "u", Content: []Block{{Type: Text, Text: "r"}, {Type: Image}}}}},
		{Role: User, Content: []Block{{Type: Text, Text: "and?"}}},
	}
	req := &Request{Messages: messages}
	require.Equal(t, 2, req.Turn())
	require.Equal(t, messages[2:], req.LastUserTurn())
	require.Len(t, Blocks(messages, Image), 1)
	require.Len(t, Blocks(messages, Text), 3)
	require.Equal(t, "r", PlainText(messages[2].Content))
}

// Members reads JSON as encoding/json does.
func FuzzReadMembers(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : 1 , "b":[ ] ,"c":{"d":"}\"]"}, "e":null,"f":true,"a":"x\u00e9\n" } `,
		`null`, `[1]`, `{"a":1`, `{"\u0061":-1e5,"a":false}`, `{"a":12,"b":1.5,"c":1e400,"d":9223372036854775808,"e":-0}`,
		`{"a":[1, "]" ,{"b":[2]},[]]}`, "{\"\xff\":\"\xff\"}", `7`, ``, `{"a":"\\"}`, `{"a":"\\\""}`,
		`{"a":"\"\\\/\b\f\n\r\té\t","b":"\u00e9\\u","c":"\\u0041"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var want Object
		wantErr := json.Unmarshal([]byte(body), &want)
		got, err := ReadMembers([]byte(body))
		if (err == nil) != (wantErr == nil) || err == nil && (got == nil) != (want == nil) {
			t.Fatalf("%q: got %v, %v; want %v, %v", body, got, err, want, wantErr)
		}
		if err != nil {
			require.Equal(t, wantErr.Error(), err.Error())
			return
		}
		require.Equal(t, append([]string(nil), slices.Sorted(maps.Keys(want))...), got.Names())
		for name, value := range want {
			require.Equal(t, value, got.Raw(name))
			require.Equal(t, want.Has(name), got.Has(name))
			for _, pair := range [][2]any{{new(string), new(string)}, {new(bool), new(bool)}, {new(int64), new(int64)},
				{new(float64), new(float64)}, {new(*int64), new(*int64)}, {new(*float64), new(*float64)},
				{new(Object), new(Object)}, {new(Members), new(Members)}, {new([]Members), new([]Members)},
				{new([]json.RawMessage), new([]json.RawMessage)}} {
				if !want.Has(name) {
					continue
				}
				wantErr, err := json.Unmarshal(value, pair[0]), got.Read(name, pair[1])
				require.Equal(t, wantErr == nil, err == nil)
				if err == nil {
					require.Equal(t, pair[0], pair[1])
				}
			}
		}
	})
}
