package mutants

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var declareEdits = edits{
	"answers-undeclared": just(Edit{Declared: withoutSampling}),
	"declares-on-calls-only": meta(func(m *Message) {
		if m.Params()["name"] == nil {
			withoutSampling(member(m.Meta(), metaCapabilities))
		}
	}),
	"retries-undeclared": onRetry(func(m *Message) { withoutSampling(member(m.Meta(), metaCapabilities)) }),
	"tools-undeclared":   just(Edit{Declared: func(declared object) { delete(member(declared, "sampling"), "tools") }}),
	"declares-true": just(Edit{Declared: func(declared object) {
		if sampling := member(declared, "sampling"); sampling["tools"] != nil {
			sampling["tools"] = true
		}
	}}),
	"no-version-on-retry": onRetry(func(m *Message) { delete(m.Meta(), metaVersion) }),
	"no-client-info":      meta(func(m *Message) { delete(m.Meta(), metaClientInfo) }),
	"no-name-on-retry":    onRetry(func(m *Message) { m.Header.Del("Mcp-Name") }),
	"refuses-tools":       refuses(func(s *Sample) bool { return s.Asked["tools"] != nil }),
	"serves-undeclared":   servesUndeclared,
	"drops-undeclared-tools": asked(func(s *Sample) {
		if !s.Wire.Declares(s.Params) {
			delete(s.Params, "tools")
			delete(s.Params, "toolChoice")
		}
	}),
	"overlooks-choice": asked(func(s *Sample) {
		if !s.Wire.Declares(s.Params) && s.Params["tools"] == nil {
			delete(s.Params, "toolChoice")
		}
	}),
	"asks-before-it-looks": func(w *Wire) Edit {
		e := servesUndeclared(w)
		e.Answered = func(s *Sample) {
			switch told := w.told(); {
			case w.Declares(s.Asked):
			case told["sampling"] == nil:
				s.Refuse(codeNoMethod, "sampling is not declared")
			default:
				s.Refuse(codeInvalidParams, "sampling.tools is not declared")
			}
		}
		return e
	},
	"skips-unknown-methods": in(func(m *Message) {
		if m.Method() == "example/greet" {
			m.Drop()
		}
	}),
	"grants-unknown-methods": refusalOfMethod(func(m *Message) {
		delete(m.Body, "error")
		m.Body["result"] = object{}
	}),
	"unknown-methods-are-internal": refusalOfMethod(func(m *Message) { member(m.Body, "error")["code"] = codeInternal }),
	"dies-when-it-refuses":         diesOf(func(w *Wire, s *Sample) bool { return !w.Declares(s.Asked) }),
}

// refusalOfMethod edits the error for a request of an unknown method.
func refusalOfMethod(f func(*Message)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Answers("example/greet") && m.Body["error"] != nil {
			f(m)
		}
	})
}

func withoutSampling(declared object) { delete(declared, "sampling") }

// meta edits the requests of the modern era, which have a _meta.
func meta(f func(m *Message)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Meta()[metaVersion] != nil {
			f(m)
		}
	})
}

// onRetry edits the retries of the modern era.
func onRetry(f func(m *Message)) func(*Wire) Edit {
	return meta(func(m *Message) {
		if m.Params()["inputResponses"] != nil {
			f(m)
		}
	})
}

// servesUndeclared has the client serve everything, and declare what it was told to.
func servesUndeclared(w *Wire) Edit {
	return Edit{
		Env: func(env *harness.Env) { env.Declare = json.RawMessage(`{"sampling":{"tools":{}}}`) },
		Declared: func(declared object) {
			if declared["sampling"] != nil {
				delete(declared, "sampling")
				if told := w.told(); told["sampling"] != nil {
					declared["sampling"] = told["sampling"]
				}
			}
		},
	}
}

func (w *Wire) told() object {
	declared, err := jsonvalue.ReadObject(w.Env.Declare)
	if err != nil {
		return object{"sampling": object{"tools": object{}}}
	}
	return declared
}
