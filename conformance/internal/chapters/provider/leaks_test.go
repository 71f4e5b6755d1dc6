package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// failing is a client whose model answers with the body and a status, in a run with a planted key.
func failing(status int, body string, then func(*tracetest.Story)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		s.Trace.Header.Key = harness.PlantedKey
		s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: status}, body)
		then(s)
	}
}

// tellingIt is an error with the message; in the second era, which has none, the client says it in a notification.
func tellingIt(message string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		if s.Revision.Modern() {
			s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":`+string(dialect.Marshal(message))+`}}`)
		} else {
			s.Refuses(-32603, "").Trace.Events[len(s.Trace.Events)-1].Frame.Raw = trace.Bytes(`{"jsonrpc":"2.0","id":` + s.ID() + `,"error":{"code":-32603,"message":` + string(dialect.Marshal(message)) + `}}`)
		}
		s.OtherwiseAnswers().PassesBarrier()
	}
}

// setting sets a header of the last request of the client's.
func withHeader(name, value string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		tellingIt("the model is not well")(s)
		for i := range s.Trace.Events {
			if f := s.Trace.Events[i].Frame; f != nil && f.Dir == trace.FromClient && f.HTTP != nil {
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
	tell := func(message string) func(*tracetest.Story) { return failing(401, "", tellingIt(message)) }
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they do not", Check: check, CaseID: caseID, Steps: tell("the model is not well"), Verdict: report.Pass, Message: clean},
		{Name: "the key is masked", Check: check, CaseID: caseID, Steps: tell("Incorrect API key provided: sk-plant**********cdef."), Verdict: report.Pass, Message: clean},
		{Name: "the key is cut off", Check: check, CaseID: caseID, Steps: tell("bad key " + harness.PlantedKey[:len(harness.PlantedKey)-4] + "…"), Verdict: report.Fail,
			Message: "the key is on the wire to the server, but for characters at its ends"},
		{Name: "the key in pieces", Check: check, CaseID: caseID, Verdict: report.Fail, Message: "the key is on the wire to the server, in pieces",
			Steps: failing(401, "", func(s *tracetest.Story) {
				tellingIt("the model is not well")(s)
				one, other := harness.PlantedKey[:20], harness.PlantedKey[20:]
				s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[{"type":"text","text":"`+one+`"},{"type":"text","text":"`+other+`"}]}}`)
			})},
		{Name: "another key", Check: check, CaseID: caseID, Steps: tell("sk-0123456789abcdef0123456789abcdef, org-w7Qm2Rk9"), Verdict: report.Pass, Message: clean},
		{Name: "the request's id", Check: check, CaseID: caseID, Steps: tell("the model failed (request req_011CeCGmBjaWkq37Sf5iU7so)"), Verdict: report.Pass, Message: clean},
		{Name: "the key", Check: check, CaseID: caseID, Steps: tell("bad key " + harness.PlantedKey), Verdict: report.Fail, Message: "the key is on the wire to the server"},
		{Name: "the key in base64", Check: check, CaseID: caseID, Steps: tell("Basic " + encoded), Verdict: report.Fail, Message: "the key is on the wire to the server, in base64"},
		{Name: "the key in escapes", Check: check, CaseID: caseID, Steps: tell(escaped.String()), Verdict: report.Fail, Message: "the key is on the wire to the server, behind escapes"},
		{Name: "the cookie", Check: check, CaseID: caseID, Steps: tell("Set-Cookie: __cf_bm=" + harness.PlantedCookie), Verdict: report.Fail, Message: "the cookie is on the wire to the server"},
		{Name: "the account", Check: check, CaseID: caseID, Steps: tell(tooMany.Message), Verdict: report.Fail, Message: "the account is on the wire to the server"},
		{Name: "the key in a header", Check: check, CaseID: caseID, Steps: failing(401, "", withHeader("Authorization", "Bearer "+harness.PlantedKey)), Verdict: report.Fail,
			Message: "the key is on the wire to the server"},
		{Name: "the key in a header, in base64", Check: check, CaseID: caseID, Steps: failing(401, "", withHeader("X-Context", encoded)), Verdict: report.Fail,
			Message: "the key is on the wire to the server, in base64"},
		{Name: "a header that is another's", Check: check, CaseID: caseID, Steps: failing(401, "", withHeader("Authorization", trace.Token("real"))), Verdict: report.Pass, Message: clean},
		{Name: "in another case of another chapter", Check: check, CaseID: caseID, Verdict: report.Fail, Message: "the key is on the wire to the server",
			Steps: failing(401, "", func(s *tracetest.Story) {
				tellingIt("the model is not well")(s)
				s.Frame("basic/question", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"`+harness.PlantedKey+`"}}`)
			})},
		{Name: "in another case of this chapter", Check: check, CaseID: caseID, Verdict: report.Pass, Message: clean,
			Steps: failing(401, "", func(s *tracetest.Story) {
				tellingIt("the model is not well")(s)
				s.Frame("provider-errors/reset", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"`+harness.PlantedKey+`"}}`)
			})},
		{Name: "from the server", Check: check, CaseID: caseID, Verdict: report.Pass, Message: clean,
			Steps: failing(401, "", func(s *tracetest.Story) {
				tellingIt("the model is not well")(s)
				s.Frame(s.CaseID, trace.ToClient, 0, `"`+harness.PlantedKey+`"`)
			})},
		{Name: "of a client that dies", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Message: "that nothing secret follows cannot be said: the session did not end cleanly: it exited with status 1",
			Steps:   failing(401, "", func(s *tracetest.Story) { s.Ends(trace.Process{ExitCode: 1}) })},
		{Name: "of a client that dies with the key", Check: check, CaseID: caseID, Verdict: report.Fail, Message: "the key is on the wire to the server",
			Steps: failing(401, "", func(s *tracetest.Story) {
				withHeader("Authorization", harness.PlantedKey)(s)
				s.Ends(trace.Process{ExitCode: 1})
			})},
		{Name: "of a client that calls the last tool first", Check: check, CaseID: caseID, Verdict: report.Unsupported,
			Message: "that nothing secret follows cannot be said: the client must call the tools in the order of tools/list and answer the last sampling request: " +
				"no later sampling request was answered, so it could still come",
			Steps: func(s *tracetest.Story) {
				s.PassesBarrier()
				failing(401, "", func(s *tracetest.Story) { s.Refuses(-32603, "no") })(s)
			}},
		{Name: "in a trace without a key", Check: check, CaseID: caseID, Steps: afterFailures(notAnswering, 401), Verdict: report.Unsupported,
			Message: "the trace names no key that was planted"},
		{Name: "of a client that does not ask the model", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Message: "the model was never asked: nothing reached the fake model under the case's mark",
			Steps: func(s *tracetest.Story) {
				s.Trace.Header.Key = harness.PlantedKey
				s.Asks(tracetest.Asking(tracetest.WhenOpen)).Answers(tracetest.Saying("At six."))
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
		say := func(message string) func(*tracetest.Story) { return failing(400, body, tellingIt(message)) }
		python := strings.NewReplacer(`"`, "'", "null", "None").Replace(body)
		data := func(s *tracetest.Story) {
			tellingIt("no")(s)
			for i := range s.Trace.Events {
				if f := s.Trace.Events[i].Frame; f != nil && strings.Contains(string(f.Raw), `"no"`) {
					f.Raw = trace.Bytes(strings.Replace(string(f.Raw), `"no"`, `"no","data":{"upstream":`+body+`}`, 1))
				}
			}
		}
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: provider + "'s, kept", Check: check, CaseID: caseID, Steps: say("the model is not available"), Verdict: report.Pass, Message: kept},
			{Name: provider + "'s, as a status", Check: check, CaseID: caseID, Steps: say("the model answered 400 Bad Request"), Verdict: report.Pass, Message: kept},
			{Name: provider + "'s, as a sentence", Check: check, CaseID: caseID, Steps: say("400: " + sentence), Verdict: report.Pass, Message: kept},
			{Name: provider + "'s, as a sentence with a word in quotes", Check: check, CaseID: caseID, Steps: say(`"error 400": ` + sentence), Verdict: report.Pass, Message: kept},
			{Name: provider + "'s, as text", Check: check, CaseID: caseID, Steps: say("HTTP 400: " + body), Verdict: report.Warn, Message: shown},
			{Name: provider + "'s, as text of a language", Check: check, CaseID: caseID, Steps: say("Error code: 400 - " + python), Verdict: report.Warn, Message: shown},
			{Name: provider + "'s, as text in JSON", Check: check, CaseID: caseID, Steps: say(string(dialect.Marshal(story.Object{"body": body}))), Verdict: report.Warn, Message: shown},
			{Name: provider + "'s, as data", Check: check, CaseID: caseID, Steps: failing(400, body, data), Verdict: report.Warn, Message: shown},
		})
	}
	say := func(message string) func(*tracetest.Story) { return failing(500, "", tellingIt(message)) }
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "internals, kept", Check: check, CaseID: "server-error", Steps: say("500"), Verdict: report.Pass, Message: kept},
		{Name: "a stack trace", Check: check, CaseID: "server-error", Steps: say("File \"" + internalCode + "\", line 218"), Verdict: report.Warn,
			Message: "a line of the provider's stack trace is handed to the server"},
		{Name: "a machine", Check: check, CaseID: "server-error", Steps: say("no answer of " + internalHost), Verdict: report.Warn,
			Message: "the name of a machine inside the provider is handed to the server"},
		{Name: "a machine in base64", Check: check, CaseID: "server-error", Steps: say(base64.URLEncoding.EncodeToString([]byte(frontMachine))), Verdict: report.Warn,
			Message: "the name of the machine before the provider is handed to the server, in base64"},
		{Name: "of an error in a stream", Check: check, CaseID: "error-midway", Verdict: report.Warn, Message: shown,
			Steps: failing(200, "data: {\"choices\":[]}\n\ndata: "+bodies["OpenAI"]+"\n\n", tellingIt(bodies["OpenAI"]))},
		{Name: "of a client that dies", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Message: "that nothing of it follows cannot be said: the session did not end cleanly: it exited with status 1",
			Steps:   failing(400, bodies["OpenAI"], func(s *tracetest.Story) { s.Ends(trace.Process{ExitCode: 1}) })},
	})
}

// The place of a secret is named by its path, or the header that holds it.
func TestALeakIsShownWhereItStands(t *testing.T) {
	sent := func(f trace.Frame) evidence.Sending { return evidence.Sending{&trace.Event{Seq: 1, Frame: &f}} }
	finder := harness.Planted(harness.PlantedKey)
	raw, err := json.Marshal(story.Object{"params": story.Object{"list": []any{"a", "b " + harness.PlantedKey}}})
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
		_, where, text := sent(c.frame).Find(finder)
		if where.Label != c.label || where.Path != c.path || text != c.text {
			t.Errorf("%+v: got %q at %q of %q, want %q at %q of %q", c.frame, text, where.Path, where.Label, c.text, c.path, c.label)
		}
	}
}
