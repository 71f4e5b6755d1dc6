package mutants

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
)

var mrtrMutants = chapter("mrtr",
	m("one-input-at-most", "returns a result with two input requests to its caller", "retried",
		onInput(func(r object) {
			if len(member(r, "inputRequests")) > 1 {
				abandon(r)
			}
		}), wire, modern),
	m("forgets-a-key", "answers all input requests of a result except one",
		"every-key | consent/burst consent/declined-mrtr loop/concurrent", onResponses(
			func(responses object) {
				if len(responses) > 1 {
					delete(responses, slices.Max(slices.Collect(maps.Keys(responses))))
				}
			}), wire, modern),
	m("samples-only", "leaves everything except samples out of a retry", "every-key",
		retry(func(c *Call, p object) {
			for key, item := range member(c.Result, "inputRequests") {
				if asked, _ := item.(object); asked["method"] != methodSample {
					delete(member(p, "inputResponses"), key)
				}
			}
		}), wire, modern),
	m("wraps-answers", "wraps each of several answers as a JSON-RPC response", "answers-valid", onResponses(
		func(responses object) {
			for key, answer := range responses {
				if len(responses) > 1 {
					responses[key] = object{"result": answer}
				}
			}
		}), wire, modern),
	m("forgets-the-state", "sends the state only in the first retry",
		"state-echoed rounds | endless basic/include-context", retry(func(c *Call, p object) {
			if c.Retries > 0 {
				delete(p, "requestState")
			}
		}), wire, modern),
	m("ascii-state", "replaces all characters except ASCII in a state", "state-echoed", onState(asciiOnly), wire,
		modern),
	m("trims-the-state", "trims white space in a state", "state-echoed", onState(func(state string) string {
		return strings.Join(strings.Fields(state), " ")
	}), wire, modern),
	m("short-state", "sends only the first 4,096 bytes of a state", "state-echoed",
		onState(func(state string) string {
			return state[:min(len(state), 4096)]
		}), wire, modern),
	m("first-state-for-all", "sends the first state of a call in all retries",
		"state-echoed rounds | endless basic/include-context", retry(
			func(c *Call, p object) {
				if c.States[0] != nil && p["requestState"] != nil {
					p["requestState"] = *c.States[0]
				}
			}), wire, modern),
	m("omits-empty-state", "does not send an empty state", "state-empty", retry(func(_ *Call, p object) {
		if p["requestState"] == "" {
			delete(p, "requestState")
		}
	}), wire, modern),
	m("empty-for-no-state", "sends an empty state if it got none", "no-state-invented",
		retry(func(_ *Call, p object) {
			if p["requestState"] == nil {
				p["requestState"] = ""
			}
		}), wire, modern),
	m("null-for-no-state", "sends null if it got no state", "no-state-invented",
		retry(func(_ *Call, p object) {
			if p["requestState"] == nil {
				p["requestState"] = nil
			}
		}), wire, modern),
	m("keeps-the-state", "sends the state of an earlier round if it got none", "no-state-invented", retry(
		func(c *Call, p object) {
			if latest := c.Latest(); p["requestState"] == nil && latest != nil {
				p["requestState"] = *latest
			}
		}), wire, modern),
	m("reuses-the-id", "sends a retry with the id of the call", "new-id | prompts-and-resources", out(func(m *Message) {
		if c := m.Call(); c != nil && Key(c.ID) != Key(m.Body["id"]) {
			m.Wire.Rename(m, c.ID)
		}
	}), wire, modern),
	m("other-arguments", "sends a retry with other arguments than the call", "same-params",
		retry(func(_ *Call, p object) {
			if p["arguments"] != nil {
				p["arguments"] = object{"again": true}
			}
		}), wire, modern),
	m("retries-twice", "sends each retry twice", "retries-once", in(func(m *Message) {
		if m.IsResponse() && m.Request != nil && m.Request.Call() != nil && m.Request.Call().Retries > 0 {
			m.Wire.Request(m.Request.Method(), m.Request.Params())
		}
	}), wire, modern),
	m("three-rounds", "abandons a call after three rounds", "rounds | endless basic/include-context", rounds(4), wire,
		modern),
	m("never-gives-up", "retries a call as often as the server asks for input", "endless", rounds(math.MaxInt), wire,
		modern),
	m("not-without-input", "does not retry a call if it got only a state", "state-only",
		onInput(func(r object) {
			if len(member(r, "inputRequests")) == 0 {
				abandon(r)
			}
		}), wire, modern),
	m("leaks-between-rounds", "sends the input and the state of a call in another request", "isolation",
		func(w *Wire) Edit {
			return Edit{Retry: func(_ *Call, p object) {
				w.Request("tools/list", object{"_meta": p["_meta"], "requestState": p["requestState"],
					"inputResponses": p["inputResponses"]})
			}}
		}, wire, modern),
	m("tools-alone", "ignores input requests in results of prompts/get", "prompts-and-resources",
		ignores("prompts/get"), wire, modern),
	m("resources-as-they-are", "ignores input requests in results of resources/read", "prompts-and-resources",
		ignores("resources/read"), wire, modern),
	m("looks-for-input", "answers the input requests of a result without a type", "missing-result-type", onType(
		func(kind string, asks bool) string {
			if kind == "" && asks {
				return "input_required"
			}
			return kind
		}), wire, modern),
	m("wants-a-type", "refuses a result without a type", "missing-result-type",
		onType(func(kind string, _ bool) string {
			if kind == "" {
				return "missing"
			}
			return kind
		}), wire, modern),
	m("takes-any-type", "treats a result of an unknown type as complete", "unknown-result-type",
		onType(func(kind string, _ bool) string {
			if isUnknown(kind) {
				return "complete"
			}
			return kind
		}), wire, modern),
	m("fulfils-any-type", "answers the input requests of a result of an unknown type", "unknown-result-type", onType(
		func(kind string, asks bool) string {
			if isUnknown(kind) && asks {
				return "input_required"
			}
			return kind
		}), wire, modern),
	m("answers-direct-requests", "answers a sampling request that comes as a JSON-RPC request",
		"direct-request-unanswered no-responses",
		responds(methodSample, object{"role": "assistant", "content": textBlock("yes"), "model": "none"}),
		wire, modern),
	m("answers-pings", "responds to a ping, which this era does not have", "no-responses",
		responds("ping", object{}), wire, modern),
	m("gives-roots-to-all", "answers input requests that it did not declare", "undeclared-input",
		onInput(func(r object) {
			requests := member(r, "inputRequests")
			for key, item := range requests {
				if asked, _ := item.(object); asked["method"] != methodSample {
					requests[key] = object{"method": "roots/list"}
				}
			}
		}), wire, modern),
	m("dies-of-null-input", "panics at an input request that is null", "bad-input | client/ends-cleanly",
		func(w *Wire) Edit {
			return onInput(func(r object) {
				for _, asked := range member(r, "inputRequests") {
					if asked == nil {
						w.Panic("an input request is null")
					}
				}
			})(w)
		}, wire, modern),
	m("fractions-for-ids", "sends requests other than calls with the id 1.5", "request-ids", func(w *Wire) Edit {
		return meta(func(m *Message) {
			if m.Params()["name"] == nil && m.Params()["uri"] == nil {
				w.Rename(m, json.Number("1.5"))
			}
		})(w)
	}, wire, modern),
)

func retry(f func(c *Call, params object)) func(*Wire) Edit { return just(Edit{Retry: f}) }

// onResponses edits the input of a retry.
func onResponses(f func(responses object)) func(*Wire) Edit {
	return retry(func(_ *Call, p object) { f(member(p, "inputResponses")) })
}

// onState edits the state of a retry that has one.
func onState(f func(string) string) func(*Wire) Edit {
	return retry(func(_ *Call, p object) {
		if state, ok := p["requestState"].(string); ok {
			p["requestState"] = f(state)
		}
	})
}

// onInput edits results that ask for input.
func onInput(f func(result object)) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Request != nil && m.Result()["resultType"] == "input_required" {
			f(m.Result())
		}
	})
}

// onType edits the type of results, of which an empty one is missing. asks is true if a result has input requests.
func onType(f func(kind string, asks bool) string) func(*Wire) Edit {
	return in(func(m *Message) {
		if r, ok := m.Body["result"].(object); ok && m.Request != nil {
			if kind := f(text(r, "resultType"), r["inputRequests"] != nil); kind != text(r, "resultType") {
				r["resultType"] = kind
			}
		}
	})
}

func isUnknown(kind string) bool { return kind != "" && kind != "complete" && kind != "input_required" }

// abandon makes a result ask for what no client declares.
func abandon(r object) { maps.Copy(r, impossible()) }

// ignores abandons the calls of a method that need input.
func ignores(method string) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Answers(method) && m.Result()["resultType"] == "input_required" {
			abandon(m.Result())
		}
	})
}

func rounds(most int) func(*Wire) Edit {
	return just(Edit{Options: func(w *Wire, o *client.Options, _ *model.Options) {
		w.Fire()
		o.MaxRounds = most
	}})
}

// responds responds to requests of the server, which the modern era does not have.
func responds(method string, result object) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.IsRequest() && m.Method() == method {
			m.Wire.respond(m.Body["id"], "result", result)
		}
	})
}
