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

var mrtrEdits = edits{
	"one-input-at-most": onInput(func(r object) {
		if len(member(r, "inputRequests")) > 1 {
			abandon(r)
		}
	}),
	"forgets-a-key": onResponses(
		func(responses object) {
			if len(responses) > 1 {
				delete(responses, slices.Max(slices.Collect(maps.Keys(responses))))
			}
		}),
	"samples-only": retry(func(c *Call, p object) {
		for key, item := range member(c.Result, "inputRequests") {
			if asked, _ := item.(object); asked["method"] != methodSample {
				delete(member(p, "inputResponses"), key)
			}
		}
	}),
	"wraps-answers": onResponses(
		func(responses object) {
			for key, answer := range responses {
				if len(responses) > 1 {
					responses[key] = object{"result": answer}
				}
			}
		}),
	"forgets-the-state": retry(func(c *Call, p object) {
		if c.Retries > 0 {
			delete(p, c.stateMember())
		}
	}),
	"ascii-state": onState(asciiOnly),
	"composes-the-state": onState(func(state string) string {
		return strings.ReplaceAll(state, "u\u0308", "\u00fc") // as NFC does
	}),
	"trims-the-state": onState(func(state string) string {
		return strings.Join(strings.Fields(state), " ")
	}),
	"parses-the-state": onState(func(state string) string {
		var parsed any
		if json.Unmarshal([]byte(state), &parsed) != nil {
			return state
		}
		return string(marshal(parsed))
	}),
	"skips-an-empty-key": onResponses(func(responses object) { delete(responses, "") }),
	"short-state": onState(func(state string) string {
		return state[:min(len(state), 4096)]
	}),
	"first-state-for-all": retry(
		func(c *Call, p object) {
			if c.States[0] != nil && p[c.stateMember()] != nil {
				p[c.stateMember()] = *c.States[0]
			}
		}),
	"omits-empty-state": retry(func(c *Call, p object) {
		if p[c.stateMember()] == "" {
			delete(p, c.stateMember())
		}
	}),
	"drops-lone-states": retry(func(c *Call, p object) {
		if p["inputResponses"] == nil {
			delete(p, c.stateMember())
		}
	}),
	"empty-for-no-state": retry(func(c *Call, p object) {
		if p[c.stateMember()] == nil {
			p[c.stateMember()] = ""
		}
	}),
	"null-for-no-state": retry(func(c *Call, p object) {
		if p[c.stateMember()] == nil {
			p[c.stateMember()] = nil
		}
	}),
	"keeps-the-state": retry(
		func(c *Call, p object) {
			if latest := c.Latest(); p[c.stateMember()] == nil && latest != nil {
				p[c.stateMember()] = *latest
			}
		}),
	"reuses-the-id": out(func(m *Message) {
		if c := m.Call(); c != nil && Key(c.ID) != Key(m.Body["id"]) {
			m.Wire.Rename(m, c.ID)
		}
	}),
	"other-arguments": retry(func(_ *Call, p object) {
		if p["arguments"] != nil {
			p["arguments"] = object{"again": true}
		}
	}),
	"retries-without-arguments": retry(func(_ *Call, p object) {
		if p["arguments"] != nil {
			p["arguments"] = object{}
		}
	}),
	"repeats-responses": func(*Wire) Edit {
		var last any
		return Edit{Retry: func(c *Call, p object) {
			if p["inputResponses"] == nil && c.Retries > 0 && last != nil {
				p["inputResponses"] = last
			}
			last = p["inputResponses"]
		}}
	},
	"retries-twice": in(func(m *Message) {
		if m.IsResponse() && m.Request != nil && m.Request.Call() != nil && m.Request.Call().Retries > 0 {
			m.Wire.Request(m.Request.Method(), m.Request.Params())
		}
	}),
	"three-rounds":   rounds(4),
	"never-gives-up": rounds(math.MaxInt),
	"not-without-input": onInput(func(r object) {
		if len(member(r, "inputRequests")) == 0 {
			abandon(r)
		}
	}),
	"leaks-between-rounds": func(w *Wire) Edit {
		return Edit{Retry: func(c *Call, p object) {
			w.Request("tools/list", object{"_meta": p["_meta"], c.stateMember(): p[c.stateMember()],
				"inputResponses": p["inputResponses"]})
		}}
	},
	"tools-alone":           ignores("prompts/get"),
	"resources-as-they-are": ignores("resources/read"),
	"looks-for-input": onType(
		func(kind string, asks bool) string {
			if kind == "" && asks {
				return "input_required"
			}
			return kind
		}),
	"takes-any-type": onType(func(kind string, _ bool) string {
		if isUnknown(kind) {
			return "complete"
		}
		return kind
	}),
	"fulfils-any-type": onType(
		func(kind string, asks bool) string {
			if isUnknown(kind) && asks {
				return "input_required"
			}
			return kind
		}),
	"answers-direct-requests": responds(methodSample, object{"role": "assistant", "model": "none",
		"content": textBlock("yes")}),
	"answers-pings": responds("ping", object{}),
	"gives-roots-to-all": onInput(func(r object) {
		requests := member(r, "inputRequests")
		for key, item := range requests {
			if asked, _ := item.(object); asked["method"] != methodSample {
				requests[key] = object{"method": "roots/list"}
			}
		}
	}),
	"dies-of-null-input": func(w *Wire) Edit {
		return onInput(func(r object) {
			for _, asked := range member(r, "inputRequests") {
				if asked == nil {
					w.Panic("an input request is null")
				}
			}
		})(w)
	},
	"fractions-for-ids": func(w *Wire) Edit {
		return meta(func(m *Message) {
			if m.Params()["name"] == nil && m.Params()["uri"] == nil {
				w.Rename(m, json.Number("1.5"))
			}
		})(w)
	},
}

func retry(f func(c *Call, params object)) func(*Wire) Edit { return just(Edit{Retry: f}) }

func onResponses(f func(responses object)) func(*Wire) Edit {
	return retry(func(_ *Call, p object) { f(member(p, "inputResponses")) })
}

func onState(f func(string) string) func(*Wire) Edit {
	return retry(func(c *Call, p object) {
		if state, ok := p[c.stateMember()].(string); ok {
			p[c.stateMember()] = f(state)
		}
	})
}

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

func abandon(r object) { maps.Copy(r, impossible()) }

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
