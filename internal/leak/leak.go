// Package leak finds secrets in texts. It knows the forms in which programs write a secret; the places to search are
// the caller's.
//
// It finds a secret as it is; with escapes of JSON, programming languages, URLs or HTML, also repeated; in both
// alphabets of base64, at any offset; in hexadecimal; as a list of byte values; without a few characters at its
// ends (cut off or masked); and, of a key, its last characters. It does not find a secret that is compressed,
// encrypted, encoded twice or split.
package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// Secret is a text to search for.
type Secret struct {
	// Name is the name in messages, such as "the key".
	Name string
	// Value is the secret. It is ignored if it is shorter than [MinLength]: short texts occur by chance.
	Value string
	// Tail is true to find its last characters alone, too: more of them than providers show in a mask.
	Tail bool
}

// MinLength is the length of the shortest secret that is searched for, in bytes.
const MinLength = 12

// Hit is a secret that was found.
type Hit struct {
	// Name is the name of the secret.
	Name string
	// Form is the encoding, such as "in base64"; "" for none.
	Form string
}

// Finder searches for secrets. A nil Finder finds none. It is safe for concurrent use.
type Finder struct {
	needles []needle             // by secret, the plain form first
	begins  [1 << 16 / 64]uint64 // the set of their first two bytes
	by      map[uint16][]int     // needles by their first two bytes
}

// needle is a secret in one form.
type needle struct {
	Hit
	text []byte
}

// New returns a Finder of these secrets.
func New(secrets ...Secret) *Finder {
	f := &Finder{by: map[uint16][]int{}}
	for _, s := range secrets {
		if len(s.Value) < MinLength {
			continue
		}
		f.add(s, "", s.Value)
		for offset := range 3 {
			inner := insideBase64(s.Value, offset)
			f.add(s, "in base64", inner)
			if strings.ContainsAny(inner, "+/") {
				f.add(s, "in base64", strings.NewReplacer("+", "-", "/", "_").Replace(inner))
			}
		}
		digits := hex.EncodeToString([]byte(s.Value))
		f.add(s, "in hexadecimal", digits)
		f.add(s, "in hexadecimal", strings.ToUpper(digits))
		f.add(s, "as byte values", numbers(s.Value))
		if s.Tail {
			f.add(s, "its last characters", s.Value[len(s.Value)-tailLength:])
		}
		if end := len(s.Value) / mostMissing; len(s.Value)-2*end >= MinLength {
			f.add(s, "without its first or last characters", s.Value[end:len(s.Value)-end])
		}
	}
	return f
}

// mostMissing limits what may be missing at each end: an eighth. Masks of providers show far less than the rest.
const mostMissing = 8

// tailLength is twice what masks of providers show at the end of a key.
const tailLength = 8

func (f *Finder) add(s Secret, form, text string) {
	pair := uint16(text[0])<<8 | uint16(text[1])
	f.begins[pair/64] |= 1 << (pair % 64)
	f.by[pair] = append(f.by[pair], len(f.needles))
	f.needles = append(f.needles, needle{Hit{s.Name, form}, []byte(text)})
}

// insideBase64 returns the base64 of a value at an offset (modulo three), without the letters at both ends, which
// depend on the neighbouring bytes.
func insideBase64(value string, offset int) string {
	const bits, letter = 8, 6
	all := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), value...))
	return all[(offset*bits+letter-1)/letter : (offset+len(value))*bits/letter]
}

// numbers returns the byte values as a JSON list without brackets.
func numbers(value string) string {
	list := make([]string, len(value))
	for i := range len(value) {
		list[i] = strconv.Itoa(int(value[i]))
	}
	return strings.Join(list, ",")
}

// Find returns the first secret in a text, in the order of [New].
func (f *Finder) Find(text []byte) (Hit, bool) {
	if f == nil || len(f.needles) == 0 {
		return Hit{}, false
	}
	best, how := len(f.needles), ""
	for _, r := range readings(text) {
		if i := f.first(r.text, best); i < best {
			best, how = i, r.how
		}
	}
	if best == len(f.needles) {
		return Hit{}, false
	}
	hit := f.needles[best].Hit
	if hit.Form == "" {
		hit.Form = how
	}
	return hit, true
}

// first returns the lowest needle in a text, or limit if every needle is behind it. It reads the text once.
func (f *Finder) first(text []byte, limit int) int {
	for i := 0; i+1 < len(text); i++ {
		pair := uint16(text[i])<<8 | uint16(text[i+1])
		if f.begins[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, n := range f.by[pair] {
			if n < limit && bytes.HasPrefix(text[i:], f.needles[n].text) {
				limit = n
			}
		}
	}
	return limit
}

// Holds reports whether a text contains a secret.
func (f *Finder) Holds(text string) bool {
	_, found := f.Find([]byte(text))
	return found
}
