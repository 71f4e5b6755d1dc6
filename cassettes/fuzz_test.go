package cassettes

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is asked and answered comes back from the file as it was, but for secrets, or is said not to have been recorded.
func FuzzSaveAndLoad(f *testing.F) {
	f.Add(`{"model":"m"}`, "data: {\"a\":1}\r\n\r\n: x\n\n", "text/event-stream", "sk-0123456789abcdef")
	f.Add("\n x", " \n\n# end: 0 interactions\n", "application/json", "")
	f.Add("\xff\x00", "...\n---\n", "x; y=\"", "a b")
	f.Fuzz(func(t *testing.T, asked, said, mediaType, key string) {
		path := filepath.Join(t.TempDir(), "talk.yaml")
		rec, err := Record(path, transportFunc(func(*http.Request) (*http.Response, error) {
			return answer(mediaType, said), nil
		}), Recorded)
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPost, chat, strings.NewReader(asked))
		require.NoError(t, err)
		req.Header = http.Header{"Authorization": {"Bearer " + key}}
		resp, err := rec.RoundTrip(req)
		require.NoError(t, err)
		live, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, said, string(live))
		require.NoError(t, resp.Body.Close())
		if err := rec.Close(); err != nil {
			require.ErrorContains(t, err, ": request 1, POST "+chat+", was not recorded: ")
			return
		}
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(key) >= 16 && !strings.Contains(redacted, key) { // a shorter one may be in a file by chance
			require.NotContains(t, string(file), key)
		}
		tr, err := New(path)
		require.NoError(t, err)
		again, err := http.NewRequest(http.MethodPost, chat, strings.NewReader(asked))
		require.NoError(t, err)
		again.Header = req.Header
		resp, err = tr.RoundTrip(again)
		require.NoError(t, err)
		played, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, edited(said, cleaner(req.Header, nil).inBody(said, false)), string(played))
		require.NoError(t, tr.Close())
	})
}
