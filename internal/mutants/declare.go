package mutants

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

var declareMutants = chapter("declare",
	m("answers-undeclared", "answers sampling requests without declaring sampling",
		"sampling-declared | client/sampled", just(Edit{Declared: withoutSampling}), wire),
	m("declares-on-calls-only", "declares sampling only in the requests that need it", "sampling-declared",
		meta(func(m *Message) {
			if m.Params()["name"] == nil {
				withoutSampling(member(m.Meta(), metaCapabilities))
			}
		}), wire, modern),
	m("retries-undeclared", "does not declare sampling in a retry", "sampling-declared",
		onRetry(func(m *Message) { withoutSampling(member(m.Meta(), metaCapabilities)) }), wire, modern),
	m("tools-undeclared", "declares sampling without tools and answers with tool uses", "tools-declared",
		just(Edit{Declared: func(declared object) { delete(member(declared, "sampling"), "tools") }}), wire),
	m("declares-true", "declares sampling.tools as true", "shape", just(Edit{Declared: func(declared object) {
		if sampling := member(declared, "sampling"); sampling["tools"] != nil {
			sampling["tools"] = true
		}
	}}), wire),
	m("no-version-on-retry", "leaves the protocol version out of the _meta of a retry", "meta-fields | mrtr/rounds",
		onRetry(func(m *Message) { delete(m.Meta(), metaVersion) }), wire, modern),
	m("no-client-info", "does not send its name and version", "client-info",
		meta(func(m *Message) { delete(m.Meta(), metaClientInfo) }), wire, modern),
	m("no-name-on-retry", "leaves the header Mcp-Name out of a retry", "http-headers | mrtr/rounds",
		onRetry(func(m *Message) { m.Header.Del("Mcp-Name") }), wire, modern),
	m("refuses-tools", "declares tools and refuses every request with tools", "over-declared | malformed/tolerated",
		refuses(func(s *Sample) bool { return s.Asked["tools"] != nil }), wire),
	m("serves-undeclared", "answers every sampling request, whatever it declared",
		"undeclared-sampling-refused undeclared-tools-refused undeclared-toolchoice-refused | no-model-call",
		servesUndeclared, wire),
	m("drops-undeclared-tools", "drops tools that it did not declare and answers the rest",
		"undeclared-tools-refused undeclared-toolchoice-refused | no-model-call", asked(func(s *Sample) {
			if !s.Wire.Declares(s.Params) {
				delete(s.Params, "tools")
				delete(s.Params, "toolChoice")
			}
		}), wire),
	m("overlooks-choice", "refuses tools that it did not declare, but not a tool choice alone",
		"undeclared-toolchoice-refused | no-model-call", asked(func(s *Sample) {
			if !s.Wire.Declares(s.Params) && s.Params["tools"] == nil {
				delete(s.Params, "toolChoice")
			}
		}), wire),
	m("asks-before-it-looks", "asks the model before it refuses what it did not declare", "no-model-call",
		func(w *Wire) Edit {
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
		}, wire),
	m("dies-when-it-refuses", "exits after a request that it has to refuse", "alive | client/ends-cleanly",
		diesOf(func(w *Wire, s *Sample) bool { return !w.Declares(s.Asked) }), wire),
)

// withoutSampling edits a declaration.
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

// told is what the client was told to declare.
func (w *Wire) told() object {
	declared, err := mcpjson.Object(w.Env.Declare)
	if err != nil {
		return object{"sampling": object{"tools": object{}}}
	}
	return declared
}
