package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// listed is a normative sentence of the specification, as the project's list of them has it.
type listed struct {
	ID, Revision, Page, Section, Digest string
	Keywords                            []string
}

// specification is the folder with the specification's schemas and statements, which lies beside the repository and is no part of it.
var specification = filepath.Join("..", "..", "shared", "spec")

// specified reads a file of the specification.
func specified(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(specification, name))
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("%s is not there: the requirements are not held against the specification", filepath.Join(specification, name))
	}
	require.NoError(t, err)
	return raw
}

func TestTheTableHasEveryStatementThatIsListed(t *testing.T) {
	var list []listed
	require.NoError(t, json.Unmarshal(specified(t, "statements.json"), &list))
	require.NotEmpty(t, list)
	for _, l := range list {
		s := requirements.ByID[l.ID]
		require.NotNil(t, s, "%s is not in the table", l.ID)
		require.Equal(t, server.Revision(l.Revision), s.Revision(), l.ID)
		require.Equal(t, strictest(l.Keywords), s.Level, l.ID)
		if l.Digest != "" { // the comments of the schema are listed without one
			require.Equal(t, l.Digest, s.Digest, l.ID)
		}
		var places []string // a section may be a list of them
		for section := range strings.SplitSeq(l.Section, ", ") {
			places = append(places, strings.TrimSuffix(requirements.Site+l.Revision+"/"+l.Page+"#"+anchor(section), "#"))
		}
		require.Contains(t, places, s.URL, l.ID)
	}
}

// strictest is the level of a sentence with these keywords.
func strictest(keywords []string) report.Level {
	for _, l := range []report.Level{report.Must, report.Should} {
		if slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(k, string(l)) }) {
			return l
		}
	}
	return report.May
}

// anchor is a heading as the specification's site names it in a link.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile("[^a-z0-9 -]").ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func TestWhatTheTableHasFromASchemaIsInIt(t *testing.T) {
	for _, revision := range check.WithTools {
		digests := map[string]bool{}
		var schema any
		require.NoError(t, json.Unmarshal(specified(t, string(revision)+".schema.json"), &schema))
		eachDescription(schema, func(text string) {
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				for _, sentence := range regexp.MustCompile(`[^.:]+(?:\.[^\s.:][^.:]*)*[.:]`).FindAllString(paragraph, -1) {
					digests[digest(sentence)] = true
				}
			}
		})
		held := 0
		for id, s := range requirements.ByID {
			if strings.HasPrefix(id, string(revision)+"/schema/") && s.Digest != "" {
				held++
				require.True(t, digests[s.Digest], "%s: no comment of the schema has the digest %s", id, s.Digest)
			}
		}
		require.NotZero(t, held)
	}
}

// eachDescription calls f with every description in a schema.
func eachDescription(schema any, f func(string)) {
	switch v := schema.(type) {
	case map[string]any:
		if text, ok := v["description"].(string); ok {
			f(text)
		}
		for _, member := range v {
			eachDescription(member, f)
		}
	case []any:
		for _, element := range v {
			eachDescription(element, f)
		}
	}
}

// digest is that of a sentence, as [Statement] says.
func digest(sentence string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.ReplaceAll(sentence, "**", "")), " ")))
	return hex.EncodeToString(sum[:])[:12]
}

func TestADigestIsThatOfTheSentence(t *testing.T) {
	require.Equal(t, requirements.ByID["2025-11-25/sampling/15"].Digest, digest("Both parties **SHOULD** validate\n   message content"))
}

func TestEachStatementIsEnforcedOrExcluded(t *testing.T) {
	enforced := enforcedBy()
	for _, s := range requirements.Statements() {
		checks := enforced[s.ID]
		if s.Excluded != "" {
			require.Empty(t, checks, "%s is excluded, and enforced: one of them is wrong", s.ID)
		} else {
			require.NotEmpty(t, checks, "no check enforces %s, and nothing says why: exclude it with a reason", s.ID)
		}
	}
}

func TestNoStatementIsTwiceInTheTable(t *testing.T) {
	require.Len(t, requirements.ByID, len(requirements.Statements()))
}

func TestEachStatementIsWhole(t *testing.T) {
	for _, s := range requirements.Statements() {
		require.Contains(t, check.AllRevisions(), s.Revision(), s.ID)
		require.Regexp(t, `^[0-9-]{10}/[a-z-]+/(\d\d|[A-Za-z-]+)$`, s.ID)
		require.True(t, strings.HasPrefix(s.URL, requirements.Site+string(s.Revision())+"/"), "%s: %s", s.ID, s.URL)
		require.NotEmpty(t, s.Text, s.ID)
		require.Contains(t, []report.Level{report.Must, report.Should, report.May}, s.Level, s.ID)
		require.Regexp(t, `^([0-9a-f]{12})?$`, s.Digest, s.ID)
	}
}

func TestWhatEnforcesAStatementIsThere(t *testing.T) {
	var names []string
	for _, c := range client.Checks() {
		names = append(names, "client/"+c.ID)
	}
	for _, s := range catalogue() {
		for _, c := range s.Checks {
			names = append(names, s.ID+"/"+c.ID)
		}
	}
	for id, checks := range enforcedBy() {
		require.NotNil(t, requirements.ByID[id], "%s enforces %s, which is not in the table", checks[0], id)
		require.Subset(t, names, checks)
	}
	require.Subset(t, enforcedBy()["2025-11-25/sampling/08"], []string{"parallel/results-reach-model", "parallel/results-order"})
	require.Contains(t, enforcedBy()["2025-11-25/transports/05"], "client/only-messages")
}
