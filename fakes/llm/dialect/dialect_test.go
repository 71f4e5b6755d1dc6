package dialect

import (
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
			t.Fatalf("got %q, expected %q", got, text)
		}
		for _, fragment := range fragments {
			if fragment == "" || utf8.ValidString(text) && !utf8.ValidString(fragment) {
				t.Fatalf("fragment %q of %q", fragment, text)
			}
		}
	})
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
