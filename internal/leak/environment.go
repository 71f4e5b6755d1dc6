package leak

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// word matches passwords for tests, such as postgres, which appear in many texts.
var word = regexp.MustCompile(`^[A-Za-z]{0,15}$`)

// InEnvironment returns the values of variables that hold keys, tokens and passwords, by name. The environment has the
// form of os.Environ.
func InEnvironment(environment []string) []Secret {
	var secrets []Secret
	for _, v := range environment {
		name, value, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if !word.MatchString(value) && slices.ContainsFunc([]string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD"},
			func(end string) bool { return strings.HasSuffix(upper, end) }) {
			secrets = append(secrets, Secret{Name: name, Value: value})
		}
	}
	return secrets
}

// Hide returns the texts with the secrets of an environment replaced by the names of their variables, such as
// $GITHUB_TOKEN. Values shorter than [MinLength] stay. It does not know their other forms.
func Hide(environment []string, texts ...string) []string {
	secrets := InEnvironment(environment)
	slices.SortStableFunc(secrets, func(a, b Secret) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	var pairs []string
	for _, s := range secrets {
		if len(s.Value) >= MinLength {
			pairs = append(pairs, s.Value, "$"+s.Name)
		}
	}
	hider := strings.NewReplacer(pairs...)
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = hider.Replace(text)
	}
	return texts
}
