package chapters_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/provider"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// failed is a run with a planted key, in which the model answers with a status and a body.
func failed(status int, body string, then func(*session)) func(*session) {
	return func(s *session) {
		s.Trace.Header.Key = leak.PlantedKey
		s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: status}, body)
		then(s)
	}
}

// providerTells is an error with the message; in 2026-07-28, which has none, a notification with it.
func providerTells(message string) func(*session) {
	return tellsJSON(string(jsonvalue.Marshal(message)))
}

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

func notifies(caseID, message string) func(*session) {
	return func(s *session) {
		s.Frame(caseID, trace.FromClient, 0,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":`+message+`}}`)
	}
}

func providerDies(s *session) { s.Ends(trace.Process{ExitCode: 1}) }

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
			add(report.Pass, "no internals", provider+": "+name, failed(400, body, providerTells(message)))
		}
		python := strings.NewReplacer(`"`, "'", "null", "None").Replace(body)
		for name, message := range map[string]string{
			"the body as text": "HTTP 400: " + body, "the body as Python writes it": "Error code: 400 - " + python,
			"the body as text in JSON": string(jsonvalue.Marshal(map[string]any{"body": body})),
		} {
			add(report.Warn, "the provider's error body", provider+": "+name, failed(400, body, providerTells(message)))
		}
		add(report.Warn, "the provider's error body", provider+": the body as data",
			failed(400, body, tellsJSON(`"no","data":{"upstream":`+body+`}`)))
	}
	add(report.Warn, "a line of the provider's stack trace", "a stack trace",
		failed(500, "", providerTells(`File "`+provider.InternalCode+`", line 218`)))
	add(report.Warn, "a host inside the provider", "a host", failed(500, "",
		providerTells("no answer from "+provider.InternalHost)))
	add(report.Warn, "in front of the provider, in base64", "a machine in base64",
		failed(500, "", providerTells(base64.URLEncoding.EncodeToString([]byte(provider.FrontMachine)))))
	add(report.Warn, "the provider's error body", "an error in a stream",
		failed(200, "data: {\"choices\":[]}\n\ndata: "+body+"\n\n", providerTells(body)))
	add(report.NotObserved, "it exited with status 1", "a client that dies", failed(400, body, providerDies))
	providerJudges(t, "no-upstream-body", "bad-request", tests...)
}

func TestFindNamesThePlaceOfALeak(t *testing.T) {
	const key = leak.PlantedKey
	raw, err := json.Marshal(map[string]any{"params": map[string]any{"list": []any{"a", "b " + key}}})
	require.NoError(t, err)
	for _, c := range []struct {
		frame             trace.Frame
		label, path, text string
	}{
		{trace.Frame{Raw: raw}, "the client sent", "params.list[1]", "b " + key},
		{trace.Frame{Raw: trace.Bytes(`{"` + key + `":1}`)}, "the client sent", key, key},
		{trace.Frame{Raw: trace.Bytes(`{"a":[["x"],["` + key[:20] + `",1,"` + key[20:43] + `","` +
			key[43:] + `"]]}`)},
			"the client sent", "a[1]", key},
		{trace.Frame{Raw: trace.Bytes("DEBUG key=" + key)}, "the client sent", "", "DEBUG key=" + key},
		{trace.Frame{HTTP: &trace.HTTP{Address: "?key=" + key}}, "address", "", "?key=" + key},
		{trace.Frame{HTTP: &trace.HTTP{Header: map[string]string{"A": "x", "Cookie": leak.PlantedCookie}}},
			"header Cookie", "", leak.PlantedCookie},
	} {
		_, where, text := evidence.Sending{Event: &trace.Event{Seq: 1, Frame: &c.frame},
			JSON: evidence.ReadMessage(c.frame.Raw).JSON}.Find(leak.Planted(key))
		require.Equal(t, []string{c.label, c.path, c.text}, []string{where.Label, where.Path, text})
	}
}
