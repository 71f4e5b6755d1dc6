package leak

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	looklike "github.com/mcp-conform/mcp-conform/internal/secrets"
)

// mixed matches letters beside other characters. A short word occurs in many texts, and a number may be an id in JSON.
var mixed = regexp.MustCompile(`[A-Za-z][^A-Za-z]|[^A-Za-z][A-Za-z]`)

// word matches passwords for tests, such as postgres, which appear in many texts.
var word = regexp.MustCompile(`^([A-Z]?[a-z]{0,15}|[A-Z]{0,15})$`)

// secretName matches variables that hold secrets, such as AWS_ACCESS_KEY_ID and CI_JOB_JWT_V2; placeName those that say
// where one is, unless that is enough to use it, as in secretEnd.
var (
	secretName = regexp.MustCompile(`(?i)((^|_)((API|ACCESS|AUTH)?KEY|PASS|PWD|PW|JWT|PAT|COOKIE|CREDENTIALS?|BEARER|` +
		`SALT|SESSION_?ID)|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|SSHPASS)S?(_|$)`)
	secretEnd = regexp.MustCompile(`(?i)(^|_)(AUTH|CONNECTION_?STRING|CONN_?STR|WEBHOOK(_URL)?|MNEMONIC)$`)
	placeName = regexp.MustCompile(`(?i)^(OLD)?PWD$|_(FILE|PATH|DIR|SOCK|URL|URI)$`)
)

// InEnvironment returns the values of variables that hold keys, tokens and passwords by their names, and what looks
// like one in the others, such as the password in DATABASE_URL. The environment has the form of os.Environ.
func InEnvironment(environment []string) []Secret {
	var secrets []Secret
	for _, v := range environment {
		name, value, _ := strings.Cut(v, "=")
		found := []string{value}
		if !secretEnd.MatchString(name) && (!secretName.MatchString(name) || placeName.MatchString(name)) {
			found = nil
			for _, span := range looklike.Find(value) {
				found = append(found, value[span.From:span.To])
			}
		}
		for _, one := range found {
			if !word.MatchString(one) {
				secrets = append(secrets, Secret{Name: name, Value: one})
			}
		}
	}
	return secrets
}

// Mask replaces the secrets of an environment by the names of their variables, such as $GITHUB_TOKEN. It knows them as
// they are, in JSON, in a URL, in base64 and in hexadecimal digits. Values shorter than [MinLength] stay, but for
// passwords from minPassword on that have letters and other characters. A nil Mask replaces nothing. It is safe for
// concurrent use.
type Mask struct {
	needles [][]byte
	names   *strings.Replacer
}

// minPassword is the length of the shortest password that is replaced, in bytes.
const minPassword = 8

// sparing undoes the escapes that encodeURIComponent of JavaScript does not make.
var sparing = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// NewMask returns the mask of an environment in the form of os.Environ; nil if it has no secrets.
func NewMask(environment []string) *Mask {
	m := &Mask{}
	var pairs []string
	for _, s := range longestFirst(environment) {
		inJSON, _ := json.Marshal(s.Value) // a string
		inQuery := url.QueryEscape(s.Value)
		inURL := strings.ReplaceAll(inQuery, "+", "%20")
		forms := []string{s.Value, string(inJSON[1 : len(inJSON)-1]), strings.Trim(string(jsonvalue.Marshal(s.Value)), `"`),
			inQuery, inURL, sparing.Replace(inURL), url.PathEscape(s.Value), hex.EncodeToString([]byte(s.Value))}
		for offset := range 3 {
			inner := insideBase64(s.Value, offset)
			forms = append(forms, inner, strings.NewReplacer("+", "-", "/", "_").Replace(inner))
		}
		for _, form := range forms {
			m.needles = append(m.needles, []byte(form))
			pairs = append(pairs, form, "$"+s.Name)
		}
	}
	if m.names = strings.NewReplacer(pairs...); pairs == nil {
		return nil
	}
	return m
}

// Text returns a text without secrets.
func (m *Mask) Text(text string) string {
	if m == nil {
		return text
	}
	return m.names.Replace(text)
}

// Bytes returns a text without secrets, and does not change the given one.
func (m *Mask) Bytes(text []byte) []byte {
	if m == nil || !slices.ContainsFunc(m.needles, func(n []byte) bool { return bytes.Contains(text, n) }) {
		return text
	}
	return []byte(m.names.Replace(string(text)))
}

// Hide returns the texts as the [Mask] of an environment does.
func Hide(environment []string, texts ...string) []string {
	m := NewMask(environment)
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = m.Text(texts[i])
	}
	return texts
}

// longestFirst returns the secrets to hide. One may begin with another.
func longestFirst(environment []string) []Secret {
	secrets := slices.DeleteFunc(InEnvironment(environment), func(s Secret) bool {
		return len(s.Value) < MinLength && (len(s.Value) < minPassword || !mixed.MatchString(s.Value))
	})
	sort.SliceStable(secrets, func(i, j int) bool { return len(secrets[i].Value) > len(secrets[j].Value) })
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
