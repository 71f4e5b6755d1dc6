package cassettes

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// streaming is how a dialect streams texts: one event per piece, and where an event holds it.
type streaming struct {
	mediaType string
	event     func(text int, piece string) string // piece is a JSON string
	end       string
	read      func(event map[string]any) (text int, piece string)
}

// at returns the value under names and indexes of a tree, or nil.
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

// streams are all dialects, for texts and for tool arguments.
var streams = map[string]streaming{
	dialect.OpenAIChat: {sse, func(n int, p string) string {
		return data(`{"id":"chatcmpl-1","model":"m","choices":[{"index":%d,"delta":{"content":%s}}]}`, n, p)
	}, data("[DONE]"), func(e map[string]any) (int, string) {
		return intAt(e, "choices", 0, "index"), textAt(e, "choices", 0, "delta", "content")
	}},
	dialect.OpenAIChat + " arguments": {sse, func(n int, p string) string {
		return data(`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":%s},"index":%d}]},"index":0}]}`, p, n)
	}, data("[DONE]"), func(e map[string]any) (int, string) {
		call := at(e, "choices", 0, "delta", "tool_calls", 0)
		return intAt(call, "index"), textAt(call, "function", "arguments")
	}},
	dialect.OpenAIResponses: {sse, func(n int, p string) string {
		return "event: response.output_text.delta\n" +
			data(
				`{"type":"response.output_text.delta","item_id":"msg_%d","output_index":%[1]d,"content_index":0,"delta":%s}`,
				n,
				p,
			)
	}, "event: response.completed\n" + data(`{"type":"response.completed"}`), func(e map[string]any) (int, string) {
		return intAt(e, "output_index"), textAt(e, "delta")
	}},
	dialect.OpenAIResponses + " arguments beside text": {sse, func(n int, p string) string { // only the type differs
		kind := []string{"response.output_text.delta", "response.function_call_arguments.delta"}[n]
		return data(`{"delta":%s,"type":%q}`, p, kind)
	}, "", func(e map[string]any) (int, string) {
		return map[string]int{"response.function_call_arguments.delta": 1}[textAt(e, "type")], textAt(e, "delta")
	}},
	dialect.Anthropic: {sse, func(n int, p string) string {
		return crlf("event: content_block_delta\n" +
			data(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, n, p))
	}, crlf("event: message_stop\n" + data(`{"type":"message_stop"}`)), func(e map[string]any) (int, string) {
		return intAt(e, "index"), textAt(e, "delta", "text")
	}},
	dialect.Anthropic + " arguments": {sse, func(n int, p string) string {
		return data("{\"type\":\"content_block_delta\",\ndata: \"index\":%d,\"delta\":{\"type\":\"input_json_delta\","+
			"\"partial_json\":%s}}", n, p)
	}, "", func(e map[string]any) (int, string) { return intAt(e, "index"), textAt(e, "delta", "partial_json") }},
	dialect.Gemini + " thoughts beside text": {sse, func(n int, p string) string {
		return crlf(
			data(`{"candidates":[{"content":{"parts":[{"text":%s,"thought":%t}],"role":"model"},"index":0}]}`, p, n == 1),
		)
	}, "", func(e map[string]any) (int, string) {
		part := at(e, "candidates", 0, "content", "parts", 0)
		return map[any]int{true: 1}[at(part, "thought")], textAt(part, "text")
	}},
	dialect.Gemini + " in one array": {"application/json", func(n int, p string) string {
		return fmt.Sprintf(" {\"candidates\":[{\"index\":%d,\"content\":{\"parts\":[{\"text\":%s}]}}]},\n", n, p)
	}, "", func(e map[string]any) (int, string) {
		return intAt(e, "candidates", 0, "index"), textAt(e, "candidates", 0, "content", "parts", 0, "text")
	}},
	dialect.CohereChat: {sse, func(n int, p string) string {
		return "event: content-delta\n" +
			data(`{"type":"content-delta","index":%d,"delta":{"message":{"content":{"text":%s}}}}`, n, p)
	}, data("[DONE]"), func(e map[string]any) (int, string) {
		return intAt(e, "index"), textAt(e, "delta", "message", "content", "text")
	}},
	dialect.CohereChat + " arguments": {sse, func(n int, p string) string {
		return "event: tool-call-delta\n" + data(`{"type":"tool-call-delta","index":%d,"delta":{"message":`+
			`{"tool_calls":{"function":{"arguments":%s}}}}}`, n, p)
	}, data("[DONE]"), func(e map[string]any) (int, string) {
		return intAt(e, "index"), textAt(e, "delta", "message", "tool_calls", "function", "arguments")
	}},
	dialect.Ollama + " thoughts beside text": {"application/x-ndjson", func(n int, p string) string {
		return fmt.Sprintf(`{"model":"m","message":{"role":"assistant",%q:%s},"done":false}`+"\n",
			[]string{"content", "thinking"}[n], p)
	}, "{\"done\":true}\n", func(e map[string]any) (int, string) {
		if thought := textAt(e, "message", "thinking"); thought != "" {
			return 1, thought
		}
		return 0, textAt(e, "message", "content")
	}},
}

// data returns an event with one line of data.
func data(format string, args ...any) string { return "data: " + fmt.Sprintf(format, args...) + "\n\n" }

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// literal writes UTF-16 as a JSON string with a random choice of escapes. A lone surrogate is escaped.
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

// joined returns the two texts of a body.
func (l *streaming) joined(t *testing.T, body string) []string {
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

// A secret is removed wherever it is split and however it is escaped. Other text keeps its pieces.
func TestSecretInStreamedPiecesIsRemoved(t *testing.T) {
	const seed = 11
	for name, l := range streams {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, seed))
			for round := range 8 {
				odd := word(r, 7) + `"/+ \é🗼` + word(r, 7)
				secrets := []string{odd, planted["openai"](r), planted["jwt"](r), planted["github"](r)}
				said := make([]string, 2)
				for n := range said {
					for _, s := range secrets {
						said[n] += word(r, r.IntN(6)) + " is " + s + ". "
					}
					if strings.Contains(name, "arguments") { // JSON in a text in JSON
						said[n] = mustJSON(said[n])
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

				path := talkFile(t)
				rec := recordAnew(t, path, replying(func() (*http.Response, error) { return answer(l.mediaType, whole), nil }))
				header := http.Header{"Authorization": {"Bearer " + odd}}
				_, live := send(t, rec, chat, "{}", header)
				require.Equal(t, whole, live, "the caller gets the original stream")
				require.NoError(t, rec.Close())

				f := inspected(t, path)
				for n, text := range l.joined(t, f.Interactions[0].Response) {
					want := said[n]
					for _, s := range secrets {
						want = strings.ReplaceAll(strings.ReplaceAll(want, s, redacted),
							strings.Trim(mustJSON(s), `"`), redacted)
					}
					require.Equal(t, want, text, "round %d of seed %d", round, seed)
				}
				require.Empty(t, f.Lint(odd))
				saved := f.Interactions[0].Response
				require.Equal(t, saved, edited(saved, newScrubber(header, nil).inBody(saved, false)))

				// Lint finds it in a file that go-vcr has written.
				leaky := strings.NewReplacer("'{}'", mustJSON(whole), "headers: {}", "headers: {Content-Type: ["+l.mediaType+"]}").
					Replace(small)
				require.True(t, lints(t, path, leaky, "response body", "what looks like a secret"))
			}
		})
	}
}

// lints writes a file and reports whether Lint finds this.
func lints(t *testing.T, path, file, where, what string) bool {
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	f := inspected(t, path)
	return slices.ContainsFunc(f.Lint(),
		func(f Finding) bool { return f.Where == where && strings.Contains(f.What, what) })
}

func TestSecretInUnusualPiecesIsRemoved(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz"
	for name, c := range map[string]struct{ body, want string }{
		"whole":           {`{"a":"` + key + `","b":["x"]}`, `{"a":"REDACTED","b":["x"]}`},
		"after an escape": {`{"a":"one\n` + key + `"}`, `{"a":"one\nREDACTED"}`},
		"escaped":         {`{"a":"\u0073k-proj-abcdefghijklmnopqrst\u0075vwxyz!"}`, `{"a":"REDACTED!"}`},
		"first piece looks like one": {data(`{"t":"sk-proj-abcdefghijklmnopqrstuvw"}`) + data(`{"t":"xyz !"}`),
			data(`{"t":"REDACTED"}`) + data(`{"t":" !"}`)},
		"two kinds of events": {data(`{"type":"start","index":1,"block":{"text":"sk-proj-abc"}}`) +
			data(`{"type":"delta","index":1,"delta":{"text":"defghijklmnopqrst"}}`),
			data(`{"type":"start","index":1,"block":{"text":"REDACTED"}}`) +
				data(`{"type":"delta","index":1,"delta":{"text":""}}`)},
		"tokens, some repeated": {
			`{"choices":[{"logprobs":{"content":[{"token":"sk-proj-","top_logprobs":[{"token":"sk-proj-"},{"token":"no"}]},` +
				`{"token":"abcdefghijklmnop","top_logprobs":[]}]}}]}`,
			`{"choices":[{"logprobs":{"content":[{"token":"REDACTED","top_logprobs":[{"token":"sk-proj-"},{"token":"no"}]},` +
				`{"token":"","top_logprobs":[]}]}}]}`},
		"separate texts": {`{"content":[{"text":"` + key + `"},{"text":"and"}]}`,
			`{"content":[{"text":"REDACTED"},{"text":"and"}]}`},
		"plain words": {data("sk-proj-abc") + data("defghijklmnopqrst"), data("REDACTED") + data("")},
		"plain words, numbers": {data("sk-proj-abc") + data("12345") + data("6defghijk") + data("[DONE]"),
			data("REDACTED") + data("") + data("") + data("[DONE]")},
		"CR line ends": {"\ufeffdata: {\"t\":\"sk-proj-ab\"}\r\rdata: {\"t\":\"cdefghijklmnop\"}\r\r",
			"\ufeffdata: {\"t\":\"REDACTED\"}\r\rdata: {\"t\":\"\"}\r\r"},
		"truncated events": {data(`{"a":[{"t":"my sk-proj-abcdefghijkl"}]}`) + `data: {"a":[{"t":"mnopqrst`,
			data(`{"a":[{"t":"my REDACTED"}]}`) + `data: {"a":[{"t":"`},
		"truncated lines": {"{\"t\":\"my sk-proj-abcdefghijkl\"}\n{\"t\":\"mnopqrst", "{\"t\":\"my REDACTED\"}\n{\"t\":\""},
		"after an invalid line": {"{\"t\":\"sk-proj-abcdefghijkl\"}\n{oh no\n{\"t\":\"mnopqrst\"}\n",
			"{\"t\":\"REDACTED\"}\n{oh no\n{\"t\":\"\"}\n"},
		"constant text": {strings.Repeat("{\"m\":\"sk-tiny\"}\n", 3), strings.Repeat("{\"m\":\"sk-tiny\"}\n", 3)},
		"around a whole one": {`[{"t":["sk-abcdefgh"]},{"u":"` + key + `"},{"t":["ijklmnopqrst"]}]`,
			`[{"t":["REDACTED"]},{"u":"REDACTED"},{"t":[""]}]`},
		"not across a whole one": {`{"t":["sk-abcdefgh","` + key + `","ijklmnopqrst"]}`,
			`{"t":["sk-abcdefgh","REDACTED","ijklmnopqrst"]}`},
		"a part that occurs twice": {data(`{"t":"sk-proj-abcdefgh"}`) + data(`{"t":"ijklmnopqrst "}`) +
			data(`{"t":"sk-proj-abcdefgh"}`) + data(`{"t":"ijklmnopqrst"}`),
			data(`{"t":"REDACTED"}`) + data(`{"t":" "}`) + data(`{"t":"REDACTED"}`) + data(`{"t":""}`)},
		"another item between": {data(`{"item_id":"a","t":"sk-proj-abcdefgh"}`) + data(`{"item_id":"b","t":"other"}`) +
			data(`{"item_id":"a","t":"ijklmnopqrst"}`),
			data(`{"item_id":"a","t":"REDACTED"}`) + data(`{"item_id":"b","t":"other"}`) + data(`{"item_id":"a","t":""}`)},
		"last event says more": {"{\"m\":{\"t\":\"sk-proj-abcdefghijkl\"},\"done\":false}\n{\"m\":{\"t\":\"mnop\"}," +
			"\"done\":true}\n",
			"{\"m\":{\"t\":\"REDACTED\"},\"done\":false}\n{\"m\":{\"t\":\"\"},\"done\":true}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, edited(c.body, (&scrubber{}).inBody(c.body, false)))
		})
	}
}

func TestDeeplyNestedBodiesAreRead(t *testing.T) {
	for _, deep := range []string{strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
		strings.Repeat("[", 5000) + `"sk-proj-abcdefghijklmnop"` + strings.Repeat("]", 5000)} {
		require.Equal(t, (&scrubber{}).Replace(deep), edited(deep, (&scrubber{}).inBody(deep, false)))
	}
}

// Edits are sorted and disjoint, valid JSON stays valid, and no secret is left.
func FuzzInBody(f *testing.F) {
	f.Add("data: {\"t\":\"sk-proj-ab\\u0063def\"}\r\n\r\ndata: {\"t\":\n\rdata: \"gh\\/ijklmnopqrst\"}\n\n", "password")
	f.Add("[{\"a\":\"pass\\\\\"},\n{\"a\":\"\\\"word\"}]", `pass"word`)
	f.Add("{\"a\":\"\\ud83d\"}\n{\"a\":\"\\uddfcpassword", "🗼password")
	f.Fuzz(func(t *testing.T, body, secret string) {
		c := newScrubber(nil, nil, secret)
		edits := c.inBody(body, false)
		last := 0
		for _, e := range edits {
			if e.From < last || e.To <= e.From || e.To > len(body) {
				t.Fatalf("%v of %q", edits, body)
			}
			last = e.To
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

// Only an answer that was cut short may end with the beginning of a secret.
func TestSecretAtTheEndOfATruncatedAnswerIsRemoved(t *testing.T) {
	c := newScrubber(nil, nil, "not like a key at all")
	for body, want := range map[string]string{
		data(`{"t":"It is not li"}`) + data(`{"t":"ke a k"}`): data(`{"t":"It is REDACTED"}`) + data(`{"t":""}`),
		data(`{"t":"It is not li"}`) + `data: {"t":"ke a k`:   data(`{"t":"It is REDACTED"}`) + `data: {"t":"`,
		"It is not like a":      "It is REDACTED",
		"It is not li":          "It is not li",
		"It is not like a cat.": "It is not like a cat.",
	} {
		require.Equal(t, want, edited(body, c.inBody(body, true)))
		require.Equal(t, body, edited(body, c.inBody(body, false)), "complete answer")
	}
}

// A client repeats what the model said: the secret when recording, its replacement when replaying.
func TestConversationWithASecretReplays(t *testing.T) {
	l := streams[dialect.OpenAIChat+" arguments"]
	var said strings.Builder
	for piece := range slices.Chunk([]rune(`{"key":"sk-proj-abcdefghijklmnopqrstuvwxyz","to":["é/\\"]}`), 3) {
		said.WriteString(l.event(0, mustJSON(string(piece))))
	}
	provider := transportFunc(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if !strings.Contains(string(body), "arguments") {
			return answer(sse, said.String()+l.end), nil
		}
		return answer("application/json", `{"choices":[{"message":{"content":"Done."}}]}`), nil
	})
	path := talkFile(t)
	for _, mode := range []Mode{RecordAnew, ReplayOnly} {
		tr := opened(t, path, WithMode(mode), WithTransport(provider))
		arguments := l.joined(t, asks(t, tr, `{"model":"m","messages":[{"role":"user","content":"Go."}]}`))[0]
		require.Equal(t, mode == RecordAnew, strings.Contains(arguments, "sk-proj-abcdefghijklmnopqrstuvwxyz"))
		call := `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":` +
			mustJSON(arguments) + `}}]}`
		require.Contains(t, asks(t, tr, `{"model":"m","messages":[{"role":"user","content":"Go."},`+call+
			`,{"role":"tool","tool_call_id":"c","content":"ok"}]}`), "Done.")
		require.NoError(t, tr.Close())
	}
}

func TestNamesInARequestAreNotJoined(t *testing.T) {
	for _, body := range []string{
		`{"tools":[{"name":"user-info"},{"name":"searchrepositories"}]}`,
		`{"enum":["user-agent","referer","accept","cookie"]}`,
		`{"required":["org-id","projectid","repositoryname"]}`,
		`{"messages":[{"content":"of an org-"},{"content":"and of internationalization"}]}`,
	} {
		require.Equal(t, body, (&scrubber{}).request(body))
	}
}

// Some clients keep a stream as pieces and repeat the pieces.
func TestSecretRepeatedInPiecesIsRemoved(t *testing.T) {
	const key, odd = "sk-proj-abcdefghijklmnopqrstuvwxyz", "like no key at all"
	event := func(piece string) string {
		return crlf(data(`{"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`, mustJSON(piece)))
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
	path := talkFile(t)
	ask := func(tr *Transport, turns ...string) string {
		status, answer := send(t, tr, "https://h/v1beta/models/m:streamGenerateContent?alt=sse",
			`{"contents":[{"role":"user","parts":[{"text":"Which?"}]}`+strings.Join(turns, "")+`]}`,
			http.Header{"X-Goog-Api-Key": {odd}})
		require.Equal(t, 200, status)
		return answer
	}
	for _, mode := range []Mode{RecordAnew, ReplayOnly} {
		tr := opened(t, path, WithMode(mode), WithTransport(provider))
		var turns []string
		for _, e := range events([]byte(ask(tr))) {
			var chunk map[string]any
			require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(e), "data: ")), &chunk))
			piece := textAt(chunk, "candidates", 0, "content", "parts", 0, "text")
			turns = append(turns, `,{"role":"model","parts":[{"text":`+mustJSON(piece)+`}]}`)
		}
		ask(tr, turns...)
		require.NoError(t, tr.Close())
	}
	f := inspected(t, path)
	require.Equal(t, 2, strings.Count(f.Interactions[1].Request, redacted))
	require.NotContains(t, f.Interactions[1].Request, "fghij")
	require.Empty(t, f.Lint(odd))
	leaky := strings.Replace(small, `'{"messages":[]}'`,
		mustJSON(`{"a":[{"text":"sk-proj-ab"},{"text":"cdefghijklmnopqrst"}]}`), 1)
	require.True(t, lints(t, path, leaky, "request body", "in pieces, what looks like a secret"))
}
