package jsonvalue

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

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
