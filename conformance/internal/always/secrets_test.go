package always_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// planted is a run with a planted key.
func planted(then ...steps) steps {
	return func(s *session) {
		s.Trace.Header.Key = leak.PlantedKey
		inOrder(then...)(s)
	}
}

// tells is a notification of the client with the data.
func tells(caseID, data string) steps {
	return func(s *session) {
		s.Frame(caseID, trace.FromClient, 0,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":`+data+`}}`)
	}
}

func TestSecretsDoNotReachTheServer(t *testing.T) {
	const key = leak.PlantedKey
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + key))
	var escaped strings.Builder
	for _, c := range key {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	sendsHeader := func(name, value string) steps {
		return func(s *session) { s.Trace.Events[1].Frame.HTTP.Header[name] = value }
	}
	const rule, caseID = "no-secret", "provider-errors/unauthorized"
	for name, message := range map[string]string{
		"no secret":    "the model is down",
		"a masked key": "Incorrect API key provided: " + key[:8] + "**********" + key[len(key)-4:],
		"another key":  "sk-0123456789abcdef0123456789abcdef, org-w7Qm2Rk9",
		"a request ID": "request req_011CeCGmBjaWkq37Sf5iU7so",
	} {
		judges(t, rule, caseID, passes(name, planted(tells(caseID, fmt.Sprintf("%q", message)))))
	}
	for name, leak := range map[string]struct{ message, found string }{
		"the key":                 {"bad key " + key, "the key"},
		"the key cut off":         {"bad key " + key[:len(key)-4] + "…", "the key, without its first or last characters"},
		"the end of the key":      {"bad key …" + key[len(key)-8:], "the key, its last characters"},
		"the key in base64":       {"Basic " + encoded, "the key, in base64"},
		"the key escaped":         {escaped.String(), "the key, escaped"},
		"the cookie":              {"Set-Cookie: __cf_bm=" + leak.PlantedCookie, "the cookie"},
		"the account":             {"limit reached for " + leak.PlantedAccount, "the account"},
		"the key of a URL's user": {"https://:" + key + "@provider.example", "the key"},
	} {
		judges(t, rule, caseID,
			fails(name, planted(tells(caseID, string(jsonvalue.Marshal(leak.message)))), "found "+leak.found))
	}
	judges(t, rule, caseID,
		fails("in pieces", planted(tells(caseID, fmt.Sprintf(`[%q,%q,%q]`, key[:20], key[20:len(key)-4],
			key[len(key)-4:]))), "in pieces"),
		fails("in a header", planted(sendsHeader("Authorization", "Bearer "+key)), "found the key"),
		fails("in a header, in base64", planted(sendsHeader("X-Context", encoded)), "in base64"),
		passes("another header", planted(sendsHeader("Authorization", trace.Token("real")))),
		fails("outside of all cases", planted(tells("", `"`+key+`"`)), "found the key"),
		passes("from the server", planted(func(s *session) { s.Frame(s.CaseID, trace.ToClient, 0, `"`+key+`"`) })),
		tracetest.Unsupported("a trace without a key", tells(caseID, `"x"`), "no planted key"),
	)
}

func TestErrorsKeepInternals(t *testing.T) {
	errs := func(message string) steps {
		return func(s *session) {
			s.Asks(asked).Prompting(trace.ModelEnd{Status: 500}, "")
			s.Refuses(-32603, message)
		}
	}
	judge := func(verdict func(string, steps, ...string) test, name, message, says string) {
		one := verdict(name, errs(message), says)
		judges(t, "no-internals", "provider-errors/internal", legacy(openAI(one)))
	}
	for name, message := range map[string]string{
		"own words": "the model is not available", "a status": "the model answered 500",
		"a method": "sampling/createMessage failed", "another page": "see https://example.com/docs",
		"a ratio": "tokens in/out: 3/4", "a place": "looked at messages[0]/content",
	} {
		judge(passes, name, message, "")
	}
	for message, found := range map[string]string{
		`Post "https://provider.example/v1/chat/completions": EOF`:         "the provider's URL",
		"connect ECONNREFUSED 127.0.0.1:4321":                              "an address of this machine",
		"Error: no\n    at ask (client.js:10:5)":                           "a stack trace",
		"Traceback (most recent call last):\n  File \"client.py\", line 3": "a stack trace",
		"panic: no\n\ngoroutine 7 [running]:\nmain.ask()":                  "a stack trace",
		"Error: no\n  Caused by: a.b.IOException: closed":                  "a chain of exceptions",
		"no such file: /home/anna/keys.json":                               "a local path",
		`cannot read C:\\Users\\anna\\keys.json`:                           "a local path",
		"Cannot find module 'file:///app/x.js'":                            "a local path",
		"maxTokens\n  Field required [type=missing, input_value={}]":       "a list of issues of the client's parser",
		`[{ "code": "invalid_type", "path": ["maxTokens"] }]`:              "a list of issues of the client's parser",
	} {
		judge(tracetest.Warns, message, message, found)
	}
	tells := "Traceback (most recent call last):\n  File \"gw.py\", line 3"
	said := string(jsonvalue.Marshal(map[string]any{"error": map[string]any{"message": tells}}))
	judges(t, "no-internals", "provider-errors/internal", legacy(openAI(tracetest.Warns("the provider's stack trace",
		func(s *session) { s.Asks(asked).Prompting(trace.ModelEnd{Status: 500}, said).Refuses(-32603, tells) },
		"found a stack trace of the provider, from its error"))))
	quotes := func(message string) steps {
		return func(s *session) {
			s.Asks(tracetest.Asking("Who wrote file:///srv/log.txt?")).Refuses(-32602, message)
		}
	}
	judges(t, "no-internals", "basic/question",
		legacy(inapplicable("no error", tracetest.Right)),
		legacy(passes("the request", quotes("cannot read (file:///srv/log.txt)."))),
		legacy(tracetest.Warns("the request, and more", quotes("cannot read file:///srv/log.txt: no file:///srv/key.json"),
			"a local path")),
	)
}
