package cassettes

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// planted makes secrets of each kind.
var planted = map[string]func(*rand.Rand) string{
	"openai":    func(r *rand.Rand) string { return "sk-proj-" + word(r, 40) },
	"anthropic": func(r *rand.Rand) string { return "sk-ant-api03-" + word(r, 60) + "-AA" },
	"google":    func(r *rand.Rand) string { return "AIza" + word(r, 35) },
	"groq":      func(r *rand.Rand) string { return "gsk_" + word(r, 40) },
	"xai":       func(r *rand.Rand) string { return "xai-" + word(r, 40) },
	"github":    func(r *rand.Rand) string { return "ghp_" + word(r, 36) },
	"org":       func(r *rand.Rand) string { return "org-" + word(r, 24) },
	"project":   func(r *rand.Rand) string { return "proj_" + word(r, 24) },
	"jwt":       func(r *rand.Rand) string { return "eyJ" + word(r, 20) + ".eyJ" + word(r, 30) + "." + word(r, 43) },
}

func word(r *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// No planted secret reaches a file, wherever it is: neither one that looks like a key, nor a credential of the
// request, nor a cookie.
func TestNoPlantedSecretIsSaved(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	odd := func() string { return word(r, 9) + `"/+ \` + word(r, 9) } // not like a key, and escaped in JSON and addresses
	for n := range 50 {
		var secrets []string
		secret := func() string {
			s := odd()
			if kinds := []string{"openai", "anthropic", "google", "groq", "xai", "github", "org", "project", "jwt"}; r.IntN(
				2,
			) == 0 {
				s = planted[kinds[r.IntN(len(kinds))]](r)
			}
			secrets = append(secrets, s)
			return s
		}
		key, param, cookie, set := secret(), secret(), word(r, 16), word(r, 16)
		secrets = append(secrets, cookie, set)
		looks := planted["org"](r)
		secrets = append(secrets, looks)
		everything := strings.Join(secrets, " and ")
		body := fmt.Sprintf(`{"said":%q,"zipped":%q}`, everything, base64.StdEncoding.EncodeToString([]byte(key)))
		req, err := http.NewRequest(http.MethodPost, chat+"?alt=sse&key="+url.QueryEscape(param), strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{"Authorization": {"Bearer " + key}, "Cookie": {"session=" + cookie + "; theme=dark"},
			"X-Custom": {everything}, "Content-Type": {"application/json; note=" + looks}}
		req.Form = url.Values{"said": {everything}}
		path := talkFile(t)
		rec := recordAnew(t, path, replying(func() (*http.Response, error) {
			resp := answer("text/event-stream", data("%s", everything)+data("%s", mustJSON(everything))+data("[DONE]"))
			resp.Header["Set-Cookie"] = []string{"id=" + set + "; Path=/; Domain=.openai.com; HttpOnly"}
			resp.Header["X-Leak"], resp.Trailer = []string{everything}, http.Header{"X-Trailer": {everything}}
			resp.Status = "200 fine, " + looks
			return resp, nil
		}))
		exchanged(t, rec, req)
		require.NoError(t, rec.Close())

		for _, name := range []string{path, timingFile(path)} {
			file, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, s := range secrets {
				for form, text := range map[string]string{"plain": s, "JSON": strings.Trim(mustJSON(s), `"`),
					"address": url.QueryEscape(s), "base64": base64.StdEncoding.EncodeToString([]byte(s))} {
					require.NotContains(t, string(file), text, "round %d of seed %d, %s", n, seed, form)
				}
			}
			if name == path {
				require.Contains(t, string(file), "api.openai.com")
			}
		}
		_, err = New(path)
		require.NoError(t, err, "the timings fit")
	}
}

func mustJSON(s string) string { return jsonvalue.Canonical(s) }

// A secret of one request is removed from all: a client may tell one provider the key of another.
func TestSecretOfOneRequestIsRemovedFromAll(t *testing.T) {
	path := talkFile(t)
	const key, password, named = "first-providers-key", "pass:word of basic", "what the caller names"
	everything := strings.Join([]string{key, password, named}, " and ")
	within := base64.StdEncoding.EncodeToString([]byte("ab" + key + "cd"))
	provider := replying(func() (*http.Response, error) { return answer("text/plain", everything+within), nil })
	for _, mode := range []Mode{RecordAnew, ReplayOnly} {
		tr := opened(t, path, WithSecrets(named), WithTransport(provider), WithMode(mode))
		for _, header := range []string{"", "Bearer " + key, "Basic " +
			base64.StdEncoding.EncodeToString([]byte("user:"+password))} {
			status, _ := send(t, tr, "https://api.example.com/"+url.PathEscape(named)+"?q="+url.QueryEscape(named), named,
				http.Header{"Authorization": {header}})
			require.Equal(t, 200, status)
		}
		require.NoError(t, tr.Close())
	}
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, s := range []string{key, password, named, url.PathEscape(named), url.QueryEscape(named),
		base64.StdEncoding.EncodeToString([]byte(key))[4:16], within[4:20]} {
		require.NotContains(t, string(file), s)
	}
	require.Equal(t, 3, strings.Count(string(file), "body: REDACTED and REDACTED and REDACTEDYWJREDACTED"))
}

// A test key may be an ordinary word of the conversation.
func TestConversationReplaysWithAnotherKey(t *testing.T) {
	path := talkFile(t)
	for _, c := range []struct {
		mode Mode
		key  string
	}{{RecordAnew, "of-a-person"}, {ReplayOnly, "lm-studio"}, {RecordAnew, "lm-studio"}, {ReplayOnly, "of-a-person"}} {
		tr := opened(t, path, WithMode(c.mode), WithTransport(&counting{}))
		for _, said := range []string{"Set it to lm-studio.", "Set it to another one."} {
			status, _ := send(t, tr, chat, `{"messages":[{"role":"user","content":"`+said+`"}]}`,
				http.Header{"Authorization": {"Bearer " + c.key}})
			require.Equal(t, 200, status, c)
		}
		require.NoError(t, tr.Close())
	}
}

func TestCredentialHeadersOfGatewaysAreKnown(t *testing.T) {
	for name, value := range map[string]string{"Authorization": "Key the-key-of-it",
		"Ocp-Apim-Subscription-Key": "the-key-of-it",
		"Cf-Access-Client-Secret":   "the-key-of-it", "X-Auth-Token": "Bearer the-key-of-it",
		"Proxy-Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("the-key-of-it:"))} {
		require.Equal(t, "say REDACTED", newScrubber(http.Header{name: {value}}, nil).Replace("say the-key-of-it"), name)
	}
	for _, user := range []*url.Userinfo{url.User("the-key-of-it"), url.UserPassword("somebody", "the-key-of-it")} {
		require.Equal(t, "somebody says REDACTED",
			newScrubber(nil, &url.URL{User: user}).Replace("somebody says the-key-of-it"))
	}
}

// A gzipped request is recorded uncompressed, without secrets, and found in both forms. Other encodings are not
// recorded.
func TestSecretsInCompressedRequestsAreRemoved(t *testing.T) {
	const body = `{"messages":[{"role":"user","content":"the-key-of-it"}]}`
	zipped := zip(body)
	path := talkFile(t)
	for _, c := range []struct {
		mode           Mode
		encoding, body string
		status         int
		wrong          string
	}{
		{RecordAnew, "gzip", zipped, 200, ""},
		{ReplayOnly, "gzip", zipped, 200, ""},
		{ReplayOnly, "", body, 200, ""},
		{RecordMissing, "zstd", body, 200, `was not recorded: the request body has the content encoding "zstd"`},
		{RecordMissing, "gzip", body, 200, "was not recorded: the request body is not valid gzip: gzip: invalid header"},
		{ReplayOnly, "zstd", body, 404, `POST /v1/chat/completions: the request body has the content encoding "zstd"`},
	} {
		var sent []byte
		real := transportFunc(func(r *http.Request) (*http.Response, error) {
			var err error
			sent, err = io.ReadAll(r.Body)
			require.Equal(t, c.encoding, r.Header.Get("Content-Encoding"))
			return answer("application/json", `{}`), err
		})
		tr := opened(t, path, WithMode(c.mode), WithTransport(real), AllowUnused())
		header := http.Header{"Authorization": {"Bearer the-key-of-it"}}
		if c.encoding != "" {
			header.Set("Content-Encoding", c.encoding)
		}
		status, _ := send(t, tr, chat, c.body, header)
		require.Equal(t, c.status, status)
		if c.mode != ReplayOnly {
			require.Equal(t, c.body, string(sent))
		}
		if err := tr.Close(); c.wrong == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.wrong)
		}
	}
	r := loaded(t, path)
	require.Len(t, r.interactions, 1)
	q := r.interactions[0].Request
	require.Equal(t, strings.Replace(body, "the-key-of-it", redacted, 1), q.Body)
	require.EqualValues(t, len(q.Body), q.ContentLength)
	require.NotContains(t, q.Headers, "Content-Encoding")
}
