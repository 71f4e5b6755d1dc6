package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// failed is a run with a planted key, in which the model answers with a status and a body.
func failed(status int, body string, then func(*session)) func(*session) {
	return func(s *session) {
		s.Trace.Header.Key = harness.PlantedKey
		s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: status}, body)
		then(s)
	}
}

// tells is an error with the message; in 2026-07-28, which has none, a notification with it.
func tells(message string) func(*session) { return tellsJSON(string(dialect.Marshal(message))) }

func tellsJSON(message string) func(*session) {
	return func(s *session) {
		if s.Revision.Modern() {
			notifies(s.CaseID, message)(s)
		} else {
			s.Responds(s.ID(), `"error":{"code":-32603,"message":`+message+`}`)
		}
		s.OtherwiseAnswers().PassesBarrier()
	}
}

// tellsAnd is a client that reveals nothing in its error, and does something else.
func tellsAnd(then func(*session)) func(*session) {
	return failed(401, "", func(s *session) { tells("the model is down")(s); then(s) })
}

func notifies(caseID, message string) func(*session) {
	return func(s *session) {
		s.Frame(caseID, trace.FromClient, 0,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":`+message+`}}`)
	}
}

// sendsHeader sets a header of the client's first request.
func sendsHeader(name, value string) func(*session) {
	return tellsAnd(func(s *session) {
		for i := range s.Trace.Events {
			if f := s.Trace.Events[i].Frame; f != nil && f.Dir == trace.FromClient && f.HTTP != nil {
				f.HTTP.Header[name] = value
				return
			}
		}
	})
}

func dies(s *session) { s.Ends(trace.Process{ExitCode: 1}) }

func TestSecretsDoNotReachTheServer(t *testing.T) {
	const key = harness.PlantedKey
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + key))
	var escaped strings.Builder
	for _, c := range key {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	var tests []tracetest.Test
	add := func(verdict report.Verdict, message, name string, steps func(*session)) {
		tests = append(tests, tracetest.Test{Name: name, Verdict: verdict, Message: message, Steps: steps})
	}
	for name, message := range map[string]string{
		"no secret":    "the model is down",
		"a masked key": "Incorrect API key provided: sk-plant**********cdef.",
		"another key":  "sk-0123456789abcdef0123456789abcdef, org-w7Qm2Rk9",
		"a request ID": "request req_011CeCGmBjaWkq37Sf5iU7so",
	} {
		add(report.Pass, "no planted secret", name, failed(401, "", tells(message)))
	}
	for name, leak := range map[string]struct{ message, found string }{
		"the key":           {"bad key " + key, "the key"},
		"the key cut off":   {"bad key " + key[:len(key)-4] + "…", "the key, without its first or last characters"},
		"the key in base64": {"Basic " + encoded, "the key, in base64"},
		"the key escaped":   {escaped.String(), "the key, escaped"},
		"the cookie":        {"Set-Cookie: __cf_bm=" + harness.PlantedCookie, "the cookie"},
		"the account":       {rateLimit.Message, "the account"},
	} {
		add(report.Fail, "found "+leak.found, name, failed(401, "", tells(leak.message)))
	}
	add(report.Fail, "found the key, in pieces", "the key in pieces",
		tellsAnd(notifies("provider-errors/unauthorized", fmt.Sprintf(`[{"text":%q},{"text":%q}]`, key[:20], key[20:]))))
	add(report.Fail, "found the key", "the key in a header", sendsHeader("Authorization", "Bearer "+key))
	add(report.Fail, "found the key, in base64", "the key in a header, in base64", sendsHeader("X-Context", encoded))
	add(report.Pass, "no planted secret", "another header", sendsHeader("Authorization", trace.Token("real")))
	add(report.Fail, "found the key", "the key in a case of another scenario",
		tellsAnd(notifies("basic/question", `"`+key+`"`)))
	add(report.Pass, "no planted secret", "the key in another case of the scenario",
		tellsAnd(notifies("provider-errors/reset", `"`+key+`"`)))
	add(report.Pass, "no planted secret", "the key from the server",
		tellsAnd(func(s *session) { s.Frame(s.CaseID, trace.ToClient, 0, `"`+key+`"`) }))
	add(report.NotObserved, "it exited with status 1", "a client that dies", failed(401, "", dies))
	add(report.Fail, "found the key", "a client that leaks the key and dies",
		func(s *session) { sendsHeader("Authorization", key)(s); dies(s) })
	add(report.Unsupported, "in the order of tools/list", "a client that calls the last tool first",
		func(s *session) { s.PassesBarrier(); failed(401, "", refusesAndStops)(s) })
	add(report.Unsupported, "no planted key", "a trace without a key", afterFailures(refuses, 401))
	add(report.NotObserved, notCalled, "a client that does not call the model", func(s *session) {
		s.Trace.Header.Key = key
		s.Asks(tracetest.Asking(tracetest.WhenOpen)).Answers(tracetest.Saying("At six."))
	})
	judges(t, "no-secret", "unauthorized", tests...)
}

func TestErrorBodiesStayWithTheClient(t *testing.T) {
	const sentence = "This model does not take this combination of parameters."
	const body = `{"error":{"message":"` + sentence + `","type":"invalid_request_error","param":null,"code":null}}`
	var tests []tracetest.Test
	add := func(verdict report.Verdict, message, name string, steps func(*session)) {
		tests = append(tests, tracetest.Test{Name: name, Verdict: verdict, Message: message, Steps: steps})
	}
	for provider, body := range map[string]string{
		"OpenAI":    body,
		"Anthropic": `{"type":"error","error":{"type":"bad_request","message":"` + sentence + `"},"request_id":"req_011"}`,
		"Gemini":    "{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"" + sentence + "\"\n  }\n}\n",
		"Ollama":    `{"error":"` + sentence + `"}`,
		"native":    `{"error":{"code":-32602,"message":"` + sentence + `"}}`,
	} {
		for name, message := range map[string]string{
			"own words": "the model is not available", "the status": "the model answered 400 Bad Request",
			"the sentence": "400: " + sentence, "the sentence and a quoted word": `"error 400": ` + sentence,
		} {
			add(report.Pass, "no internals", provider+": "+name, failed(400, body, tells(message)))
		}
		python := strings.NewReplacer(`"`, "'", "null", "None").Replace(body)
		for name, message := range map[string]string{
			"the body as text": "HTTP 400: " + body, "the body as Python writes it": "Error code: 400 - " + python,
			"the body as text in JSON": string(dialect.Marshal(map[string]any{"body": body})),
		} {
			add(report.Warn, "the provider's error body", provider+": "+name, failed(400, body, tells(message)))
		}
		add(report.Warn, "the provider's error body", provider+": the body as data",
			failed(400, body, tellsJSON(`"no","data":{"upstream":`+body+`}`)))
	}
	add(report.Warn, "a line of the provider's stack trace", "a stack trace",
		failed(500, "", tells(`File "`+internalCode+`", line 218`)))
	add(report.Warn, "a host inside the provider", "a host", failed(500, "", tells("no answer from "+internalHost)))
	add(report.Warn, "in front of the provider, in base64", "a machine in base64",
		failed(500, "", tells(base64.URLEncoding.EncodeToString([]byte(frontMachine)))))
	add(report.Warn, "the provider's error body", "an error in a stream",
		failed(200, "data: {\"choices\":[]}\n\ndata: "+body+"\n\n", tells(body)))
	add(report.NotObserved, "it exited with status 1", "a client that dies", failed(400, body, dies))
	judges(t, "no-upstream-body", "bad-request", tests...)
}

func TestFindNamesThePlaceOfALeak(t *testing.T) {
	const key = harness.PlantedKey
	raw, err := json.Marshal(map[string]any{"params": map[string]any{"list": []any{"a", "b " + key}}})
	require.NoError(t, err)
	for _, c := range []struct {
		frame             trace.Frame
		label, path, text string
	}{
		{trace.Frame{Raw: raw}, "the client sent", "params.list[1]", "b " + key},
		{trace.Frame{Raw: trace.Bytes(`{"` + key + `":1}`)}, "the client sent", key, key},
		{trace.Frame{Raw: trace.Bytes(`{"a":[["x"],["` + key[:9] + `",1,"` + key[9:] + `"]]}`)},
			"the client sent", "a[1]", key},
		{trace.Frame{Raw: trace.Bytes("DEBUG key=" + key)}, "the client sent", "", "DEBUG key=" + key},
		{trace.Frame{HTTP: &trace.HTTP{Address: "?key=" + key}}, "address", "", "?key=" + key},
		{trace.Frame{HTTP: &trace.HTTP{Header: map[string]string{"A": "x", "Cookie": harness.PlantedCookie}}},
			"header Cookie", "", harness.PlantedCookie},
	} {
		_, where, text := evidence.Sending{Event: &trace.Event{Seq: 1, Frame: &c.frame}}.Find(harness.Planted(key))
		require.Equal(t, []string{c.label, c.path, c.text}, []string{where.Label, where.Path, text})
	}
}
