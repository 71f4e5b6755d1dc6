package secrets_test

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/secrets"
	"github.com/mcp-conform/mcp-conform/internal/secrets/secretstest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func TestEachFormatIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		planted := secretstest.Generate(r)
		require.Greater(t, len(planted), 100)
		for _, p := range planted {
			once := strings.ReplaceAll(url.QueryEscape(p.Text), "+", "%20")
			for _, query := range []string{once, url.PathEscape(once)} {
				got, err := url.PathUnescape(secrets.Replace("https://a.example/?u="+query+"&there=1", "REMOVED"))
				require.NoError(t, err)
				got, err = url.PathUnescape(got)
				require.NoError(t, err)
				require.NotContains(t, got, p.Secret)
			}
			escaped := p.Text
			for level := range 3 {
				got := secrets.Replace("It is "+escaped+" there.", "REMOVED")
				require.NotContains(t, got, p.Secret, "escaped %d times", level)
				for line := range strings.FieldsSeq(p.Secret) { // of a block
					require.False(t, len(line) > 12 && strings.Contains(got, line), "%s\nescaped %d times: %s", p.Text, level, got)
				}
				require.Contains(t, got, "there.", p.Text)
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
		`"key": "`, `"token","`, "<token>", "-u ", "Bearer ", "login a password ", `\`, `\u005c`} {
		text := strings.Repeat(begin, 1<<15) + " "
		require.NotContains(t, secrets.Replace(text+"sk-abcdefghijklmnop1", "REMOVED"), "sk-abcdefghijklmnop1", begin)
	}
}

// In base64 every beginning occurs by chance; a key at the end of a path does not.
func TestAKeyBehindALongPathIsFound(t *testing.T) {
	path := "gateway/" + strings.Repeat("0123456789", 8) + "/"
	require.Equal(t, path+"REMOVED", secrets.Replace(path+"sk-live-0123456789abcdef", "REMOVED"))
}
