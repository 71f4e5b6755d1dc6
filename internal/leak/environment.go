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
	var pairs []string
	for _, s := range longestFirst(environment) {
		pairs = append(pairs, s.Value, "$"+s.Name)
	}
	hider := strings.NewReplacer(pairs...)
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = hider.Replace(text)
	}
	return texts
}

// longestFirst returns the secrets to hide. One may begin with another.
func longestFirst(environment []string) []Secret {
	secrets := slices.DeleteFunc(InEnvironment(environment), func(s Secret) bool { return len(s.Value) < MinLength })
	slices.SortStableFunc(secrets, func(a, b Secret) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	return secrets
}

// leastPiece is the length from which the piece of a secret is hidden, in bytes. A shorter one says nothing.
const leastPiece = 4

// HideCut is [Hide] for the two ends of a text whose middle is missing. It also hides a secret of which the cut left
// only the beginning, or only the end.
func HideCut(environment []string, head, tail string) (string, string) {
	var last, first piece
	for _, s := range longestFirst(environment) {
		for n := len(s.Value); n >= leastPiece; n-- {
			if n > last.length && strings.HasSuffix(head, s.Value[:n]) {
				last = piece{n, "$" + s.Name}
			}
			if n > first.length && strings.HasPrefix(tail, s.Value[len(s.Value)-n:]) {
				first = piece{n, "$" + s.Name}
			}
		}
	}
	both := Hide(environment, head[:len(head)-last.length], tail[first.length:])
	return both[0] + last.name, first.name + both[1]
}

type piece struct {
	length int
	name   string
}
