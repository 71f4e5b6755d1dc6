package cassettes

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// teller is how a dialect streams texts: one event for each piece, and where in an event a piece of which text stands.
type teller struct {
	mediaType string
	event     func(text int, piece string) string // piece is a JSON string
	end       string
	read      func(event map[string]any) (text int, piece string)
}

// at returns what stands under the names and places in a tree; nil for nothing.
func at(tree any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			o, _ := tree.(map[string]any)
			tree = o[s]
		case int:
			if list, ok := tree.([]any); ok && s < len(list) {
				tree = list[s]
			} else {
				tree = nil
			}
		}
	}
	return tree
}

func textAt(tree any, path ...any) string {
	text, _ := at(tree, path...).(string)
	return text
}

func intAt(tree any, path ...any) int {
	n, _ := at(tree, path...).(float64)
	return int(n)
}

const sse = "text/event-stream"

// tellers are all dialects, with what a model says and with what it gives to tools.
var tellers = map[string]teller{
	dialect.OpenAIChat: {sse, func(n int, p string) string {
		return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"model\":\"m\",\"choices\":[{\"index\":%d,\"delta\":{\"content\":%s}}]}\n\n", n, p)
	}, "data: [DONE]\n\n", func(e map[string]any) (int, string) {
		return intAt(e, "choices", 0, "index"), textAt(e, "choices", 0, "delta", "content")
	}},
	dialect.OpenAIChat + " arguments": {sse, func(n int, p string) string {
		return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":%s},\"index\":%d}]},\"index\":0}]}\n\n", p, n)
	}, "data: [DONE]\n\n", func(e map[string]any) (int, string) {
		call := at(e, "choices", 0, "delta", "tool_calls", 0)
		return intAt(call, "index"), textAt(call, "function", "arguments")
	}},
	dialect.OpenAIResponses: {sse, func(n int, p string) string {
		return fmt.Sprintf("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_%d\",\"output_index\":%d,\"content_index\":0,\"delta\":%s}\n\n", n, n, p)
	}, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n", func(e map[string]any) (int, string) {
		return intAt(e, "output_index"), textAt(e, "delta")
	}},
	dialect.OpenAIResponses + " arguments beside text": {sse, func(n int, p string) string { // which have one place, and differ in their kind
		kind := []string{"response.output_text.delta", "response.function_call_arguments.delta"}[n]
		return fmt.Sprintf("data: {\"delta\":%s,\"type\":%q}\n\n", p, kind)
	}, "", func(e map[string]any) (int, string) {
		return map[string]int{"response.function_call_arguments.delta": 1}[textAt(e, "type")], textAt(e, "delta")
	}},
	dialect.Anthropic: {sse, func(n int, p string) string {
		return fmt.Sprintf("event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\r\n\r\n", n, p)
	}, "event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n", func(e map[string]any) (int, string) {
		return intAt(e, "index"), textAt(e, "delta", "text")
	}},
	dialect.Anthropic + " arguments": {sse, func(n int, p string) string {
		return fmt.Sprintf("data: {\"type\":\"content_block_delta\",\ndata: \"index\":%d,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}\n\n", n, p)
	}, "", func(e map[string]any) (int, string) { return intAt(e, "index"), textAt(e, "delta", "partial_json") }},
	dialect.Gemini + " thoughts beside text": {sse, func(n int, p string) string {
		return fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%s,\"thought\":%t}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n", p, n == 1)
	}, "", func(e map[string]any) (int, string) {
		part := at(e, "candidates", 0, "content", "parts", 0)
		return map[any]int{true: 1}[at(part, "thought")], textAt(part, "text")
	}},
	dialect.Gemini + " in one array": {"application/json", func(n int, p string) string {
		return fmt.Sprintf(" {\"candidates\":[{\"index\":%d,\"content\":{\"parts\":[{\"text\":%s}]}}]},\n", n, p)
	}, "", func(e map[string]any) (int, string) {
		return intAt(e, "candidates", 0, "index"), textAt(e, "candidates", 0, "content", "parts", 0, "text")
	}},
	dialect.Ollama + " thoughts beside text": {"application/x-ndjson", func(n int, p string) string {
		return fmt.Sprintf("{\"model\":\"m\",\"message\":{\"role\":\"assistant\",%q:%s},\"done\":false}\n", []string{"content", "thinking"}[n], p)
	}, "{\"done\":true}\n", func(e map[string]any) (int, string) {
		if thought := textAt(e, "message", "thinking"); thought != "" {
			return 1, thought
		}
		return 0, textAt(e, "message", "content")
	}},
}

// literal writes UTF-16 as a JSON string, each unit in one of the ways in which it may be written. Half a character is escaped.
func literal(r *rand.Rand, units []uint16) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		case u == '"' || u == '\\':
			b.WriteString(`\` + string(rune(u)))
		case utf16.IsSurrogate(rune(u)) || u < ' ' || r.IntN(5) == 0:
			fmt.Fprintf(&b, `\u%04x`, u)
		default:
			b.WriteRune(rune(u))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// retold puts the texts of a body together again.
func (l *teller) retold(t *testing.T, body string) []string {
	texts := make([]string, 2)
	for _, event := range events([]byte(body)) {
		var data []string
		for line := range strings.Lines(string(event)) {
			switch text, isData := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: "); {
			case isData:
				data = append(data, text)
			case l.mediaType != sse:
				data = append(data, strings.Trim(text, "[],"))
			}
			if l.mediaType == sse && strings.Trim(line, "\r\n") != "" {
				continue
			}
			var e map[string]any
			if text := strings.Join(data, "\n"); text != "" && text != "[DONE]" {
				require.NoError(t, json.Unmarshal([]byte(text), &e), text)
				n, piece := l.read(e)
				texts[n] += piece
			}
			data = nil
		}
	}
	return texts
}

// What a model says a few letters at a time is a secret all the same, wherever it is cut and however its letters are written; what it says beside
// stays, in the pieces in which it came.
func TestASecretThatIsSaidInPiecesIsInNoFile(t *testing.T) {
	const seed = 11
	for name, l := range tellers {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, seed))
			for round := range 12 {
				odd := word(r, 7) + `"/+ \é🗼` + word(r, 7)
				secrets := []string{odd, planted["openai"](r), planted["jwt"](r), planted["github"](r)}
				said := make([]string, 2)
				for n := range said {
					for _, s := range secrets {
						said[n] += word(r, r.IntN(6)) + " is " + s + ". "
					}
					if strings.Contains(name, "arguments") { // where it stands in JSON in a text in JSON
						said[n] = string(mustJSON(said[n]))
					}
				}
				var body strings.Builder
				left := [][]uint16{utf16.Encode([]rune(said[0])), utf16.Encode([]rune(said[1]))}
				for len(left[0])+len(left[1]) > 0 {
					n := r.IntN(2)
					cut := min(1+r.IntN(1+3*round), len(left[n]))
					if cut > 0 {
						body.WriteString(l.event(n, literal(r, left[n][:cut])))
						left[n] = left[n][cut:]
					}
				}
				body.WriteString(l.end)
				whole := body.String()
				if strings.HasSuffix(name, "array") {
					whole = "[" + strings.TrimSuffix(whole, ",\n") + "]"
				}

				path := filepath.Join(t.TempDir(), "talk.yaml")
				rec, err := Record(path, replying(func() (*http.Response, error) { return answer(l.mediaType, whole), nil }), Recorded)
				require.NoError(t, err)
				req, err := http.NewRequest(http.MethodPost, chat, strings.NewReader("{}"))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer "+odd)
				resp, err := rec.RoundTrip(req)
				require.NoError(t, err)
				live, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, whole, string(live), "the caller gets the stream as it is")
				require.NoError(t, rec.Close())

				f, err := Read(path)
				require.NoError(t, err)
				for n, text := range l.retold(t, f.Interactions[0].Response) {
					want := said[n]
					for _, s := range secrets {
						want = strings.ReplaceAll(strings.ReplaceAll(want, s, redacted), strings.Trim(string(mustJSON(s)), `"`), redacted)
					}
					require.Equal(t, want, text, "round %d of seed %d", round, seed)
				}
				require.Empty(t, f.Lint(odd))
				require.Equal(t, f.Interactions[0].Response, edited(f.Interactions[0].Response, cleaner(req.Header, nil).inBody(f.Interactions[0].Response, false)))

				// One that stock go-vcr has recorded is found.
				leaky := strings.NewReplacer("'{}'", string(mustJSON(whole)), "headers: {}", "headers: {Content-Type: ["+l.mediaType+"]}").Replace(small)
				require.NoError(t, os.WriteFile(path, []byte(leaky), 0o600))
				f, err = Read(path)
				require.NoError(t, err)
				require.True(t, slices.ContainsFunc(f.Lint(), func(f Finding) bool {
					return f.Where == "response body" && strings.Contains(f.What, "what looks like a secret")
				}))
			}
		})
	}
}

func TestSecretsInOddPieces(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz"
	for name, c := range map[string]struct{ body, want string }{
		"whole":            {`{"a":"` + key + `","b":["x"]}`, `{"a":"REDACTED","b":["x"]}`},
		"behind an escape": {`{"a":"one\n` + key + `"}`, `{"a":"one\nREDACTED"}`},
		"escaped":          {`{"a":"\u0073k-proj-abcdefghijklmnopqrst\u0075vwxyz!"}`, `{"a":"REDACTED!"}`},
		"the first piece looks like one, too": {"data: {\"t\":\"sk-proj-abcdefghijklmnopqrstuvw\"}\n\ndata: {\"t\":\"xyz !\"}\n\n",
			"data: {\"t\":\"REDACTED\"}\n\ndata: {\"t\":\" !\"}\n\n"},
		"in events of two kinds": {"data: {\"type\":\"start\",\"index\":1,\"block\":{\"text\":\"sk-proj-abc\"}}\n\ndata: {\"type\":\"delta\",\"index\":1,\"delta\":{\"text\":\"defghijklmnopqrst\"}}\n\n",
			"data: {\"type\":\"start\",\"index\":1,\"block\":{\"text\":\"REDACTED\"}}\n\ndata: {\"type\":\"delta\",\"index\":1,\"delta\":{\"text\":\"\"}}\n\n"},
		"as tokens, of which some are said elsewhere, too": {
			`{"choices":[{"logprobs":{"content":[{"token":"sk-proj-","top_logprobs":[{"token":"sk-proj-"},{"token":"no"}]},{"token":"abcdefghijklmnop","top_logprobs":[]}]}}]}`,
			`{"choices":[{"logprobs":{"content":[{"token":"REDACTED","top_logprobs":[{"token":"sk-proj-"},{"token":"no"}]},{"token":"","top_logprobs":[]}]}}]}`},
		"in texts that are apart":          {`{"content":[{"text":"` + key + `"},{"text":"and"}]}`, `{"content":[{"text":"REDACTED"},{"text":"and"}]}`},
		"as plain words":                   {"data: sk-proj-abc\n\ndata: defghijklmnopqrst\n\n", "data: REDACTED\n\ndata: \n\n"},
		"as plain words and numbers":       {"data: sk-proj-abc\n\ndata: 12345\n\ndata: 6defghijk\n\ndata: [DONE]\n\n", "data: REDACTED\n\ndata: \n\ndata: \n\ndata: [DONE]\n\n"},
		"with the line ends of an old Mac": {"\ufeffdata: {\"t\":\"sk-proj-ab\"}\r\rdata: {\"t\":\"cdefghijklmnop\"}\r\r", "\ufeffdata: {\"t\":\"REDACTED\"}\r\rdata: {\"t\":\"\"}\r\r"},
		"cut short":                        {"data: {\"a\":[{\"t\":\"my sk-proj-abcdefghijkl\"}]}\n\ndata: {\"a\":[{\"t\":\"mnopqrst", "data: {\"a\":[{\"t\":\"my REDACTED\"}]}\n\ndata: {\"a\":[{\"t\":\""},
		"cut short lines":                  {"{\"t\":\"my sk-proj-abcdefghijkl\"}\n{\"t\":\"mnopqrst", "{\"t\":\"my REDACTED\"}\n{\"t\":\""},
		"behind a line that is broken":     {"{\"t\":\"sk-proj-abcdefghijkl\"}\n{oh no\n{\"t\":\"mnopqrst\"}\n", "{\"t\":\"REDACTED\"}\n{oh no\n{\"t\":\"\"}\n"},
		"beside the same text in all":      {"{\"m\":\"sk-tiny\"}\n{\"m\":\"sk-tiny\"}\n{\"m\":\"sk-tiny\"}\n", "{\"m\":\"sk-tiny\"}\n{\"m\":\"sk-tiny\"}\n{\"m\":\"sk-tiny\"}\n"},
		"on both sides of a whole one":     {`[{"t":["sk-abcdefgh"]},{"u":"` + key + `"},{"t":["ijklmnopqrst"]}]`, `[{"t":["REDACTED"]},{"u":"REDACTED"},{"t":[""]}]`},
		"but not across a whole one":       {`{"t":["sk-abcdefgh","` + key + `","ijklmnopqrst"]}`, `{"t":["sk-abcdefgh","REDACTED","ijklmnopqrst"]}`},
		"of a part that is said twice": {"data: {\"t\":\"sk-proj-abcdefgh\"}\n\ndata: {\"t\":\"ijklmnopqrst \"}\n\ndata: {\"t\":\"sk-proj-abcdefgh\"}\n\ndata: {\"t\":\"ijklmnopqrst\"}\n\n",
			"data: {\"t\":\"REDACTED\"}\n\ndata: {\"t\":\" \"}\n\ndata: {\"t\":\"REDACTED\"}\n\ndata: {\"t\":\"\"}\n\n"},
		"beside those of another answer": {"data: {\"item_id\":\"a\",\"t\":\"sk-proj-abcdefgh\"}\n\ndata: {\"item_id\":\"b\",\"t\":\"other\"}\n\ndata: {\"item_id\":\"a\",\"t\":\"ijklmnopqrst\"}\n\n",
			"data: {\"item_id\":\"a\",\"t\":\"REDACTED\"}\n\ndata: {\"item_id\":\"b\",\"t\":\"other\"}\n\ndata: {\"item_id\":\"a\",\"t\":\"\"}\n\n"},
		"at the end of one, where the last event says more": {"{\"m\":{\"t\":\"sk-proj-abcdefghijkl\"},\"done\":false}\n{\"m\":{\"t\":\"mnop\"},\"done\":true}\n",
			"{\"m\":{\"t\":\"REDACTED\"},\"done\":false}\n{\"m\":{\"t\":\"\"},\"done\":true}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, edited(c.body, (&cleaning{}).inBody(c.body, false)))
		})
	}
}

func TestDeepBodiesAreRead(t *testing.T) {
	for _, deep := range []string{strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), strings.Repeat("[", 5000) + `"sk-proj-abcdefghijklmnop"` + strings.Repeat("]", 5000)} {
		require.Equal(t, (&cleaning{}).Replace(deep), edited(deep, (&cleaning{}).inBody(deep, false)))
	}
}

// However a body is broken, edits are in order and apart, what was JSON still is, and nothing is left to take out.
func FuzzInBody(f *testing.F) {
	f.Add("data: {\"t\":\"sk-proj-ab\\u0063def\"}\r\n\r\ndata: {\"t\":\n\rdata: \"gh\\/ijklmnopqrst\"}\n\n", "password")
	f.Add("[{\"a\":\"pass\\\\\"},\n{\"a\":\"\\\"word\"}]", `pass"word`)
	f.Add("{\"a\":\"\\ud83d\"}\n{\"a\":\"\\uddfcpassword", "🗼password")
	f.Fuzz(func(t *testing.T, body, secret string) {
		c := cleaner(nil, nil, secret)
		edits := c.inBody(body, false)
		last := 0
		for _, e := range edits {
			if e.from < last || e.to <= e.from || e.to > len(body) {
				t.Fatalf("%v of %q", edits, body)
			}
			last = e.to
		}
		clean := edited(body, edits)
		if json.Valid([]byte(body)) && !strings.ContainsAny(secret, "\"\\{}[],: ") && !json.Valid([]byte(clean)) {
			t.Fatalf("%q became %q", body, clean)
		}
		if strings.Contains(redacted, secret) {
			return
		}
		if again := c.inText(clean); again != nil {
			t.Fatalf("%q became %q, in which %v is left", body, clean, again)
		}
	})
}

// Of a secret that somebody was saying when the answer was cut short, the beginning is in no file either.
func TestASecretThatIsCutShort(t *testing.T) {
	c := cleaner(nil, nil, "not like a key at all")
	for body, want := range map[string]string{
		"data: {\"t\":\"It is not li\"}\n\ndata: {\"t\":\"ke a k\"}\n\n": "data: {\"t\":\"It is REDACTED\"}\n\ndata: {\"t\":\"\"}\n\n",
		"data: {\"t\":\"It is not li\"}\n\ndata: {\"t\":\"ke a k":        "data: {\"t\":\"It is REDACTED\"}\n\ndata: {\"t\":\"",
		"It is not like a":      "It is REDACTED",
		"It is not li":          "It is not li",
		"It is not like a cat.": "It is not like a cat.",
	} {
		require.Equal(t, want, edited(body, c.inBody(body, true)))
		require.Equal(t, body, edited(body, c.inBody(body, false)), "whoever was not cut short means what he says")
	}
}

// A client restates what the model has said. What it says of a secret when it is recorded, and of its place when it is played, is one request.
func TestAConversationOfASecretIsFoundAgain(t *testing.T) {
	l := tellers[dialect.OpenAIChat+" arguments"]
	var said strings.Builder
	for piece := range slices.Chunk([]rune(`{"key":"sk-proj-abcdefghijklmnopqrstuvwxyz","to":["é/\\"]}`), 3) {
		said.WriteString(l.event(0, string(mustJSON(string(piece)))))
	}
	provider := transportFunc(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if !strings.Contains(string(body), "arguments") {
			return answer(sse, said.String()+l.end), nil
		}
		return answer("application/json", `{"choices":[{"message":{"content":"Done."}}]}`), nil
	})
	path := filepath.Join(t.TempDir(), "talk.yaml")
	for _, mode := range []Mode{RecordAnew, ReplayOnly} {
		tr, err := New(path, WithMode(mode), WithTransport(provider))
		require.NoError(t, err)
		arguments := l.retold(t, asks(t, tr, `{"model":"m","messages":[{"role":"user","content":"Go."}]}`))[0]
		require.Equal(t, mode == RecordAnew, strings.Contains(arguments, "sk-proj-abcdefghijklmnopqrstuvwxyz"))
		call := `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":` + string(mustJSON(arguments)) + `}}]}`
		require.Contains(t, asks(t, tr, `{"model":"m","messages":[{"role":"user","content":"Go."},`+call+`,{"role":"tool","tool_call_id":"c","content":"ok"}]}`), "Done.")
		require.NoError(t, tr.Close())
	}
}

// Names of tools, and lists of words, are no text together.
func TestWhatARequestHasBesideTexts(t *testing.T) {
	for _, body := range []string{`{"tools":[{"name":"user-info"},{"name":"searchrepositories"}]}`, `{"enum":["user-agent","referer","accept","cookie"]}`,
		`{"required":["org-id","projectid","repositoryname"]}`, `{"messages":[{"content":"of an org-"},{"content":"and of internationalization"}]}`} {
		require.Equal(t, body, (&cleaning{}).request(body))
	}
}

// Some clients keep a stream as the pieces in which it came, and restate those.
func TestASecretThatIsRestatedInPieces(t *testing.T) {
	const key, odd = "sk-proj-abcdefghijklmnopqrstuvwxyz", "like no key at all"
	event := func(piece string) string {
		return `data: {"candidates":[{"content":{"parts":[{"text":` + string(mustJSON(piece)) + `}],"role":"model"},"index":0}]}` + "\r\n\r\n"
	}
	var said strings.Builder
	for piece := range slices.Chunk([]byte("It is "+key+", and "+odd+"."), 7) {
		said.WriteString(event(string(piece)))
	}
	provider := transportFunc(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if strings.Contains(string(body), "model") {
			return answer("application/json", `{}`), nil
		}
		return answer(sse, said.String()), nil
	})
	path := filepath.Join(t.TempDir(), "talk.yaml")
	send := func(tr *Transport, turns ...string) string {
		body := `{"contents":[{"role":"user","parts":[{"text":"Which?"}]}` + strings.Join(turns, "") + `]}`
		req, err := http.NewRequest(http.MethodPost, "https://h/v1beta/models/m:streamGenerateContent?alt=sse", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Goog-Api-Key", odd)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		heard, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return string(heard)
	}
	for _, mode := range []Mode{RecordAnew, ReplayOnly} {
		tr, err := New(path, WithMode(mode), WithTransport(provider))
		require.NoError(t, err)
		var turns []string
		for _, e := range events([]byte(send(tr))) {
			var chunk map[string]any
			require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(e), "data: ")), &chunk))
			piece := textAt(chunk, "candidates", 0, "content", "parts", 0, "text")
			turns = append(turns, `,{"role":"model","parts":[{"text":`+string(mustJSON(piece))+`}]}`)
		}
		send(tr, turns...)
		require.NoError(t, tr.Close())
	}
	f, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(f.Interactions[1].Request, redacted))
	require.NotContains(t, f.Interactions[1].Request, "fghij")
	require.Empty(t, f.Lint(odd))
	leaky := strings.Replace(small, `'{"messages":[]}'`, string(mustJSON(`{"a":[{"text":"sk-proj-ab"},{"text":"cdefghijklmnopqrst"}]}`)), 1)
	require.NoError(t, os.WriteFile(path, []byte(leaky), 0o600))
	f, err = Read(path)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(f.Lint(), func(f Finding) bool {
		return f.Where == "request body" && strings.Contains(f.What, "begins, in pieces, what looks like a secret")
	}))
}
