package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// failing is a client whose model answers with the body and a status, in a run with a planted key.
func failing(status int, body string, then func(*story)) func(*story) {
	return func(s *story) {
		s.trace.Header.Key = harness.PlantedKey
		s.asks(asking(whenOpen)).prompting(trace.ModelEnd{Status: status}, body)
		then(s)
	}
}

// tellingIt is an error with the message; in the second era, which has none, the client says it in a notification.
func tellingIt(message string) func(*story) {
	return func(s *story) {
		if s.revision.Modern() {
			s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":`+string(dialect.Marshal(message))+`}}`)
		} else {
			s.refuses(-32603, "").trace.Events[len(s.trace.Events)-1].Frame.Raw = trace.Bytes(`{"jsonrpc":"2.0","id":` + s.id() + `,"error":{"code":-32603,"message":` + string(dialect.Marshal(message)) + `}}`)
		}
		s.otherwiseAnswers().passesBarrier()
	}
}

// setting sets a header of the last request of the client's.
func withHeader(name, value string) func(*story) {
	return func(s *story) {
		tellingIt("the model is not well")(s)
		for i := range s.trace.Events {
			if f := s.trace.Events[i].Frame; f != nil && f.Dir == trace.FromClient && f.HTTP != nil {
				f.HTTP.Header[name] = value
				return
			}
		}
	}
}

const clean = "nothing that the client sent holds the key, a cookie or the account"

func TestSecretsDoNotReachTheServer(t *testing.T) {
	const check, caseID = "provider-errors/no-secret", "unauthorized"
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + harness.PlantedKey))
	var escaped strings.Builder
	for _, c := range harness.PlantedKey {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	tell := func(message string) func(*story) { return failing(401, "", tellingIt(message)) }
	hold(t, catalogue, []telling{
		{name: "they do not", check: check, caseID: caseID, tell: tell("the model is not well"), verdict: report.Pass, message: clean},
		{name: "the key is masked", check: check, caseID: caseID, tell: tell("Incorrect API key provided: sk-plant**********cdef."), verdict: report.Pass, message: clean},
		{name: "the key is cut off", check: check, caseID: caseID, tell: tell("bad key " + harness.PlantedKey[:len(harness.PlantedKey)-4] + "…"), verdict: report.Fail,
			message: "the key is on the wire to the server, but for characters at its ends"},
		{name: "the key in pieces", check: check, caseID: caseID, verdict: report.Fail, message: "the key is on the wire to the server, in pieces",
			tell: failing(401, "", func(s *story) {
				tellingIt("the model is not well")(s)
				one, other := harness.PlantedKey[:20], harness.PlantedKey[20:]
				s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[{"type":"text","text":"`+one+`"},{"type":"text","text":"`+other+`"}]}}`)
			})},
		{name: "another key", check: check, caseID: caseID, tell: tell("sk-0123456789abcdef0123456789abcdef, org-w7Qm2Rk9"), verdict: report.Pass, message: clean},
		{name: "the request's id", check: check, caseID: caseID, tell: tell("the model failed (request req_011CeCGmBjaWkq37Sf5iU7so)"), verdict: report.Pass, message: clean},
		{name: "the key", check: check, caseID: caseID, tell: tell("bad key " + harness.PlantedKey), verdict: report.Fail, message: "the key is on the wire to the server"},
		{name: "the key in base64", check: check, caseID: caseID, tell: tell("Basic " + encoded), verdict: report.Fail, message: "the key is on the wire to the server, in base64"},
		{name: "the key in escapes", check: check, caseID: caseID, tell: tell(escaped.String()), verdict: report.Fail, message: "the key is on the wire to the server, behind escapes"},
		{name: "the cookie", check: check, caseID: caseID, tell: tell("Set-Cookie: __cf_bm=" + harness.PlantedCookie), verdict: report.Fail, message: "the cookie is on the wire to the server"},
		{name: "the account", check: check, caseID: caseID, tell: tell(tooMany.Message), verdict: report.Fail, message: "the account is on the wire to the server"},
		{name: "the key in a header", check: check, caseID: caseID, tell: failing(401, "", withHeader("Authorization", "Bearer "+harness.PlantedKey)), verdict: report.Fail,
			message: "the key is on the wire to the server"},
		{name: "the key in a header, in base64", check: check, caseID: caseID, tell: failing(401, "", withHeader("X-Context", encoded)), verdict: report.Fail,
			message: "the key is on the wire to the server, in base64"},
		{name: "a header that is another's", check: check, caseID: caseID, tell: failing(401, "", withHeader("Authorization", trace.Token("real"))), verdict: report.Pass, message: clean},
		{name: "in another case of another chapter", check: check, caseID: caseID, verdict: report.Fail, message: "the key is on the wire to the server",
			tell: failing(401, "", func(s *story) {
				tellingIt("the model is not well")(s)
				s.frame("basic/question", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"`+harness.PlantedKey+`"}}`)
			})},
		{name: "in another case of this chapter", check: check, caseID: caseID, verdict: report.Pass, message: clean,
			tell: failing(401, "", func(s *story) {
				tellingIt("the model is not well")(s)
				s.frame("provider-errors/reset", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"`+harness.PlantedKey+`"}}`)
			})},
		{name: "from the server", check: check, caseID: caseID, verdict: report.Pass, message: clean,
			tell: failing(401, "", func(s *story) {
				tellingIt("the model is not well")(s)
				s.frame(s.caseID, trace.ToClient, 0, `"`+harness.PlantedKey+`"`)
			})},
		{name: "of a client that dies", check: check, caseID: caseID, verdict: report.NotObserved,
			message: "that nothing secret follows cannot be said: the session did not end in order: it exited with status 1",
			tell:    failing(401, "", func(s *story) { s.ends(trace.Process{ExitCode: 1}) })},
		{name: "of a client that dies with the key", check: check, caseID: caseID, verdict: report.Fail, message: "the key is on the wire to the server",
			tell: failing(401, "", func(s *story) { withHeader("Authorization", harness.PlantedKey)(s); s.ends(trace.Process{ExitCode: 1}) })},
		{name: "of a client that calls the last tool first", check: check, caseID: caseID, verdict: report.Unsupported,
			message: "that nothing secret follows cannot be said: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: " +
				"no later sample was answered, so that it may only not have come yet",
			tell: func(s *story) { s.passesBarrier(); failing(401, "", func(s *story) { s.refuses(-32603, "no") })(s) }},
		{name: "in a trace without a key", check: check, caseID: caseID, tell: afterFailures(notAnswering, 401), verdict: report.Unsupported,
			message: "the trace names no key that was planted"},
		{name: "of a client that does not ask the model", check: check, caseID: caseID, verdict: report.NotObserved,
			message: "the model was never asked: nothing reached the fake model under the case's mark",
			tell: func(s *story) {
				s.trace.Header.Key = harness.PlantedKey
				s.asks(asking(whenOpen)).answers(saying("At six."))
			}},
	})
}

func TestTheProvidersBodyStaysWithTheClient(t *testing.T) {
	const check, caseID = "provider-errors/no-upstream-body", "bad-request"
	const sentence = "This model does not take this combination of parameters."
	const kept = "nothing that the client sent shows what the provider said of its failure, but in a sentence"
	const shown = "the provider's error body is handed to the server"
	bodies := map[string]string{
		"OpenAI":    `{"error":{"message":"` + sentence + `","type":"invalid_request_error","param":null,"code":null}}`,
		"Anthropic": `{"type":"error","error":{"type":"invalid_request_error","message":"` + sentence + `"},"request_id":"req_011"}`,
		"Gemini":    "{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"" + sentence + "\",\n    \"status\": \"INVALID_ARGUMENT\"\n  }\n}\n",
		"Ollama":    `{"error":"` + sentence + `"}`,
		"a native":  `{"error":{"code":-32602,"message":"` + sentence + `"}}`,
	}
	for provider, body := range bodies {
		say := func(message string) func(*story) { return failing(400, body, tellingIt(message)) }
		python := strings.NewReplacer(`"`, "'", "null", "None").Replace(body)
		data := func(s *story) {
			tellingIt("no")(s)
			for i := range s.trace.Events {
				if f := s.trace.Events[i].Frame; f != nil && strings.Contains(string(f.Raw), `"no"`) {
					f.Raw = trace.Bytes(strings.Replace(string(f.Raw), `"no"`, `"no","data":{"upstream":`+body+`}`, 1))
				}
			}
		}
		hold(t, catalogue, []telling{
			{name: provider + "'s, kept", check: check, caseID: caseID, tell: say("the model is not available"), verdict: report.Pass, message: kept},
			{name: provider + "'s, as a status", check: check, caseID: caseID, tell: say("the model answered 400 Bad Request"), verdict: report.Pass, message: kept},
			{name: provider + "'s, as a sentence", check: check, caseID: caseID, tell: say("400: " + sentence), verdict: report.Pass, message: kept},
			{name: provider + "'s, as a sentence with a word in quotes", check: check, caseID: caseID, tell: say(`"error 400": ` + sentence), verdict: report.Pass, message: kept},
			{name: provider + "'s, as text", check: check, caseID: caseID, tell: say("HTTP 400: " + body), verdict: report.Warn, message: shown},
			{name: provider + "'s, as text of a language", check: check, caseID: caseID, tell: say("Error code: 400 - " + python), verdict: report.Warn, message: shown},
			{name: provider + "'s, as text in JSON", check: check, caseID: caseID, tell: say(string(dialect.Marshal(object{"body": body}))), verdict: report.Warn, message: shown},
			{name: provider + "'s, as data", check: check, caseID: caseID, tell: failing(400, body, data), verdict: report.Warn, message: shown},
		})
	}
	say := func(message string) func(*story) { return failing(500, "", tellingIt(message)) }
	hold(t, catalogue, []telling{
		{name: "internals, kept", check: check, caseID: "server-error", tell: say("500"), verdict: report.Pass, message: kept},
		{name: "a stack trace", check: check, caseID: "server-error", tell: say("File \"" + internalCode + "\", line 218"), verdict: report.Warn,
			message: "a line of the provider's stack trace is handed to the server"},
		{name: "a machine", check: check, caseID: "server-error", tell: say("no answer of " + internalHost), verdict: report.Warn,
			message: "the name of a machine inside the provider is handed to the server"},
		{name: "a machine in base64", check: check, caseID: "server-error", tell: say(base64.URLEncoding.EncodeToString([]byte(frontMachine))), verdict: report.Warn,
			message: "the name of the machine before the provider is handed to the server, in base64"},
		{name: "of an error in a stream", check: check, caseID: "error-midway", verdict: report.Warn, message: shown,
			tell: failing(200, "data: {\"choices\":[]}\n\ndata: "+bodies["OpenAI"]+"\n\n", tellingIt(bodies["OpenAI"]))},
		{name: "of a client that dies", check: check, caseID: caseID, verdict: report.NotObserved,
			message: "that nothing of it follows cannot be said: the session did not end in order: it exited with status 1",
			tell:    failing(400, bodies["OpenAI"], func(s *story) { s.ends(trace.Process{ExitCode: 1}) })},
	})
}

// The place of a secret is named by its path, or the header that holds it.
func TestALeakIsShownWhereItStands(t *testing.T) {
	sent := func(f trace.Frame) sending { return sending{&trace.Event{Seq: 1, Frame: &f}} }
	finder := harness.Planted(harness.PlantedKey)
	raw, err := json.Marshal(object{"params": object{"list": []any{"a", "b " + harness.PlantedKey}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		frame             trace.Frame
		label, path, text string
	}{
		{trace.Frame{Raw: raw}, "the client sent", "params.list[1]", "b " + harness.PlantedKey},
		{trace.Frame{Raw: trace.Bytes(`{"` + harness.PlantedKey + `":1}`)}, "the client sent", `sk-planted-0123456789abcdef0123456789abcdef`, harness.PlantedKey},
		{trace.Frame{Raw: trace.Bytes(`{"a":[["x"],["` + harness.PlantedKey[:9] + `",1,"` + harness.PlantedKey[9:] + `"]]}`)}, "the client sent", "a[1]", harness.PlantedKey},
		{trace.Frame{Raw: trace.Bytes("DEBUG key=" + harness.PlantedKey)}, "the client sent", "", "DEBUG key=" + harness.PlantedKey},
		{trace.Frame{HTTP: &trace.HTTP{Address: "?key=" + harness.PlantedKey}}, "address", "", "?key=" + harness.PlantedKey},
		{trace.Frame{HTTP: &trace.HTTP{Header: map[string]string{"A": "x", "Cookie": harness.PlantedCookie}}}, "header Cookie", "", harness.PlantedCookie},
	} {
		_, where, text := sent(c.frame).find(finder)
		if where.Label != c.label || where.Path != c.path || text != c.text {
			t.Errorf("%+v: got %q at %q of %q, want %q at %q of %q", c.frame, text, where.Path, where.Label, c.text, c.path, c.label)
		}
	}
}
