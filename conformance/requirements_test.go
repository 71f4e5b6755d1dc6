package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// statement is a normative sentence of the specification, as the project's list of them has it.
type statement struct {
	ID, Revision, Page, Section, Says string
	Keywords                          []string
}

// statements reads the list, which lies beside the repository and is no part of it.
func statements(t *testing.T) map[string]statement {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "spec", "statements.json")
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("%s is not there: the requirements are not held against the specification's statements", path)
	}
	require.NoError(t, err)
	var list []statement
	require.NoError(t, json.Unmarshal(raw, &list))
	require.NotEmpty(t, list)
	byID := map[string]statement{}
	for _, s := range list {
		byID[s.ID] = s
	}
	return byID
}

func TestRequirementsSayWhatTheSpecificationSays(t *testing.T) {
	known := statements(t)
	held := 0
	for id, r := range requirements {
		s, listed := known[id]
		if !listed {
			continue
		}
		held++
		var places []string // a section may be a list of them
		for section := range strings.SplitSeq(s.Section, ", ") {
			places = append(places, site+s.Revision+"/"+s.Page+"#"+anchor(section))
		}
		require.Contains(t, places, r.URL, id)
		require.Contains(t, r.Says, s.Says, id)
	}
	require.NotZero(t, held, "none of the requirements is on the list")
}

func TestRequirementsPointIntoTheirRevision(t *testing.T) {
	for id, r := range requirements {
		revision, _, _ := strings.Cut(id, "/")
		require.Contains(t, Known(), server.Revision(revision), id)
		require.True(t, strings.HasPrefix(r.URL, site+revision+"/"), "%s: %s", id, r.URL)
		require.Contains(t, r.URL, "#", id)
		require.NotEmpty(t, r.Says, id)
	}
}

func TestEveryRequirementIsEnforced(t *testing.T) {
	enforced := map[string]bool{}
	for _, s := range Scenarios() {
		for _, c := range s.Checks {
			for _, id := range c.Requirements {
				enforced[id] = true
			}
		}
	}
	for id := range requirements {
		require.True(t, enforced[id], "no check enforces %s", id)
	}
}

// anchor is a heading as the specification's site names it in a link.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(strings.ToLower(heading))
}
