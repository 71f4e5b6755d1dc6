package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Words at the end of a name, which may be PASSWORD, db_password, dbPassword or X-Password. A password may be any text
// that is not an ordinary word; a token must look random.
var (
	passwords = []string{"password", "passwd", "passphrase", "pwd", "secret", "passwort"}
	tokens    = []string{
		"_token", "api_key", "apikey", "access_key", "secret_key", "private_key", "account_key", "auth_key", "encryption_key",
		"signing_key", "subscription_key", "master_key", "license_key", "access_key_id", "access_id",
		"authorization", "credential",
		"credentials", "x_amz_signature", "authtoken", "accesstoken", "webhook_url", "functions_key", "service_key",
		"secret_key_base", "service_role_key", "app_key", "client_key", "shared_key", "host_key", "deploy_key",
	}
	// whole names say what they are only by themselves.
	whole = []string{"token", "auth", "_auth", "sig", "secret_id", "cookie", "sessionid", "session_id", "sid"}
	// pages are tokens that are no credentials.
	pages = []string{"page_token", "next_token", "sync_token", "continuation_token", "progress_token", "cursor_token"}
)

// minToken is the length of the shortest value that looks random, in bytes; minPassword that of the shortest password.
// A value longer than maxValue is content, not a credential.
const (
	minToken    = 10
	minPassword = 6
	maxValue    = 1024
)

// others are secrets that have neither a prefix nor a name: the user of an address and its password, curl's user and
// netrc's password, what follows a scheme, keys of Mailchimp, Azure OpenAI and Telegram, and cookies. The word must be
// in the text.
var others = []struct {
	word string
	re   func() *regexp.Regexp
}{
	{"://", lazily("://[^\\s/:@\"'<>`\\\\]*:([^\\s/@\"'<>`\\\\]+)@")},
	{"://", lazily(`://([0-9a-f]{32}|[A-Za-z0-9_-]{40,})@`)},
	{"curl", lazily(`\bcurl\b(?:[^\n]|\\\n){0,300}?\s(?:-u|--user)[ =]?["']?([^\s:"'/]+:[^\s"'\\]{4,})`)},
	{"login ", lazily(`\blogin\s+\S+\s+password\s+([^\s"'\\]+)`)},
	{"earer ", lazily(`\b[Bb]earer ([A-Za-z0-9._~+/=-]{10,})`)},
	{"asic ", lazily(`\b[Bb]asic ([A-Za-z0-9+/]{12,}={0,2})`)},
	{"-us", lazily(`\b([0-9a-f]{32}-us\d{1,2})\b`)},
	{"JQQJ99", lazily(`\b([A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{10,})\b`)}, // Azure OpenAI
	{":AA", lazily(`\b(\d{8,10}:AA[A-Za-z0-9_-]{33})\b`)},
	{"ookie", lazily(`\b(?i:set-)?[Cc]ookie["']?: *["']?[A-Za-z0-9_.-]+=([^;\s"'\\]{10,})`)},
}

// lazily compiles an expression when it is needed first: a process that looks for no secret compiles none.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// byName adds the values whose names say that they are secrets, and the others.
func byName(found []Span, text string) []Span {
	for at := 0; ; {
		i := strings.IndexAny(text[at:], "=:,>")
		if i < 0 {
			break
		}
		at += i + 1
		operator := text[at-1]
		if random, ok := kind(nameBefore(text, at-1), operator); ok {
			value := valueAfter(text, at)
			element := strings.HasPrefix(strings.TrimLeft(text[value.To:min(len(text), value.To+maxName)], " \t\r\n"), "</")
			if (operator != '>' || element) && isSecret(text[value.From:value.To], random) {
				found, at = append(found, value), value.To
			}
		}
	}
	for i, o := range others {
		if !strings.Contains(text, o.word) {
			continue
		}
		for _, m := range o.re().FindAllStringSubmatchIndex(text, -1) {
			if value := text[m[2]:m[3]]; !isPlaceholder(value) && (i < 4 || looksRandom(value)) {
				found = append(found, Span{m[2], m[3]})
			}
		}
	}
	return found
}

// kind reports whether a name says that its value is a secret, and whether the value must look random.
func kind(name string, operator byte) (random, ok bool) {
	if name == "" {
		return false, false
	}
	snake := snakeCase(name)
	ends := func(end string) bool { return strings.HasSuffix(snake, end) }
	switch {
	case slices.ContainsFunc(passwords, ends):
		return false, true
	case slices.ContainsFunc(pages, ends):
		return false, false
	case snake == "sig":
		return true, operator == '='
	case slices.ContainsFunc(tokens, ends), slices.Contains(whole, snake):
		return true, true
	}
	return true, strings.HasSuffix(name, "_KEY")
}

const maxName = 60

// nameBefore returns the name that the operator at a place follows, without quotes, spaces and a type. A comma follows
// the name of an argument, which has quotes; > the name of an element.
func nameBefore(text string, at int) string {
	before := text[:at]
	switch text[at] {
	case ',':
		if strings.TrimRight(before, `"'`) == before {
			return ""
		}
	case '>':
		before = before[max(0, at-maxName):]
		open := strings.LastIndexByte(before, '<')
		if open < 0 {
			return ""
		}
		return before[open+1:]
	case '=':
		before = strings.TrimSuffix(trimRight(before, ".?!+:", 4), " string ")
	}
	before = trimRight(before, " \t", len(before)+4-at)
	before = trimRight(before, `"'`, 1)
	begin := len(before)
	for begin > 0 && len(before)-begin < maxName && (isWordByte(before[begin-1]) || before[begin-1] == '-') {
		begin--
	}
	return before[begin:]
}

// trimRight removes at most n of some characters from the end of a text.
func trimRight(text, cutset string, n int) string {
	begin := max(0, len(text)-max(0, n))
	return text[:begin+len(strings.TrimRight(text[begin:], cutset))]
}

// snakeCase returns a name in lower case with its words separated by underscores.
func snakeCase(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case r == '-':
			r = '_'
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

var scheme = regexp.MustCompile(`^(?i:bearer|basic|token|key) +`)

// valueAfter returns the value after an operator, without its quotes and without the scheme of an authorization.
func valueAfter(text string, at int) Span {
	skipped := " \t=>:"
	if text[at-1] == '>' {
		skipped = " \t\r\n"
	}
	for at < len(text) && strings.IndexByte(skipped, text[at]) >= 0 {
		at++
	}
	if at == len(text) {
		return Span{at, at}
	}
	quote := text[at]
	var end int
	if strings.IndexByte("\"'`", quote) >= 0 {
		at++
		for end = at; end < len(text) && text[end] != quote && end-at <= maxValue; end++ {
			if text[end] == '\\' {
				end = min(end+1, len(text)-1)
			}
		}
		at += len(scheme.FindString(text[at:end]))
		return Span{at, end}
	}
	at += len(scheme.FindString(text[at:min(len(text), at+maxName)]))
	for end = at; end < len(text) && end-at <= maxValue; end++ {
		if strings.IndexByte(" \t\r\n\"'`,;&()[]{}<>|\\\x00", text[end]) >= 0 {
			break
		}
	}
	return Span{at, end}
}

func isSecret(value string, random bool) bool {
	switch {
	case len(value) < minPassword || len(value) > maxValue:
		return false
	case random:
		return looksRandom(value) && !isPlaceholder(value)
	}
	letters, others := 0, 0
	for _, r := range value {
		switch {
		case unicode.IsSpace(r):
			return false
		case unicode.IsLower(r):
			letters++
		default:
			others++
		}
	}
	return (others > 1 || others == 1 && unicode.IsLower(rune(value[0])) || letters >= 16) && !isPlaceholder(value)
}

// placeholder recognizes what stands for a secret: words, the name of a variable, and a path of names.
var placeholder = regexp.MustCompile(`(?i:redacted|your|example|placeholder|change_?me|dummy|x{4})|\*{3}|\.\.\.` +
	`|^[$<{%]|\$\{|^[A-Z][A-Z0-9_]*_[A-Z0-9_]*$|^(?i:[a-z]+_)+[A-Za-z]*\d{0,3}$|^(?i:[a-z_]+(?:\.[a-z_]+)+)$`)

func isPlaceholder(value string) bool { return value == "" || placeholder.MatchString(value) }

// looksRandom reports whether a text is long, has letters and digits, and repeats few of them.
func looksRandom(value string) bool {
	if len(value) < minToken || strings.ContainsAny(value, " \t\n\"'<>{}()") ||
		!strings.ContainsAny(value, "0123456789") {
		return false
	}
	var count [256]int
	letters := false
	for i := range len(value) {
		count[value[i]]++
		letters = letters || value[i]|0x20 >= 'a' && value[i]|0x20 <= 'z'
	}
	entropy := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(value))
			entropy -= p * math.Log2(p)
		}
	}
	return letters && entropy >= 2.9
}
