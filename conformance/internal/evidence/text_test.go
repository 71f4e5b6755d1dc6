package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

func TestConversationsFindsTheNamesOfACase(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              nil,
		"mkabc":                         nil,
		"mkabcn":                        nil,
		"(mkabcn1)":                     {"mkabcn1"},
		"mkabcn1mkabcn12 mkabcn1 mkabc": {"mkabcn1", "mkabcn12"},
		"mkabcnmkabcn3":                 {"mkabcn3"},
	} {
		require.Equal(t, want, evidence.Conversations([]byte(text), "mkabc"), text)
	}
	require.Nil(t, evidence.Conversations([]byte("n1 n2"), ""), "a case without a mark has none")
}

func TestQuotedClipsALongText(t *testing.T) {
	require.Equal(t, fmt.Sprintf("%q… (600 bytes)", strings.Repeat("ä", 30)), evidence.Quote(strings.Repeat("ä", 300)))
}
