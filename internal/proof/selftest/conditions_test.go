package selftest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

func TestAPairIsProvenByACaseInWhichAllChangesAreUnderTheCondition(t *testing.T) {
	tools, media := mutants.Facts{Tools: true}, mutants.Facts{Tools: true, Media: true}
	of := func(all ...[]mutants.Facts) (found []mutants.Change) {
		for _, facts := range all {
			found = append(found, mutants.Change{Facts: facts})
		}
		return found
	}
	changed := changes{"s/media": of([]mutants.Facts{media}), "s/unknown": of([]mutants.Facts{media}, nil),
		"s/both": of([]mutants.Facts{media, tools}), "s/silent": of([]mutants.Facts{media})}
	named := map[string]string{"s/media": "s/check", "s/unknown": "s/check", "s/both": "s/check"}
	when, ok := mutants.FindCondition("media")
	require.True(t, ok)
	for id, proves := range map[string]bool{"s/media": true, "s/unknown": false, "s/both": false, "s/silent": false} {
		p := Pair{when: when}
		p.prove("setting", server.V20251125, []string{id}, changed, named)
		require.Equal(t, proves, p.Named != "", id)
		require.Equal(t, proves, p.Fired, id)
	}
}

func TestANewMutantChangesNothingForOthers(t *testing.T) {
	require.Equal(t, number(&mutants.Mutant{Name: "no-model"}),
		number(&mutants.Mutant{Name: "no-model", Chapter: "basic"}))
	require.NotEqual(t, number(&mutants.Mutant{Name: "no-model"}), number(&mutants.Mutant{Name: "asks-twice"}))
}
