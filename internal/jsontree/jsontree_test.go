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
func shrink(t *testing.T, from string, atOnce int, fails func(v any) bool) string {
	t.Helper()
	s := Shrinker{AtOnce: atOnce, Fails: func(candidates [][]byte) int {
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
		"a limit": {`{"n":[100]}`, func(v any) bool {
			n, err := strconv.Atoi(strings.Trim(fmt.Sprint(v), "map[n:]"))
			return err == nil && n >= 16
		}, `16`},
		"nothing smaller": {`{"a":1}`, func(any) bool { return false }, `{"a":1}`},
		"everything":      {`{"a":[1,2,{"b":"c"}]}`, func(any) bool { return true }, `0`},
	} {
		for _, atOnce := range []int{0, 8, 64} {
			t.Run(fmt.Sprint(name, ", ", atOnce, " at once"), func(t *testing.T) {
				got := shrink(t, c.from, atOnce, c.fails)
				if name != "a large number" && name != "everything" {
					require.Equal(t, c.want, got)
				}
				require.Equal(t, got, shrink(t, c.from, 1, c.fails), "it does not depend on how many at once")
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

func TestATextThatIsNotJSONIsNotShrunk(t *testing.T) {
	require.Equal(t, "not JSON", string((&Shrinker{}).Shrink([]byte("not JSON"))))
}
