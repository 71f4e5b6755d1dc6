package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
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
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// listed is an entry of statements.json, the list of the specification's normative sentences.
type listed struct {
	ID, Revision, Page, Section, Digest string
	Keywords                            []string
}

// specified reads a file of the specification. It skips the test without the shared data.
func specified(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(sharedtest.Path(t, "spec", name))
	require.NoError(t, err)
	return raw
}

func TestTheTableHasEveryListedStatement(t *testing.T) {
	var list []listed
	require.NoError(t, json.Unmarshal(specified(t, "statements.json"), &list))
	require.NotEmpty(t, list)
	for _, l := range list {
		s := at(l.ID)
		require.NotNil(t, s, "%s is not in the table", l.ID)
		require.Equal(t, server.Revision(l.Revision), s.Revision, l.ID)
		require.Equal(t, strictest(l.Keywords), s.Level, l.ID)
		if l.Digest != "" { // Comments of the schema have none in the list.
			require.Equal(t, l.Digest, digests(t)[s.Place], l.ID)
		}
		var places []string // A section can be a list.
		for section := range strings.SplitSeq(l.Section, ", ") {
			places = append(places, strings.TrimSuffix(requirements.Site+l.Revision+"/"+l.Page+"#"+anchor(section), "#"))
		}
		require.Contains(t, places, s.URL, l.ID)
	}
}

// at returns the statement at a place, such as "2025-11-25/sampling/10".
func at(place string) *requirements.Statement {
	all := requirements.Statements()
	i := slices.IndexFunc(all, func(s requirements.Statement) bool { return s.Place == place })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// strictest returns the level of a sentence with these keywords.
func strictest(keywords []string) report.Level {
	for _, l := range []report.Level{report.Must, report.Should} {
		if slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(k, string(l)) }) {
			return l
		}
	}
	return report.May
}

// anchor returns a heading as the fragment of a URL on the specification's site.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile("[^a-z0-9 -]").ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func TestStatementsFromASchemaAreInTheSchema(t *testing.T) {
	for _, revision := range check.WithTools {
		said := map[string]bool{}
		var schema any
		require.NoError(t, json.Unmarshal(specified(t, string(revision)+".schema.json"), &schema))
		eachDescription(schema, func(text string) {
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				for _, sentence := range regexp.MustCompile(`[^.:]+(?:\.[^\s.:][^.:]*)*[.:]`).FindAllString(paragraph, -1) {
					said[digest(sentence)] = true
				}
			}
		})
		found := 0
		for _, s := range requirements.Statements() {
			if d := digests(t)[s.Place]; strings.HasPrefix(s.Place, string(revision)+"/schema/") && d != "" {
				found++
				require.True(t, said[d], "%s: no comment of the schema has the digest %s", s.Place, d)
			}
		}
		require.NotZero(t, found)
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

// digests returns the digest of the sentence at each place, which shows that the specification changed. A type of the
// schema has none, and neither has a sentence that was read in another draft.
func digests(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/digests.json")
	require.NoError(t, err)
	var all map[string]string
	require.NoError(t, json.Unmarshal(raw, &all))
	return all
}

// digest returns the first 12 hexadecimal digits of the SHA-256 of a sentence without asterisks, with single spaces.
func digest(sentence string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.ReplaceAll(sentence, "**", "")), " ")))
	return hex.EncodeToString(sum[:])[:12]
}

func TestADigestIgnoresMarkupAndSpace(t *testing.T) {
	require.Equal(t, digests(t)["2025-11-25/sampling/15"],
		digest("Both parties **SHOULD** validate\n   message content"))
}

func TestEachStatementIsEnforcedOrExcluded(t *testing.T) {
	enforced := enforcedBy()
	for _, s := range requirements.Statements() {
		checks := enforced[s.Place]
		if s.Excluded == "" {
			require.NotEmpty(t, checks, "no check enforces %s: add one, or exclude the statement with a reason", s.Place)
		}
	}
}

func TestNoCheckCitesAStatementThatAllRevisionsExclude(t *testing.T) {
	for _, s := range catalogue() {
		for _, c := range s.Checks {
			for _, id := range c.Statements {
				require.True(t, slices.ContainsFunc(server.AllRevisions(), func(r server.Revision) bool {
					in := requirements.In(r, id)
					return in != nil && in.Excluded == ""
				}), "%s/%s cites %s", s.ID, c.ID, id)
			}
		}
	}
}

func TestAnIDNamesOneStatementOfARevision(t *testing.T) {
	seen, places := map[string]string{}, map[string][]string{}
	for _, s := range requirements.Statements() {
		key := string(s.Revision) + "/" + s.ID
		require.Empty(t, seen[key], "%s and %s are both %s", seen[key], s.Place, s.ID)
		require.Equal(t, s, *requirements.In(s.Revision, s.ID))
		seen[key] = s.Place
		_, place, _ := strings.Cut(s.Place, "/")
		places[s.ID] = append(places[s.ID], place)
	}
	for id, at := range places {
		if regexp.MustCompile(`/\d\d$`).MatchString(id) {
			require.Contains(t, at, id, "%s looks like a place, and no revision has the statement there", id)
		}
		require.True(t, requirements.Known(id))
	}
	require.False(t, requirements.Known("sampling/99"))
	require.Nil(t, requirements.In(server.V20251125, "mrtr/01"))
}

func TestPlacesAreUnique(t *testing.T) {
	places := map[string]bool{}
	for _, s := range requirements.Statements() {
		require.False(t, places[s.Place], s.Place)
		places[s.Place] = true
	}
}

func TestEachDigestIsOfAStatement(t *testing.T) {
	for place, digest := range digests(t) {
		require.NotNil(t, at(place), place)
		require.Regexp(t, `^[0-9a-f]{12}$`, digest, place)
	}
}

func TestEachStatementIsComplete(t *testing.T) {
	for _, s := range requirements.Statements() {
		require.Contains(t, server.AllRevisions(), s.Revision, s.Place)
		require.Regexp(t, `^[0-9-]{10}/[a-z-]+/(\d\d|[A-Za-z-]+)$`, s.Place)
		require.Regexp(t, `^[a-z-]+/(\d\d|[A-Za-z-]+)$`, s.ID)
		require.True(t, strings.HasPrefix(s.URL, requirements.Site+string(s.Revision)+"/"), "%s: %s", s.Place, s.URL)
		require.NotEmpty(t, s.Text, s.Place)
		require.Contains(t, []report.Level{report.Must, report.Should, report.May}, s.Level, s.Place)
	}
}

func TestChecksEnforceKnownStatements(t *testing.T) {
	var names []string
	for _, c := range client.Checks() {
		names = append(names, "client/"+c.ID)
	}
	for _, s := range catalogue() {
		for _, c := range s.Checks {
			names = append(names, s.ID+"/"+c.ID)
		}
	}
	for place, checks := range enforcedBy() {
		require.NotNil(t, at(place), "%s enforces %s, which is not in the table", checks[0], place)
		require.Subset(t, names, checks)
	}
	require.Subset(t, enforcedBy()["2025-11-25/sampling/08"],
		[]string{"parallel/results-reach-model", "always/model-was-given"})
	require.Contains(t, enforcedBy()["2025-11-25/transports/05"], "client/only-messages")
}
