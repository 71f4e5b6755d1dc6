package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStopReasonOfScriptIsSpelledAsInMCP(t *testing.T) {
	_, err := parseScript("s.yaml", []byte("rules:\n  - reply: [{text: a}]\n    stop: max_tokens\n"))
	require.ErrorContains(t, err, `rule 1 has the unknown stop reason "max_tokens"; did you mean maxTokens?`)
	_, err = parseScript("s.yaml", []byte("rules:\n  - reply: [{text: a}]\n    stop: pause_turn\n"))
	require.NoError(t, err, "a provider's own value")
}
