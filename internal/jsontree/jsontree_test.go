package jsontree

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// shrink shrinks a text as long as fails holds for its value.
func shrink(t *testing.T, from string, atOnce, attempts int, fails func(v any) bool) string {
	t.Helper()
	s := Shrinker{AtOnce: atOnce, Attempts: attempts, Fails: func(candidates [][]byte) int {
		require.LessOrEqual(t, len(candidates), max(atOnce, 1))
		return slices.IndexFunc(candidates, func(raw []byte) bool {
			require.LessOrEqual(t, len(raw), len(from))
			require.True(t, utf8.Valid(raw), "%q", raw)
			var v any
			require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "1e400", "1")), &v), "%s", raw)
			return fails(v)
		})
	}}
	return string(s.Shrink([]byte(from)))
}

func member(v any, name string) any {
	o, _ := v.(map[string]any)
	return o[name]
}

func TestShrinkKeepsOnlyWhatFails(t *testing.T) {
	long := func(n int) func(any) bool {
		return func(v any) bool { s, _ := member(v, "a").(string); return len(s) > n }
	}
	has := func(text string) func(any) bool {
		return func(v any) bool { raw, _ := json.Marshal(v); return strings.Contains(string(raw), text) }
	}
	for name, c := range map[string]struct {
		from  string
		fails func(v any) bool
		want  string
	}{
		"member": {`{"messages":[{"role":"user"}],"maxTokens":1e400,"systemPrompt":"long"}`,
			func(v any) bool { return member(v, "maxTokens") != nil }, `{"maxTokens":0}`},
		"null in a list": {`{"messages":[{"role":"user","content":{"type":"text","text":"hello"}},null,{"role":"user"}]}`,
			func(v any) bool {
				messages, _ := member(v, "messages").([]any)
				return slices.Contains(messages, any(nil))
			}, `{"messages":[null]}`},
		"depth": {`{"metadata":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
			func(v any) bool { return depth(member(v, "metadata")) > 100 }, `{"metadata":` + strings.Repeat("[", 101) +
				strings.Repeat("]", 101) + `}`},
		"length": {`{"a":"` + strings.Repeat("x", 30000) + `"}`, long(1000),
			`{"a":"` + strings.Repeat("x", 1001) + `"}`},
		"trailing blanks": {`["What a day!  ","b"]`, has(`  "`), `"  "`},
		"a character":     {`{"a":["so \ud83d\ude00, \"é\" then","b"]}`, has("😀"), `"\ud83d\ude00"`},
		"two of four": {`[[1,2],[3,4],[5,6],[7,8]]`, func(v any) bool {
			raw, _ := json.Marshal(v)
			return strings.Contains(string(raw), "3") && strings.Contains(string(raw), "7")
		}, `[3,7]`},
		"a large number": {`{"n":[9007199254740991]}`, func(v any) bool {
			return strings.Count(fmt.Sprint(v), "e+") > 0
		}, `[1991254740991]`},
		"a name in two places": {`{"uses":[{"id":"call-1"}],"results":[{"to":"call-1"}]}`, func(v any) bool {
			uses, _ := json.Marshal(member(v, "uses"))
			results, _ := json.Marshal(member(v, "results"))
			one, two := strings.Split(string(uses), `"`), strings.Split(string(results), `"`)
			return len(one) == 5 && len(two) == 5 && one[3] != "" && one[3] == two[3]
		}, `{"uses":{"id":"a"},"results":{"to":"a"}}`},
		"a limit": {`{"n":[100]}`, func(v any) bool {
			n, err := strconv.Atoi(strings.Trim(fmt.Sprint(v), "map[n:]"))
			return err == nil && n >= 16
		}, `16`},
		"nothing smaller": {`{"a":1}`, func(any) bool { return false }, `{"a":1}`},
		"everything":      {`{"a":[1,2,{"b":"c"}]}`, func(any) bool { return true }, `0`},
	} {
		for _, atOnce := range []int{0, 8, 64} {
			t.Run(fmt.Sprint(name, ", ", atOnce, " at once"), func(t *testing.T) {
				got := shrink(t, c.from, atOnce, 1000, c.fails)
				if name != "a large number" && name != "everything" {
					require.Equal(t, c.want, got)
				}
				require.Equal(t, got, shrink(t, c.from, 1, 1000, c.fails), "it does not depend on how many at once")
			})
		}
	}
}

func depth(v any) int {
	list, ok := v.([]any)
	if !ok {
		return 0
	}
	if len(list) == 0 {
		return 1
	}
	return 1 + depth(list[0])
}

func TestShrinkLimitsItsAttempts(t *testing.T) {
	tried := 0
	s := Shrinker{Attempts: 5, Fails: func([][]byte) int { tried++; return -1 }}
	const whole = `{"a":[1,2,3],"b":[4,5,6],"c":"text"}`
	require.Equal(t, whole, string(s.Shrink([]byte(whole))), "nothing smaller fails")
	require.Equal(t, 5, tried)
	require.Equal(t, "not JSON", string(s.Shrink([]byte("not JSON"))))
}

func TestCandidatesAreRepaired(t *testing.T) {
	s := Shrinker{Attempts: 100, AtOnce: 4,
		Repair: func(raw []byte) []byte {
			if !strings.HasPrefix(string(raw), `[`) {
				return nil
			}
			return []byte(strings.ReplaceAll(string(raw), `""`, `0`))
		},
		Fails: func(candidates [][]byte) int {
			return slices.IndexFunc(candidates, func(raw []byte) bool {
				require.NotContains(t, string(raw), `""`)
				return strings.Contains(string(raw), "0")
			})
		}}
	require.Equal(t, `[0]`, string(s.Shrink([]byte(`["one","two",["three"]]`))))
}

func TestDuplicateMembersAreKept(t *testing.T) {
	raw := `{"a":1,"a":"\ud800","b":[{"c":1e400}]}`
	n, err := Parse([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, raw, string(n.Bytes()))
	_, err = Parse([]byte(`{"a":`))
	require.EqualError(t, err, "not JSON")
}
