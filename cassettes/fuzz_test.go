package cassettes

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An exchange reads back unchanged except for secrets, or it is reported as not recorded.
func FuzzSaveAndLoad(f *testing.F) {
	f.Add(`{"model":"m"}`, "data: {\"a\":1}\r\n\r\n: x\n\n", "text/event-stream", "sk-0123456789abcdef")
	f.Add("\n x", " \n\n# end: 0 interactions\n", "application/json", "")
	f.Add("\xff\x00", "...\n---\n", "x; y=\"", "a b")
	f.Fuzz(func(t *testing.T, asked, said, mediaType, key string) {
		path := talkFile(t)
		rec := recordAnew(t, path, replying(func() (*http.Response, error) { return answer(mediaType, said), nil }))
		header := http.Header{"Authorization": {"Bearer " + key}}
		_, live := send(t, rec, chat, asked, header)
		require.Equal(t, said, live)
		if err := rec.Close(); err != nil {
			require.ErrorContains(t, err, ": request 1, POST "+chat+", was not recorded: ")
			return
		}
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(key) >= 16 && !strings.Contains(redacted, key) { // a shorter one may occur by chance
			require.NotContains(t, string(file), key)
		}
		tr := opened(t, path)
		_, played := send(t, tr, chat, asked, header)
		require.Equal(t, edited(said, newScrubber(header, nil).inBody(said, false)), played)
		require.NoError(t, tr.Close())
	})
}
