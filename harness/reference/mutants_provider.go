package reference

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Mutants that do the wrong thing where the model's provider fails.

// answersFailures makes an answer of every failure.
func answersFailures(result map[string]any) func(*model, error) (map[string]any, *rpcError) {
	return func(*model, error) (map[string]any, *rpcError) { return result, nil }
}

// saysOfFailures is the error that becomes of a failure.
func saysOfFailures(code int, message func(m *model, err error) string) func(*model, error) (map[string]any, *rpcError) {
	return func(m *model, err error) (map[string]any, *rpcError) { return nil, &rpcError{code, message(m, err)} }
}

// errLeftOut is for what is left out of a retry, which is sent without it (second era).
var errLeftOut = &rpcError{codeInternal, "broken on purpose: left out"}

// quoted is the provider's sentence of a failure, or what else there is to say of it.
func quoted(err error) string {
	var told *providerError
	if !errors.As(err, &told) {
		return err.Error()
	}
	var body struct {
		Error struct{ Message string }
	}
	var ollama struct{ Error string }
	_, _ = json.Unmarshal(told.body, &body), json.Unmarshal(told.body, &ollama) // one of them is the provider's form
	return body.Error.Message + ollama.Error
}

// passes reports whether a failure may be over with another try.
func passes(err error) bool {
	var told *providerError
	return !errors.As(err, &told) && !errors.As(err, new(*rpcError)) || told != nil && (told.status == http.StatusTooManyRequests || told.status >= 500)
}

// retryAfter is the wait that the provider asks for.
func retryAfter(err error) time.Duration {
	var told *providerError
	if !errors.As(err, &told) {
		return 0
	}
	seconds, _ := strconv.Atoi(told.header.Get("Retry-After")) // 0 where it asks for none
	return time.Duration(seconds) * time.Second
}

// withoutHeaders are the dialects in which clients over stdio are played: such have no headers to the server.
var withoutHeaders = []string{dialect.Native}

var providerMutants = []Mutant{
	{Name: "failure-as-empty-answer", Doc: "answers with an empty text, and no model, where the provider fails", Kills: []string{"provider-errors/is-error", "provider-errors/partial-not-whole"}, Also: []string{"time/model-stalls", "time/stream-stalls", "time/total-limit", "malformed/tolerated"},
		broken: faults{onFailure: answersFailures(map[string]any{"role": "assistant", "model": "", "content": map[string]any{"type": "text", "text": ""}})}},
	{Name: "failure-as-words-of-the-user", Doc: "answers with a sentence of the user's where the provider fails", Kills: []string{"provider-errors/is-error", "provider-errors/partial-not-whole"}, Also: []string{"time/model-stalls", "time/stream-stalls", "time/total-limit", "malformed/tolerated"},
		broken: faults{onFailure: answersFailures(map[string]any{"role": "user", "model": "none", "content": map[string]any{"type": "text", "text": "Something went wrong."}, "stopReason": "endTurn"})}},
	{Name: "leaves-out-what-failed", Doc: "sends the call again without the input for which the provider refused the key", Kills: []string{"provider-errors/failed-mrtr"}, Era: "modern",
		broken: faults{onFailure: func(_ *model, err error) (map[string]any, *rpcError) {
			if told := (*providerError)(nil); errors.As(err, &told) && told.status == http.StatusUnauthorized {
				return nil, errLeftOut
			}
			return nil, modelError(err)
		}}},
	{Name: "partial-as-whole", Doc: "takes a stream for whole where it ends, as openai-go does", Kills: []string{"provider-errors/partial-not-whole"}, Also: []string{"time/stream-stalls", "time/total-limit"}, Streamed: true,
		Except: []string{dialect.Native}, broken: faults{mendsStreams: true}},
	{Name: "unknown-ends-as-end-turn", Doc: "reports every stop reason that MCP has no word for as the end of the turn", Kills: []string{"provider-errors/refusal-told"},
		Except: ollamaOnly, broken: faults{result: func(r map[string]any) {
			if reason := text(r, "stopReason"); !slices.Contains([]string{"toolUse", "maxTokens", "stopSequence"}, reason) {
				r["stopReason"] = "endTurn"
			}
		}}},
	{Name: "overlooks-refusals", Doc: "reads no refusal where it stands apart from the text", Kills: []string{"provider-errors/refusal-told"}, Dialects: []string{dialect.OpenAIChat},
		broken: faults{overlooksRefusals: true}},
	{Name: "failure-as-invalid-params", Doc: "says of every failure that the params were invalid", Kills: []string{"provider-errors/error-code"}, Era: "legacy", Wire: true,
		broken: faults{onFailure: saysOfFailures(codeInvalidParams, func(*model, error) string { return "the model could not be asked" })}},
	{Name: "failure-as-a-refusal", Doc: "says of every failure that the person refused", Kills: []string{"provider-errors/error-code"}, Era: "legacy", Wire: true,
		broken: faults{onFailure: saysOfFailures(-1, func(*model, error) string { return "User rejected sampling request" })}},
	{Name: "dies-of-failures", Doc: "ends with an error when the model fails", Kills: []string{"provider-errors/alive", "client/ends-cleanly"}, Also: []string{"malformed/survives"},
		broken: faults{diesOfFailures: true}},
	{Name: "retries-once", Doc: "asks once more, when the provider wants it to", Kills: []string{"provider-errors/retried"},
		broken: faults{again: func(n int, err error) (bool, time.Duration) { return n < 2 && passes(err), retryAfter(err) }}},
	{Name: "retries-at-once", Doc: "asks three times more, without any wait", Kills: []string{"provider-errors/retried"},
		broken: faults{again: func(n int, err error) (bool, time.Duration) { return n < 4 && passes(err), 0 }}},
	{Name: "retries-for-ever", Doc: "asks every second until it is answered", Kills: []string{"provider-errors/retried", "client/ends-cleanly"}, Hangs: true,
		broken: faults{again: func(_ int, err error) (bool, time.Duration) { return passes(err), time.Second }}},

	{Name: "quotes-the-provider", Doc: "hands the provider's sentence to the server, which may quote the key, name the account, or hold a stack trace",
		Kills: []string{"provider-errors/no-secret", "provider-errors/no-upstream-body"}, Era: "legacy",
		broken: faults{onFailure: saysOfFailures(codeInternal, func(_ *model, err error) string { return quoted(err) })}},
	{Name: "hands-on-the-body", Doc: "hands the provider's error body to the server", Kills: []string{"provider-errors/no-upstream-body", "provider-errors/no-secret"}, Era: "legacy",
		broken: faults{onFailure: saysOfFailures(codeInternal, func(_ *model, err error) string { return err.Error() })}},
	{Name: "hands-on-headers", Doc: "hands the headers of the provider's answer to the server", Kills: []string{"provider-errors/no-secret", "provider-errors/no-upstream-body"}, Era: "legacy",
		broken: faults{onFailure: saysOfFailures(codeInternal, func(_ *model, err error) string {
			var told *providerError
			if !errors.As(err, &told) {
				return "the model could not be asked"
			}
			return fmt.Sprintf("the model said %d %v", told.status, told.header)
		})}},
	{Name: "key-in-errors", Doc: "says with which key it asked the model", Kills: []string{"provider-errors/no-secret"}, Era: "legacy",
		broken: faults{onFailure: saysOfFailures(codeInternal, func(m *model, _ error) string { return "the model could not be asked with " + m.env.Key })}},
	{Name: "key-in-base64", Doc: "shows the header with which it asked the model, where the key is in base64", Kills: []string{"provider-errors/no-secret"}, Era: "legacy", Wire: true,
		broken: faults{onFailure: saysOfFailures(codeInternal, func(m *model, _ error) string {
			return "the model could not be asked with Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("api:"+m.env.Key))
		})}},
	{Name: "key-percent-encoded", Doc: "shows the address at which it asked the model, in which the key is escaped", Kills: []string{"provider-errors/no-secret"}, Era: "legacy", Wire: true,
		broken: faults{onFailure: saysOfFailures(codeInternal, func(m *model, _ error) string {
			return "the model could not be asked at https://provider.example/?key=" + strings.ReplaceAll(m.env.Key, "-", "%2D")
		})}},
	{Name: "key-in-address", Doc: "asks the model at an address with the key in it, and hands on what the HTTP library says of a connection that breaks",
		Kills: []string{"provider-errors/no-secret"}, Era: "legacy", Dialects: geminiOnly,
		broken: faults{keyInAddress: true, onFailure: saysOfFailures(codeInternal, func(_ *model, err error) string {
			if errors.As(err, new(*providerError)) {
				return "the model could not be asked"
			}
			return err.Error()
		})}},
	{Name: "key-to-the-server", Doc: "sends the model's key to the server, too, as HTTP clients do that are set up once for both", Kills: []string{"provider-errors/no-secret"}, Wire: true,
		Except: withoutHeaders, broken: faults{allHeaders: func(key string, h http.Header) { h.Set("Authorization", "Bearer "+key) }}},
	{Name: "key-in-a-header-of-its-own", Doc: "sends the server a header in which the model's key is encoded", Kills: []string{"provider-errors/no-secret"}, Wire: true,
		Except: withoutHeaders, broken: faults{allHeaders: func(key string, h http.Header) {
			h.Set("X-Context", base64.RawURLEncoding.EncodeToString(marshal(map[string]any{"key": key})))
		}}},
	{Name: "key-in-the-servers-url", Doc: "adds the model's key to the server's address", Kills: []string{"provider-errors/no-secret"}, Wire: true,
		Except: withoutHeaders, broken: faults{keyInURL: true}},
	{Name: "key-in-meta", Doc: "has the model's key in the _meta of its requests", Kills: []string{"provider-errors/no-secret"}, Wire: true, Era: "modern",
		broken: faults{keyInMeta: true}},
}

// mended is an answer of the model's, with the end of a stream where it has none.
type mended struct {
	io.Reader
	io.Closer
}

// mend reads an answer to its end, however that comes, and adds what a stream of the dialect ends with.
func mend(name string, body io.ReadCloser) io.ReadCloser {
	read, _ := io.ReadAll(body) // that it broke off is what is overlooked
	end := streamEnds[name]
	if !bytes.Contains(read, []byte(end.mark)) {
		read = append(read, end.text...)
	}
	return mended{bytes.NewReader(read), body}
}

// streamEnds are the ends of streams, and how they are known.
var streamEnds = map[string]struct{ mark, text string }{
	dialect.OpenAIChat: {"[DONE]", "\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
	dialect.OpenAIResponses: {"response.completed", "\n\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"text\":\"The\"}]}}" +
		"\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"gpt-4o\"}}\n\n"},
	dialect.Anthropic: {"message_stop", "\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}" +
		"\n\ndata: {\"type\":\"message_stop\"}\n\n"},
	dialect.Gemini: {"finishReason", "\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"},
	dialect.Ollama: {`"done":true`, "\n{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"},
}
