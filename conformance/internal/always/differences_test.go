package always

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

// allKinds are the kinds of differences: of a request to the model, and of a result.
var allKinds = [2][]*kind{
	{lostResult, extraResult, changedResult, misnamedResult, lostError, addedError, lostMedia,
		changedMedia, extraMedia, lostText, changedText, brokenText, extraText, foreignText, changedRole, changedOrder,
		flatHistory, lostUse, extraUse, changedUse, changedInput, sharedID, roundedNumber, lostTool, extraTool,
		changedDescription, changedSchema, lostChoice, invalidRequest, refusedRequest, refusedFailure},
	{unsaidUse, addedUse, renamedUse, rewrittenInput, otherID, unsaidText, addedText, rewrittenText, saidBroken,
		toldThinking, exchangedOrder, otherMedia, falseReason, roundedNumber},
}

// Kinds has their fixes by ID.
var Kinds = [2]map[string]string{fixes(allKinds[0]), fixes(allKinds[1])}

func fixes(kinds []*kind) map[string]string {
	all := map[string]string{}
	for _, k := range kinds {
		all[k.id] = k.fix
	}
	return all
}

func TestKindsCiteStatementsOfTheirRules(t *testing.T) {
	for i, rule := range []check.Check{modelWasGivenCheck, serverWasGivenCheck} {
		for _, k := range allKinds[i] {
			require.Equal(t, k.fix, Kinds[i][k.id], "two kinds are called %s", k.id)
			require.Subset(t, rule.Statements, k.statements, k.id)
		}
	}
}
