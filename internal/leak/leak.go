// Package leak finds secrets in what a program has written, in whatever form they were put there.
//
// It looks for each secret as it is; escaped as JSON, programming languages, URLs or HTML escape, several times over; in base64 of either
// alphabet, wherever in the encoded text the secret begins; in hexadecimal digits; and as a list of the numbers of its bytes. A secret that
// lacks a few characters at its ends, as one that was cut off or masked too little, is found, too. It does not find what was compressed,
// encrypted, encoded twice or taken to pieces.
package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// Secret is something that is not to be found.
type Secret struct {
	// Name is what it is called in messages, such as "the key".
	Name string
	// Value is the secret itself. One of fewer than [Least] bytes is not looked for: such are found anywhere.
	Value string
}

// Least is the length of the shortest secret that is looked for, in bytes.
const Least = 12

// Hit is a secret that was found.
type Hit struct {
	// Name is the secret's.
	Name string
	// Form says what had been done to it, such as "in base64"; "" where nothing had.
	Form string
}

// Finder looks for some secrets. The nil Finder finds nothing. It is safe for concurrent use.
type Finder struct {
	needles []needle             // the plainest form of each secret first, secret by secret
	begins  [1 << 16 / 64]uint64 // the first two bytes of the needles, a bit for each pair
	by      map[uint16][]int     // needles by their first two bytes
}

// needle is a secret in one form.
type needle struct {
	Hit
	text []byte
}

// New returns a Finder of the secrets.
func New(secrets ...Secret) *Finder {
	f := &Finder{by: map[uint16][]int{}}
	for _, s := range secrets {
		if len(s.Value) < Least {
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
		f.add(s, "in hexadecimal digits", digits)
		f.add(s, "in hexadecimal digits", strings.ToUpper(digits))
		f.add(s, "as the numbers of its bytes", numbers(s.Value))
		if end := len(s.Value) / mostMissing; len(s.Value)-2*end >= Least {
			f.add(s, "but for characters at its ends", s.Value[end:len(s.Value)-end])
		}
	}
	return f
}

// mostMissing is the part of a secret that may be missing at each end of it, an eighth: what masks of providers leave is far less than the rest.
const mostMissing = 8

func (f *Finder) add(s Secret, form, text string) {
	pair := uint16(text[0])<<8 | uint16(text[1])
	f.begins[pair/64] |= 1 << (pair % 64)
	f.by[pair] = append(f.by[pair], len(f.needles))
	f.needles = append(f.needles, needle{Hit{s.Name, form}, []byte(text)})
}

// insideBase64 is what base64 makes of a value that begins at an offset, counted from the last multiple of three: all of it but the
// letters at both ends, which depend on what stands around it.
func insideBase64(value string, offset int) string {
	const bits, letter = 8, 6
	all := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), value...))
	return all[(offset*bits+letter-1)/letter : (offset+len(value))*bits/letter]
}

// numbers are those of a value's bytes, as a list in JSON.
func numbers(value string) string {
	list := make([]string, len(value))
	for i := range len(value) {
		list[i] = strconv.Itoa(int(value[i]))
	}
	return strings.Join(list, ",")
}

// Find looks for the secrets in a text, and returns the first that it finds, in the order in which they were given.
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

// first returns the first needle that stands in a text, or limit where none before that does. It reads the text once.
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

// Holds reports whether a text holds one of the secrets.
func (f *Finder) Holds(text string) bool {
	_, found := f.Find([]byte(text))
	return found
}
