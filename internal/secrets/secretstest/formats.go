// Package secretstest generates secrets of more than 100 formats, for tests.
package secretstest

import (
	_ "embed"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed formats.txt
var formats string

var (
	field    = regexp.MustCompile(`\{[a-z]\d+\}`)
	alphabet = func() map[byte]string {
		const digits, small, capitals = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		return map[byte]string{'w': digits + small + capitals, 'h': "0123456789abcdef", 'u': "234567" + capitals,
			'd': digits, 'b': digits + small + capitals + "+/", 'l': small}
	}()
)

// Planted is a secret within a text, such as the line of a file.
type Planted struct{ Text, Secret string }

// Generate returns a secret of each format of formats.txt. There, «» are around the secret; a kind of letters and a
// number stand for that many random ones: {w20} letters and digits, {h32} hexadecimal digits, {u16} capitals and
// digits, {d10} digits, {b40} base64, {l9} small letters.
func Generate(r *rand.Rand) []Planted {
	var all []Planted
	for line := range strings.Lines(formats) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "⏎", "\n")
		line = field.ReplaceAllStringFunc(line, func(f string) string {
			letters := alphabet[f[1]]
			n, _ := strconv.Atoi(f[2 : len(f)-1])
			b := make([]byte, n)
			for i := range b {
				b[i] = letters[r.IntN(len(letters))]
			}
			b[n/2] = letters[0] // a digit, where the format has them
			return string(b)
		})
		before, rest, _ := strings.Cut(line, "«")
		secret, after, closed := strings.Cut(rest, "»")
		if !closed {
			panic("formats.txt: no secret in " + line)
		}
		all = append(all, Planted{Text: before + secret + after, Secret: secret})
	}
	return all
}
