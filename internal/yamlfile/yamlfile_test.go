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
		"rules: [\n":              "f.yaml:1:8: ",
		"a: 1\n---\nb: 1\n":       "f.yaml:1:1: unknown field \"a\"",
		"rules: []\n---\nb: 1\n":  "f.yaml: expected one YAML document, found more",
	} {
		err := yamlfile.Decode("f.yaml", []byte(text), new(document))
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, yamlfile.Decode("f.yaml", nil, new(document)))
}

func TestAnInvalidValueIsShownWithACaret(t *testing.T) {
	data := []byte("rules:\n  - check: a\n  - check: b\n")
	err := yamlfile.ValueError("f.yaml", data, "$.rules[1].check", errors.New("expected c"))
	require.ErrorContains(t, err, "f.yaml:3:12: expected c\n")
	require.ErrorContains(t, err, "- check: b\n                  ^")
	require.Equal(t, 3, yamlfile.Line(data, "$.rules[1].check"))
}
