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

var mrtrMutants = []Mutant{
	inRounds("one-input-at-most", "returns a result with two input requests to its caller", onInput(func(r map[string]any) {
		if len(member(r, "inputRequests")) > 1 {
			abandon(r)
		}
	}), []string{"mrtr/retried"}),
	inRounds("forgets-a-key", "answers all input requests of a result except one", onResponses(
		func(responses map[string]any) {
			if len(responses) > 1 {
				delete(responses, slices.Max(slices.Collect(maps.Keys(responses))))
			}
		}), []string{"mrtr/every-key"}, "consent/burst", "consent/declined-mrtr", "loop/concurrent"),
	inRounds("samples-only", "leaves everything except samples out of a retry", retry(func(c *Call, p map[string]any) {
		for key, item := range member(c.Result, "inputRequests") {
			if asked, _ := item.(map[string]any); asked["method"] != methodSample {
				delete(member(p, "inputResponses"), key)
			}
		}
	}), []string{"mrtr/every-key"}),
	inRounds("wraps-answers", "wraps each of several answers as a JSON-RPC response", onResponses(
		func(responses map[string]any) {
			for key, answer := range responses {
				if len(responses) > 1 {
					responses[key] = map[string]any{"result": answer}
				}
			}
		}), []string{"mrtr/answers-valid"}),
	inRounds("forgets-the-state", "sends the state only in the first retry", retry(func(c *Call, p map[string]any) {
		if c.Retries > 0 {
			delete(p, "requestState")
		}
	}), []string{"mrtr/state-echoed", "mrtr/rounds"}, "mrtr/endless", "basic/include-context"),
	inRounds("ascii-state", "replaces all characters except ASCII in a state", onState(asciiOnly),
		[]string{"mrtr/state-echoed"}),
	inRounds("trims-the-state", "trims white space in a state", onState(func(state string) string {
		return strings.Join(strings.Fields(state), " ")
	}), []string{"mrtr/state-echoed"}),
	inRounds("short-state", "sends only the first 4,096 bytes of a state", onState(func(state string) string {
		return state[:min(len(state), 4096)]
	}), []string{"mrtr/state-echoed"}),
	inRounds("first-state-for-all", "sends the first state of a call in all retries", retry(
		func(c *Call, p map[string]any) {
			if c.States[0] != nil && p["requestState"] != nil {
				p["requestState"] = *c.States[0]
			}
		}), []string{"mrtr/state-echoed", "mrtr/rounds"}, "mrtr/endless", "basic/include-context"),
	inRounds("omits-empty-state", "does not send an empty state", retry(func(_ *Call, p map[string]any) {
		if p["requestState"] == "" {
			delete(p, "requestState")
		}
	}), []string{"mrtr/state-empty"}),
	inRounds("empty-for-no-state", "sends an empty state if it got none", retry(func(_ *Call, p map[string]any) {
		if p["requestState"] == nil {
			p["requestState"] = ""
		}
	}), []string{"mrtr/no-state-invented"}),
	inRounds("null-for-no-state", "sends null if it got no state", retry(func(_ *Call, p map[string]any) {
		if p["requestState"] == nil {
			p["requestState"] = nil
		}
	}), []string{"mrtr/no-state-invented"}),
	inRounds("keeps-the-state", "sends the state of an earlier round if it got none", retry(
		func(c *Call, p map[string]any) {
			if latest := c.Latest(); p["requestState"] == nil && latest != nil {
				p["requestState"] = *latest
			}
		}), []string{"mrtr/no-state-invented"}),
	inRounds("reuses-the-id", "sends a retry with the id of the call", func(w *Wire) Edit {
		return Edit{Out: func(m *Message) {
			if c := m.Call(); c != nil && Key(c.ID) != Key(m.Body["id"]) {
				w.Rename(m, c.ID)
			}
		}}
	}, []string{"mrtr/new-id"}, "mrtr/prompts-and-resources"),
	inRounds("other-arguments", "sends a retry with other arguments than the call", retry(func(_ *Call, p map[string]any) {
		if p["arguments"] != nil {
			p["arguments"] = map[string]any{"again": true}
		}
	}), []string{"mrtr/same-params"}),
	inRounds("retries-twice", "sends each retry twice", func(w *Wire) Edit {
		return Edit{In: func(m *Message) {
			if m.IsResponse() && m.Request != nil && m.Request.Call() != nil && m.Request.Call().Retries > 0 {
				w.Request(m.Request.Method(), m.Request.Params())
			}
		}}
	}, []string{"mrtr/retries-once"}),
	inRounds("three-rounds", "abandons a call after three rounds", rounds(4), []string{"mrtr/rounds"}, "mrtr/endless",
		"basic/include-context"),
	inRounds("never-gives-up", "retries a call as often as the server asks for input", rounds(math.MaxInt),
		[]string{"mrtr/endless"}),
	inRounds("not-without-input", "does not retry a call if it got only a state", onInput(func(r map[string]any) {
		if len(member(r, "inputRequests")) == 0 {
			abandon(r)
		}
	}), []string{"mrtr/state-only"}),
	inRounds("leaks-between-rounds", "sends the input and the state of a call in another request", func(w *Wire) Edit {
		return Edit{Retry: func(_ *Call, p map[string]any) {
			w.Request("tools/list", map[string]any{"_meta": p["_meta"], "requestState": p["requestState"],
				"inputResponses": p["inputResponses"]})
		}}
	}, []string{"mrtr/isolation"}),
	inRounds("tools-alone", "ignores input requests in results of prompts/get", ignores("prompts/get"),
		[]string{"mrtr/prompts-and-resources"}),
	inRounds("resources-as-they-are", "ignores input requests in results of resources/read", ignores("resources/read"),
		[]string{"mrtr/prompts-and-resources"}),
	inRounds("looks-for-input", "answers the input requests of a result without a type", onType(
		func(kind string, asks bool) string {
			if kind == "" && asks {
				return "input_required"
			}
			return kind
		}), []string{"mrtr/missing-result-type"}),
	inRounds("wants-a-type", "refuses a result without a type", onType(func(kind string, _ bool) string {
		if kind == "" {
			return "missing"
		}
		return kind
	}), []string{"mrtr/missing-result-type"}),
	inRounds("takes-any-type", "treats a result of an unknown type as complete", onType(func(kind string, _ bool) string {
		if isUnknown(kind) {
			return "complete"
		}
		return kind
	}), []string{"mrtr/unknown-result-type"}),
	inRounds("fulfils-any-type", "answers the input requests of a result of an unknown type", onType(
		func(kind string, asks bool) string {
			if isUnknown(kind) && asks {
				return "input_required"
			}
			return kind
		}), []string{"mrtr/unknown-result-type"}),
	inRounds("answers-direct-requests", "answers a sampling request that comes as a JSON-RPC request",
		responds(methodSample, map[string]any{"role": "assistant", "content": textBlock("yes"), "model": "none"}),
		[]string{"mrtr/direct-request-unanswered", "mrtr/no-responses"}),
	inRounds("answers-pings", "responds to a ping, which this era does not have", responds("ping", map[string]any{}),
		[]string{"mrtr/no-responses"}),
	inRounds("gives-roots-to-all", "answers input requests that it did not declare", onInput(func(r map[string]any) {
		requests := member(r, "inputRequests")
		for key, item := range requests {
			if asked, _ := item.(map[string]any); asked["method"] != methodSample {
				requests[key] = map[string]any{"method": "roots/list"}
			}
		}
	}), []string{"mrtr/undeclared-input"}),
	inRounds("dies-of-null-input", "panics at an input request that is null", func(w *Wire) Edit {
		return onInput(func(r map[string]any) {
			for _, asked := range member(r, "inputRequests") {
				if asked == nil {
					w.Panic("an input request is null")
				}
			}
		})(w)
	}, []string{"mrtr/bad-input"}, "client/ends-cleanly"),
	inRounds("fractions-for-ids", "sends requests other than calls with the id 1.5", func(w *Wire) Edit {
		return meta(func(m *Message) {
			if m.Params()["name"] == nil && m.Params()["uri"] == nil {
				w.Rename(m, json.Number("1.5"))
			}
		})(w)
	}, []string{"mrtr/request-ids"}),
}

// inRounds is a mutant of the modern era whose bug is on the wire to the server.
func inRounds(name, doc string, edit func(*Wire) Edit, kills []string, also ...string) Mutant {
	return Mutant{Name: name, Doc: doc, Kills: kills, Also: also, Wire: true, Era: "modern", edit: edit}
}

func retry(f func(c *Call, params map[string]any)) func(*Wire) Edit { return just(Edit{Retry: f}) }

// onResponses edits the input of a retry.
func onResponses(f func(responses map[string]any)) func(*Wire) Edit {
	return retry(func(_ *Call, p map[string]any) { f(member(p, "inputResponses")) })
}

// onState edits the state of a retry that has one.
func onState(f func(string) string) func(*Wire) Edit {
	return retry(func(_ *Call, p map[string]any) {
		if state, ok := p["requestState"].(string); ok {
			p["requestState"] = f(state)
		}
	})
}

// onInput edits results that ask for input.
func onInput(f func(result map[string]any)) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Request != nil && m.Result()["resultType"] == "input_required" {
			f(m.Result())
		}
	})
}

// onType edits the type of results, of which an empty one is missing. asks is true if a result has input requests.
func onType(f func(kind string, asks bool) string) func(*Wire) Edit {
	return in(func(m *Message) {
		if r, ok := m.Body["result"].(map[string]any); ok && m.Request != nil {
			if kind := f(text(r, "resultType"), r["inputRequests"] != nil); kind != text(r, "resultType") {
				r["resultType"] = kind
			}
		}
	})
}

func isUnknown(kind string) bool { return kind != "" && kind != "complete" && kind != "input_required" }

// abandon makes a result ask for what no client declares.
func abandon(r map[string]any) { maps.Copy(r, impossible()) }

// ignores abandons the calls of a method that need input.
func ignores(method string) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Answers(method) && m.Result()["resultType"] == "input_required" {
			abandon(m.Result())
		}
	})
}

func rounds(most int) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Options: func(o *client.Options, _ *model.Options) {
			w.Fire()
			o.MaxRounds = most
		}}
	}
}

// responds responds to requests of the server, which the modern era does not have.
func responds(method string, result map[string]any) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{In: func(m *Message) {
			if m.IsRequest() && m.Method() == method {
				w.respond(m.Body["id"], "result", result)
			}
		}}
	}
}
