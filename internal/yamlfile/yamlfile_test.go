package yamlfile_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

type document struct {
	Rules []struct {
		Check string `yaml:"check"`
		Max   int    `yaml:"max"`
	} `yaml:"rules"`
}

func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"rules:\n  - chek: a\n":   "f.yaml:2:5: unknown field \"chek\"; did you mean check?\n",
		"check: a\n":              "f.yaml:1:1: unknown field \"check\" here: it belongs to an element of rules\n",
		"rules:\n  - rules: a\n":  "f.yaml:2:5: unknown field \"rules\" here: it belongs to the file\n",
		"rules:\n  - max: many\n": "f.yaml:2:10: expected a whole number, found a text\n",
		"rules: [\n":              "f.yaml:1:8: did not find expected node content",
		"rules: 'a\n\n\n":         "f.yaml:1:8: found unexpected end of stream",
		"rules: []\n\trules: []":  "indent with spaces, not with tabs\n",
		"rules: @a\n":             "f.yaml:1:8: found character that cannot start any token",
		"a: [1\nb: 2\n":           "f.yaml:2:2: did not find expected ',' or ']', while parsing a flow sequence of line 1\n",
		"rules: &a [*a]\n":        "f.yaml:1:12: anchor 'a' value contains itself\n",
		"rules: *a\n":             "f.yaml:1:8: unknown anchor 'a' referenced\n",
		"rules: []\nrules: []\n":  "f.yaml:2:1: mapping key \"rules\" already defined at line 1\n",
		"rules:\n  - max: 1.5\n":  "f.yaml:2:10: expected a whole number, found a number\n",
		"rules: !!int x\n":        "f.yaml: cannot construct",
		"rules: []\n---\n[":       "f.yaml: expected one YAML document, found more",
		"a: 1\n---\nb: 1\n":       "f.yaml:1:1: unknown field \"a\"",
		"rules: []\n---\nb: 1\n":  "f.yaml: expected one YAML document, found more",
	} {
		err := yamlfile.Decode("f.yaml", []byte(text), new(document))
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, yamlfile.Decode("f.yaml", nil, new(document)))
}

// A text is as the file has it, aliases and merges count as what they stand for, and a byte order mark is skipped.
func TestValuesAreAsWritten(t *testing.T) {
	var file struct {
		Texts   []string          `yaml:"texts"`
		Members yamlfile.Members  `yaml:"members"`
		Any     any               `yaml:"any"`
		Map     map[string]string `yaml:"map"`
		Max     *int              `yaml:"max"`
		Rate    float64           `yaml:"rate"`
	}
	require.NoError(t, yamlfile.Decode("f.yaml", []byte("\ufefftexts: [1.50, 0x1F, true, 2027-01-31, '']\n"+
		"members: &m {b: 1.10, a: [x, true, ~], c: {d: 0o17}}\nany: {<<: *m, b: 1.10, day: 2027-01-31, 7: 1_000}\n"+
		"map: {<<: [{a: x}, {a: y, b: ~}]}\nmax: '7'\nrate: 1\n---\n"), &file))
	require.Equal(t, []string{"1.50", "0x1F", "true", "2027-01-31", ""}, file.Texts)
	require.Equal(t, yamlfile.Members{{Name: "b", Value: "1.10"}, {Name: "a", Value: []any{"x", true, nil}},
		{Name: "c", Value: yamlfile.Members{{Name: "d", Value: "0o17"}}}}, file.Members)
	require.Equal(t, map[string]any{"a": []any{"x", true, nil}, "b": 1.1, "c": map[string]any{"d": 15},
		"day": "2027-01-31", "7": 1000}, file.Any)
	require.Equal(t, map[string]string{"a": "x", "b": ""}, file.Map)
	require.Equal(t, 7, *file.Max)
	require.EqualValues(t, 1, file.Rate)
}

func TestAnInvalidValueIsShownWithACaret(t *testing.T) {
	data := []byte("rules:\n  - check: a\n  - check: b\n")
	err := yamlfile.ValueError("f.yaml", data, errors.New("expected c"), "rules", 1, "check")
	require.ErrorContains(t, err, "f.yaml:3:12: expected c\n")
	require.ErrorContains(t, err, "- check: b\n                  ^")
	require.Equal(t, 3, yamlfile.Lines(data)("rules", 1, "check"))
}

// Decode never panics, and its errors name the file.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a: &x [*x]", "a: {<<: *b, b: &b {c: 1}}", "<<: [{a: 1}, 2]", "m: {<<: {a: ~}, a: 0o9}",
		"? {a: b}\n: c", "t: [1.5, !!binary aGk=, !x y]", "a: |\n x\n\ty", "\ufeff---\n...\n--- 5",
		"p: 7\nf: .inf", "a: 'b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var file struct {
			Any     any               `yaml:"a"`
			Members yamlfile.Members  `yaml:"m"`
			Map     map[string]string `yaml:"t"`
			Int     *int              `yaml:"p"`
			Rate    float64           `yaml:"f"`
		}
		if err := yamlfile.Decode("f.yaml", []byte(text), &file); err != nil {
			require.Regexp(t, `^f\.yaml:`, err.Error())
		}
		yamlfile.Lines([]byte(text))("a", 0, "b")
	})
}
