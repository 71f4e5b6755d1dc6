package cassettes

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func bodies(t *testing.T, path string) (all []string) {
	t.Helper()
	for n, it := range loaded(t, path).interactions {
		require.Equal(t, n, it.ID)
		all = append(all, it.Request.Body)
	}
	return all
}

func TestUpdateReplacesWhatNoLongerMatches(t *testing.T) {
	path := recordedChat(t, `{"a":1}`, `{"b":1}`, `{"a":1}`, `{"c":1}`)
	provider := &counting{}
	tr := opened(t, path, WithMode(Update), WithTransport(provider))
	require.Contains(t, asks(t, tr, `{"c":1}`), `"asked":4`)
	require.Contains(t, asks(t, tr, `{"b":2}`), `"asked":1`)
	require.Contains(t, asks(t, tr, `{"a":1}`), `"asked":1`)
	require.NoError(t, tr.Close())
	require.Equal(t, 1, provider.asked)
	require.Equal(t, []string{`{"a":1}`, `{"c":1}`, `{"b":2}`}, bodies(t, path))
	require.Len(t, loaded(t, path).timings, 3)

	tr = opened(t, path, WithMode(Update), WithTransport(provider))
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close())
	require.Equal(t, []string{`{"a":1}`}, bodies(t, path), "also if nothing is missing")
}

func TestUpdateKeepsACassetteThatWasNotUsed(t *testing.T) {
	path := recordedChat(t, `{"a":1}`, `{"b":1}`)
	tr := opened(t, path, WithMode(Update))
	require.NoError(t, tr.Close())
	require.Len(t, bodies(t, path), 2)

	tr = opened(t, path, WithMode(Update), WithTransport(&counting{}))
	asks(t, tr, `{"a":1}`)
	tr.keepUnused() // the test or the program fails
	require.NoError(t, tr.Close())
	require.Len(t, bodies(t, path), 2)
}

// Without a key, a provider answers only with errors.
func TestErrorsAloneAreRefused(t *testing.T) {
	unauthorized := roundTrip(func(*http.Request) (*http.Response, error) {
		resp := answer("application/json", `{"error": "invalid key"}`)
		resp.StatusCode, resp.Status = 401, "401 Unauthorized"
		return resp, nil
	})
	path := talkFile(t)
	tr := opened(t, path, WithMode(RecordAnew), WithTransport(unauthorized), RefuseErrors())
	asks(t, tr, `{"a":1}`)
	require.ErrorContains(t, tr.Close(),
		`all answers are errors (1); the first is 401 Unauthorized: {"error": "invalid key"}`)
	require.NoFileExists(t, path)

	path = recordedChat(t, `{"a":1}`, `{"b":1}`)
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	tr = opened(t, path, WithMode(Update), WithTransport(unauthorized), RefuseErrors())
	asks(t, tr, `{"a":2}`)
	require.Error(t, tr.Close())
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(was), string(is))

	tr = opened(t, path, WithMode(RecordMissing), WithTransport(unauthorized), AllowUnused())
	asks(t, tr, `{"a":2}`)
	require.NoError(t, tr.Close(), "a test may want an error")
	require.Len(t, bodies(t, path), 3)
}
