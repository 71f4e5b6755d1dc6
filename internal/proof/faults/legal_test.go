package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/legitimate"
	"github.com/mcp-conform/mcp-conform/internal/proof/variations"
)

// What a form of the reference does by itself: its dialect leaves it no choice. The self-test plays all forms.
var ofTheReference = []string{"blank-texts", "text-before-uses", "image-types",
	"medium-as-base64",
	"structured-beside-texts", "empty-values", "empty-results", "gemini-numbers", "choice-of-one-tool", "choice-of-ollama",
	"thinking", "refused-texts", "several-replies"}

// What no client of the self-test does yet. Tests of package always play these.
var onlyInTests = []string{"history-as-text", "truncated-uses", "stop-sequences"}

func TestEveryLegitimateChangeIsMadeAndEveryOneThatIsMadeIsLegitimate(t *testing.T) {
	made := map[string]bool{"refusal": true}
	for i := range changes {
		made[changes[i].id] = true
	}
	for i := range limited {
		made[limited[i].id] = true
	}
	for _, v := range variations.All() {
		made[v.Allowed] = true
	}
	for _, other := range [][]string{ofTheReference, onlyInTests} {
		for _, id := range other {
			require.False(t, made[id], "%s is a variation or a legal fault", id)
			made[id] = true
		}
	}
	for _, c := range legitimate.All() {
		require.True(t, made[c.ID], "no variation and no legal fault makes the change %s", c.ID)
		require.NotEmpty(t, c.Change, c.ID)
		require.NotEmpty(t, c.Reason, c.ID)
		delete(made, c.ID)
	}
	require.Empty(t, made, "unknown changes")
}
