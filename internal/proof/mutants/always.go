package mutants

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// alwaysEdits are bugs that show only under a condition: with tools, in a later round, in a retry, in an error.
var alwaysEdits = edits{
	"no-model-with-tools":  answered(onlyWith(hasTools, unset("model"))),
	"role-user-with-tools": answered(onlyWith(hasTools, set("role", "user"))),
	"says-length": result(func(r object) {
		if r["stopReason"] == "maxTokens" {
			r["stopReason"] = "length"
		}
	}),
	"null-content-later": answered(onlyWith(isLater, set("content", nil))),
	"null-error": response(func(r object) {
		if r["result"] != nil {
			r["error"] = nil
		}
	}),
	"twice-with-tools": out(func(m *Message) {
		if m.AnswersSample() && hasTools(m.Sample) {
			m.After(copyOf(m.Body))
		}
	}),
	"asks-twice-with-tools": just(Edit{Model: asksTwiceWithTools}),
	"more-tokens-later": params(func(p object) {
		if hasAssistant(p) {
			p["maxTokens"] = json.Number("8192")
		}
	}),
	"shares-max-tokens": func(*Wire) Edit {
		var latest atomic.Value
		return Edit{Asked: func(s *Sample) {
			if n, ok := s.Asked["maxTokens"].(json.Number); ok {
				latest.Store(n)
			}
		}, ModelRequest: func(body object) {
			for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
				if body[name] != nil && latest.Load() != nil {
					body[name] = latest.Load()
				}
			}
		}}
	},
	"caches-by-messages": func(*Wire) Edit {
		var kept sync.Map
		return Edit{Asked: func(s *Sample) {
			if result, found := kept.Load(Key(s.Asked["messages"])); found {
				s.Answer(copyOf(result.(object)))
			}
		}, Answered: func(s *Sample) {
			if s.Result != nil {
				kept.LoadOrStore(Key(s.Asked["messages"]), copyOf(s.Result))
			}
		}}
	},
	"no-limit-later": just(Edit{ModelRequest: func(body object) {
		if hasAssistant(body) {
			unset("max_tokens", "max_completion_tokens", "max_output_tokens")(body)
			delete(member(body, "options"), "num_predict")
			delete(member(body, "generationConfig"), "maxOutputTokens")
		}
	}}),
	"never-initialized": out(func(m *Message) {
		if m.Method() == "notifications/initialized" {
			m.Drop()
		}
	}),
	"initialized-twice": out(func(m *Message) {
		if m.Method() == "notifications/initialized" {
			m.After(object{"jsonrpc": "2.0", "method": m.Method()})
		}
	}),
	"asks-for-latest": out(func(m *Message) {
		if m.Method() == "initialize" {
			m.Params()["protocolVersion"] = "latest"
		}
	}),
	"no-version": out(func(m *Message) {
		if m.Method() == "initialize" {
			delete(member(m.Params(), "clientInfo"), "version")
		}
	}),
	"retries-without-tools": onRetry(func(m *Message) {
		delete(member(member(m.Meta(), metaCapabilities), "sampling"), "tools")
	}),
	"reconnects-without-tools": reconnectsWithoutTools,
	"answers-as-text": out(func(m *Message) {
		if m.AnswersSample() {
			m.Header.Set("Content-Type", "text/plain;charset=UTF-8")
		}
	}),
	"lower-keys": onRetry(func(m *Message) {
		responses := member(m.Params(), "inputResponses")
		for key, response := range maps.Clone(responses) {
			delete(responses, key)
			responses[strings.ToLower(key)] = response
		}
	}),
	"adds-a-key": onRetry(func(m *Message) {
		responses := member(m.Params(), "inputResponses")
		for _, response := range responses {
			responses["nobody-asked"] = response
			return
		}
	}),
	"issues-in-errors": answered(func(s *Sample) {
		if fmt.Sprint(s.Error["code"]) == fmt.Sprint(codeInvalidParams) {
			s.Error["message"] = `[{"code": "invalid_type", "expected": "number", "path": ["maxTokens"]}]`
		}
	}),
	"keeps-state-in-new-calls": keepsState,
	"url-in-errors":            urlInErrors,
	"stack-in-errors": failures(says(codeInternal, func(*Wire, error) string {
		return failed + "\n    at ask (/home/anna/client/model.js:42:11)"
	})),
	"end-of-key-in-errors": failures(says(codeInternal, func(w *Wire, _ error) string {
		return failed + " with the key …" + w.Env.Key[len(w.Env.Key)-10:]
	})),
}

func onlyWith(condition func(*Sample) bool, edit func(result object)) func(*Sample) {
	return func(s *Sample) {
		if condition(s) && s.Result != nil {
			edit(s.Result)
		}
	}
}

func hasTools(s *Sample) bool { return s.Asked["tools"] != nil }
func isLater(s *Sample) bool  { return s.Turn() > 1 }

// hasAssistant reports whether params, or a request to the model, have a turn of the model.
func hasAssistant(body object) bool {
	found := false
	for _, name := range []string{"messages", "input", "contents"} {
		eachItem(body[name], func(m object) {
			found = found || m["role"] == "assistant" || m["role"] == "model" || m["type"] == "function_call"
		})
	}
	return found
}

// asksTwiceWithTools asks the model twice for each request that offers tools.
func asksTwiceWithTools(w *Wire, next http.RoundTripper) http.RoundTripper {
	twice := w.asksTwice(next)
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := readRequest(r)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		if o, err := jsonvalue.ReadObject(body); err == nil && o["tools"] != nil {
			return twice.RoundTrip(r)
		}
		return next.RoundTrip(r)
	})
}

// reconnectsWithoutTools declares sampling.tools only in the first session.
func reconnectsWithoutTools(*Wire) Edit {
	var sessions atomic.Int32
	return Edit{Out: func(m *Message) {
		if m.Method() == "initialize" && sessions.Add(1) > 1 {
			delete(member(member(m.Params(), "capabilities"), "sampling"), "tools")
		}
	}}
}

// keepsState sends the state of the latest retry with each new call.
func keepsState(*Wire) Edit {
	var latest atomic.Value
	return Edit{
		Retry: func(c *Call, p object) {
			if state, ok := p[c.stateMember()].(string); ok {
				latest.Store(state)
			}
		},
		Out: func(m *Message) {
			if m.Call() != nil && m.Call().Retries == 0 && m.Params()["inputResponses"] == nil && latest.Load() != nil {
				m.Params()[m.Call().stateMember()] = latest.Load()
			}
		},
	}
}

// urlInErrors sends the server the model's address after a failure.
func urlInErrors(w *Wire) Edit {
	var address atomic.Value
	e := failures(says(codeInternal, func(_ *Wire, err error) string {
		known, _ := address.Load().(string) // under a condition, the request may not have been seen
		return "Post \"" + cmp.Or(known, "http://127.0.0.1:4000/v1") + "\": " + failed
	}))(w)
	e.Model = func(_ *Wire, next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			address.Store(r.URL.String())
			return next.RoundTrip(r)
		})
	}
	return e
}
