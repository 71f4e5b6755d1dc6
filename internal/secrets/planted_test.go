package secrets_test

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/secrets"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// formats reads the formats of testdata/formats.txt and generates a secret of each. What is in «» is the secret;
// a kind of letters and a number stand for that many random ones: {w20} letters and digits, {h32} hexadecimal digits,
// {u16} capitals and digits, {d10} digits, {b40} base64.
func formats(t *testing.T, r *rand.Rand) (texts, planted []string) {
	const digits, small, capitals = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabets := map[byte]string{'w': digits + small + capitals, 'h': "0123456789abcdef", 'u': "234567" + capitals,
		'd': digits, 'b': digits + small + capitals + "+/", 'l': small}
	field := regexp.MustCompile(`\{[a-z]\d+\}`)
	data, err := os.ReadFile(filepath.Join("testdata", "formats.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "⏎", "\n")
		line = field.ReplaceAllStringFunc(line, func(f string) string {
			n, err := strconv.Atoi(f[2 : len(f)-1])
			require.NoError(t, err)
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabets[f[1]][r.IntN(len(alphabets[f[1]]))]
			}
			b[n/2] = alphabets[f[1]][0] // a digit, where the format has them
			return string(b)
		})
		before, rest, found := strings.Cut(line, "«")
		secret, after, closed := strings.Cut(rest, "»")
		require.True(t, found && closed, line)
		texts, planted = append(texts, before+secret+after), append(planted, secret)
	}
	return texts, planted
}

func TestEachFormatIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		texts, planted := formats(t, r)
		require.Greater(t, len(texts), 100)
		for i, text := range texts {
			escaped := text
			for level := range 3 {
				got := secrets.Replace("It is "+escaped+" there.", "REMOVED")
				require.NotContains(t, got, planted[i], "escaped %d times", level)
				for line := range strings.FieldsSeq(planted[i]) { // of a block
					require.False(t, len(line) > 12 && strings.Contains(got, line), "%s\nescaped %d times: %s", text, level, got)
				}
				require.Contains(t, got, "there.", text)
				quoted, err := json.Marshal(escaped)
				require.NoError(t, err)
				escaped = string(quoted)
			}
		}
	}
}

func TestOrdinaryTextsAreNoSecrets(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "ordinary.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		require.Equal(t, line, secrets.Replace(line, "REMOVED"))
	}
}

// Recorded traffic has no secrets, except for texts that replace one.
func TestNoFalseHitsInTraffic(t *testing.T) {
	replaced := []string{"org-xxxxxxxxxxxxxxxxxxxxxxxx", "proj_xxxxxxxxxxxxxxxxxxxxxxxx"}
	read := 0
	root := sharedtest.Path(t, "traffic")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		read++
		for _, s := range secrets.Find(string(data)) {
			require.Contains(t, replaced, string(data[s.From:s.To]), path)
		}
		return err
	}))
	require.Greater(t, read, 50)
}

// A long text full of beginnings takes no longer than another one.
func TestManyBeginnings(t *testing.T) {
	for _, begin := range []string{"eyJ-", "sk-", "-----BEGIN PRIVATE KEY-----", "password=", "token:", "://a:",
		`"key": "`, "-u ", "Bearer ", "login a password ", `\`, `\u005c`} {
		text := strings.Repeat(begin, 1<<15) + " "
		require.NotContains(t, secrets.Replace(text+"sk-abcdefghijklmnop1", "REMOVED"), "sk-abcdefghijklmnop1", begin)
	}
}
