package mutants

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

var declareMutants = []Mutant{
	{Name: "answers-undeclared", Wire: true, Doc: "answers sampling requests without declaring sampling",
		Kills: []string{"declare/sampling-declared"}, Also: []string{"client/sampled"},
		edit: just(Edit{Declared: withoutSampling})},
	{Name: "declares-on-calls-only", Wire: true, Doc: "declares sampling only in the requests that need it",
		Kills: []string{"declare/sampling-declared"}, Era: "modern", edit: meta(func(m *Message) {
			if m.Params()["name"] == nil {
				withoutSampling(member(m.Meta(), metaCapabilities))
			}
		})},
	{Name: "retries-undeclared", Wire: true, Doc: "does not declare sampling in a retry",
		Kills: []string{"declare/sampling-declared"}, Era: "modern",
		edit: onRetry(func(m *Message) { withoutSampling(member(m.Meta(), metaCapabilities)) })},
	{Name: "tools-undeclared", Wire: true, Doc: "declares sampling without tools and answers with tool uses",
		Kills: []string{"declare/tools-declared"},
		edit:  just(Edit{Declared: func(declared map[string]any) { delete(member(declared, "sampling"), "tools") }})},
	{Name: "declares-true", Wire: true, Doc: "declares sampling.tools as true", Kills: []string{"declare/shape"},
		edit: just(Edit{Declared: func(declared map[string]any) {
			if sampling := member(declared, "sampling"); sampling["tools"] != nil {
				sampling["tools"] = true
			}
		}})},
	{Name: "no-version-on-retry", Wire: true, Doc: "leaves the protocol version out of the _meta of a retry",
		Kills: []string{"declare/meta-fields"}, Also: []string{"mrtr/rounds"}, Era: "modern",
		edit: onRetry(func(m *Message) { delete(m.Meta(), metaVersion) })},
	{Name: "no-client-info", Wire: true, Doc: "does not send its name and version", Kills: []string{"declare/client-info"},
		Era: "modern", edit: meta(func(m *Message) { delete(m.Meta(), metaClientInfo) })},
	{Name: "no-name-on-retry", Wire: true, Doc: "leaves the header Mcp-Name out of a retry",
		Kills: []string{"declare/http-headers"}, Also: []string{"mrtr/rounds"}, Era: "modern",
		edit: onRetry(func(m *Message) { m.Header.Del("Mcp-Name") })},
	{Name: "refuses-tools", Wire: true, Doc: "declares tools and refuses every request with tools",
		Kills: []string{"declare/over-declared"}, Also: []string{"malformed/tolerated"},
		edit: refuses(func(s *Sample) bool { return s.Asked["tools"] != nil })},
	{Name: "serves-undeclared", Wire: true, Doc: "answers every sampling request, whatever it declared",
		Kills: []string{"declare/undeclared-sampling-refused", "declare/undeclared-tools-refused",
			"declare/undeclared-toolchoice-refused"},
		Also: []string{"declare/no-model-call"}, edit: servesUndeclared},
	{Name: "drops-undeclared-tools", Wire: true, Doc: "drops tools that it did not declare and answers the rest",
		Kills: []string{"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"},
		Also:  []string{"declare/no-model-call"}, edit: func(w *Wire) Edit {
			return Edit{Asked: func(s *Sample) {
				if !w.Declares(s.Params) {
					delete(s.Params, "tools")
					delete(s.Params, "toolChoice")
				}
			}}
		}},
	{Name: "overlooks-choice", Wire: true, Doc: "refuses tools that it did not declare, but not a tool choice alone",
		Kills: []string{"declare/undeclared-toolchoice-refused"}, Also: []string{"declare/no-model-call"},
		edit: func(w *Wire) Edit {
			return Edit{Asked: func(s *Sample) {
				if !w.Declares(s.Params) && s.Params["tools"] == nil {
					delete(s.Params, "toolChoice")
				}
			}}
		}},
	{Name: "asks-before-it-looks", Wire: true, Doc: "asks the model before it refuses what it did not declare",
		Kills: []string{"declare/no-model-call"}, edit: func(w *Wire) Edit {
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
		}},
	{Name: "dies-when-it-refuses", Wire: true, Doc: "exits after a request that it has to refuse",
		Kills: []string{"declare/alive"}, Also: []string{"client/ends-cleanly"},
		edit: diesOf(func(w *Wire, s *Sample) bool { return !w.Declares(s.Asked) })},
}

// withoutSampling edits a declaration.
func withoutSampling(declared map[string]any) { delete(declared, "sampling") }

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
		Declared: func(declared map[string]any) {
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
func (w *Wire) told() map[string]any {
	declared, err := mcpjson.Object(w.Env.Declare)
	if err != nil {
		return map[string]any{"sampling": map[string]any{"tools": map[string]any{}}}
	}
	return declared
}
