package leak

import (
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

// Hider replaces the secrets of an environment by the names of their variables, such as $GITHUB_TOKEN. Values shorter
// than [MinLength] stay. It does not know their other forms.
func Hider(environment []string) *strings.Replacer {
	var pairs []string
	for _, s := range InEnvironment(environment) {
		if len(s.Value) >= MinLength {
			pairs = append(pairs, s.Value, "$"+s.Name)
		}
	}
	return strings.NewReplacer(pairs...)
}
