package leak_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/leak"
)

const key, cookie = "sk-planted-0123456789abcdef0123456789abcdef", "ü?>~ÿ+/Xr4TgN8vKq2PzLw7"

var finder = leak.New(leak.Secret{Name: "the key", Value: key}, leak.Secret{Name: "the cookie", Value: cookie},
	leak.Secret{Name: "too short", Value: "error"})

func each(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
}

func wrapped(s string) string {
	raw := base64.StdEncoding.EncodeToString([]byte("a long beginning of what follows: " + s))
	return raw[:40] + "\r\n" + raw[40:80] + "\r\n" + raw[80:]
}

func asJSON(s string) string { return string(marshal(s)) }

var formsOfSecrets = []struct {
	name, form string
	write      func(string) string
}{
	{"as it is", "", func(s string) string { return s }},
	{"JSON escapes", "escaped", each(`\u%04x`)},
	{"JSON escapes in capitals", "escaped", each(`\u%04X`)},
	{"bytes of a language", "escaped", each(`\x%02x`)},
	{"JSON in JSON", "escaped", func(s string) string { return asJSON(asJSON(each(`\u%04x`)(s))) }},
	{"URL escapes", "URL-escaped", each("%%%02x")},
	{"URL escapes, twice", "URL-escaped", func(s string) string { return url.QueryEscape(each("%%%02X")(s)) }},
	{"entities", "HTML-escaped", each("&#%d;")},
	{"base64", "in base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 without padding", "in base64",
		func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
	{"base64 of URLs", "in base64", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }},
	{"base64 behind one", "in base64", func(s string) string {
		return base64.URLEncoding.EncodeToString([]byte(":" + s +
			"!"))
	}},
	{"base64 behind two", "in base64", func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("a:" + s +
			"!!"))
	}},
	{"base64 in lines", "in base64", wrapped},
	{"base64 in lines, in JSON", "in base64", func(s string) string { return asJSON(wrapped(s)) }},
	{"base64 in a URL", "in base64",
		func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }},
	{"digits", "in hexadecimal", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"large digits", "in hexadecimal", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"digits of a dump", "in hexadecimal", func(s string) string { return fmt.Sprintf("% x", s) }},
	{"numbers", "as byte values", func(s string) string { return string(marshal(bytesOf(s))) }},
	{"numbers of a language", "as byte values",
		func(s string) string { return strings.Join(strings.Fields(fmt.Sprintf("%d", []byte(s))), ", ") }},
}

func TestSecretsAreFoundInEveryForm(t *testing.T) {
	for _, test := range formsOfSecrets {
		t.Run(test.name, func(t *testing.T) {
			hit, found := finder.Find([]byte("before " + test.write(key) + " after"))
			require.True(t, found)
			require.Equal(t, leak.Hit{Name: "the key", Form: test.form}, hit)
			hit, found = finder.Find([]byte(test.write(cookie)))
			if test.name == "JSON escapes" || test.name == "JSON escapes in capitals" || test.name == "JSON in JSON" ||
				test.name == "entities" {
				return // some bytes of the cookie are not characters
			}
			require.True(t, found)
			require.Equal(t, leak.Hit{Name: "the cookie", Form: test.form}, hit)
		})
	}
	require.True(t, finder.Holds(html.EscapeString(`"`+cookie+`"`)))
	require.True(t, finder.Holds(asJSON(cookie)))
}

func TestOtherTextsAreNotFound(t *testing.T) {
	for _, text := range []string{"", "error", "sk-planted-0123456789abcdef", "sk-pl***********cdef", key[:len(key)*3/4],
		key[len(key)/4:], key[:6] + "…" + key[len(key)-6:], strings.ToUpper(key),
		`\`, `\u`, `\u00`, `\u00zz`, `\x`, `\x-1`, "%", "%4", "%zz", "%-1", "&", "&#;", strings.Repeat(`\\`, 5000),
		strings.Repeat("%25", 5000)} {
		hit, found := finder.Find([]byte(text))
		require.False(t, found, "%s: %v", text, hit)
	}
	var none *leak.Finder
	require.False(t, none.Holds(key))
	require.False(t, leak.New().Holds(key))
}

func TestShortenedSecretIsFound(t *testing.T) {
	for _, text := range []string{key[:len(key)-1], key[1:], key[:len(key)-4] + "****", "key (" + strings.TrimPrefix(key,
		"sk-") + ")", url.QueryEscape("a=" + key[:len(key)-4] + "…")} {
		hit, found := finder.Find([]byte(text))
		require.True(t, found, text)
		require.Equal(t, "the key", hit.Name)
		require.Equal(t, "without its first or last characters", hit.Form)
	}
	hit, _ := finder.Find([]byte(key[1:] + " " + key))
	require.Equal(t, leak.Hit{Name: "the key"}, hit, "the whole of it first")
}

func TestFirstSecretIsNamed(t *testing.T) {
	hit, _ := finder.Find([]byte(cookie + " " + base64.StdEncoding.EncodeToString([]byte(key))))
	require.Equal(t, leak.Hit{Name: "the key", Form: "in base64"}, hit)
	hit, _ = finder.Find([]byte(base64.StdEncoding.EncodeToString([]byte(key)) + key))
	require.Equal(t, leak.Hit{Name: "the key"}, hit, "and its plainest form")
}

// A secret is found after one encoding and several escapes, in any text.
func FuzzFind(f *testing.F) {
	f.Add("before", "after", uint64(1))
	f.Add(`\u00`, "41", uint64(77))
	f.Add("%", `"&amp`, uint64(1<<40))
	f.Fuzz(func(t *testing.T, before, after string, seed uint64) {
		if len(before)+len(after) > 1000 {
			t.Skip("each layer makes a text up to three times as long")
		}
		random := rand.New(rand.NewPCG(seed, 0))
		text := key
		if random.IntN(2) == 0 {
			text = encode(random, before, key, after)
		}
		for range random.IntN(4) {
			text = escape(random, text)
		}
		wrapped := "{ " + text + " }" // so that the text around it does not begin an escape
		require.True(t, finder.Holds(wrapped), "%q", wrapped)
		finder.Holds(before + after) // must end
	})
}

func BenchmarkFind(b *testing.B) {
	text := marshal(strings.Repeat("It was a \"long\" text, as an answer may be: 100 % of it.\n", 1<<14))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		finder.Find(text)
	}
}

func encode(random *rand.Rand, before, secret, after string) string {
	whole := []byte(before + secret + after)
	switch random.IntN(4) {
	case 0:
		return base64.StdEncoding.EncodeToString(whole)
	case 1:
		return base64.RawURLEncoding.EncodeToString(whole)
	case 2:
		return hex.EncodeToString(whole)
	}
	return string(marshal(bytesOf(string(whole))))
}

func escape(random *rand.Rand, text string) string {
	switch random.IntN(3) {
	case 0:
		return string(marshal(text))
	case 1:
		return url.QueryEscape(text)
	}
	return html.EscapeString(text)
}

func bytesOf(s string) []int {
	var list []int
	for i := range len(s) {
		list = append(list, int(s[i]))
	}
	return list
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
