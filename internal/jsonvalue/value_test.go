package jsonvalue

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

func FuzzNumbersAreEqualByTheirDigits(f *testing.F) {
	f.Add("1.0", "10e-1")
	f.Add("9007199254740993", "9007199254740992")
	f.Add("-0", "0.000e5")
	f.Add("1e999999999999", "1e-30")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) ||
			strings.ContainsAny(a+b, "\"[{ntf \r\n\t") || len(a)+len(b) > 40 {
			return
		}
		r, okR := new(big.Rat).SetString(exponentOf(a))
		s, okS := new(big.Rat).SetString(exponentOf(b))
		if okR && okS && (r.Cmp(s) == 0) != (Number(a) == Number(b)) {
			t.Fatalf("%s is %s, %s is %s", a, Number(a), b, Number(b))
		}
	})
}

// exponentOf returns "" for an exponent that is too large for math/big.
func exponentOf(number string) string {
	if _, e, ok := strings.Cut(strings.ToLower(number), "e"); ok && len(e) > 4 {
		return ""
	}
	return number
}
