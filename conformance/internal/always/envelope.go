package always

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Before 2025-11-25, one statement has all rules of responses.
var responsesRule = []string{"basic/05"}

var envelope = check.Check{
	ID: "envelope",
	Rule: `Every message MUST have "jsonrpc": "2.0"; a response MUST have the id of its request, and either a result or ` +
		"an error",
	Levels:     check.Must,
	Statements: append([]string{"basic/messages", "basic/01", "basic/13"}, responsesRule...),
	Cause: "messages are built by hand; ids are held in a variable of one type, so a number becomes a string, or a " +
		"float64 that rounds it; or an unset error is written as null",
	Fix: `Begin every message with "jsonrpc": "2.0". Keep the id as raw JSON, and send it back unchanged. Omit error ` +
		"beside a result.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		if wrong := s.Unversioned; len(wrong) > 0 {
			first := s.Trace.Find(wrong[0].Ref)
			return check.Fail(`expected "jsonrpc": "2.0" in every message, found %d without it`, len(wrong)).
				Show(wrong[0], "%s in %s", check.OrMissing(s.Message(first).Version), evidence.Compact(first.Frame.Raw))
		}
		for _, p := range sent(s) {
			if v := p.fault(); v != nil && !s.Revision.Modern() {
				return *v
			}
		}
		return check.Pass("every message is well-formed")
	},
}

var oneResponse = check.Check{
	ID:     "one-response",
	Rule:   "The client MUST NOT send more than one response to a request",
	Levels: check.InLegacy(report.Must), Statements: append(responsesRule, "basic/01"),
	Cause: "a retry posts a response that the server accepted; or the client resumes from an event that it had " +
		"received, and responds again",
	Fix: "Send one response for each request id. Do not send a response again that the server accepted. Keep the id of " +
		"the last event of each stream, and the ids of answered requests.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		responses := sent(s)
		if len(responses) == 0 {
			return check.NotApplicable("the client sent no response")
		}
		for i, p := range responses {
			if p.first == nil || p.wanted != nil || !p.known {
				continue
			}
			return check.Fail("expected 1 response to the request with id %s, found another one", responses[i].message.ID).
				Show(*p.first, "the first").Show(p.place, "another one")
		}
		return check.Pass("no request got more than one response")
	},
}

// response is a response of the client, and what it answers.
type response struct {
	place   evidence.Place
	message *evidence.Message
	raw     []byte
	known   bool            // A request has the id.
	wanted  json.RawMessage // The id of the open request that has it, or one of another type or notation; nil for none.
	first   *evidence.Place // An earlier response with the id; nil for none.
}

// fault returns the verdict for an invalid response; nil for a valid one.
func (p *response) fault() *check.Verdict {
	members := evidence.ObjectOf(p.raw)
	id := p.message.ID
	at := evidence.Place{Ref: p.place.Ref, Path: "id", Label: p.place.Label}
	switch {
	case members["result"] != nil && members["error"] != nil:
		return check.Instead(check.Fail("expected either a result or an error in a response, found both").
			ShowJSON(p.place, p.raw))
	case members["result"] == nil && !members.Has("error"):
		return check.Instead(check.Fail("expected a result or an error in a response, found neither").
			ShowJSON(p.place, p.raw))
	case p.wanted != nil && !evidence.SameID(p.wanted, id):
		return check.Instead(check.Fail("expected id %s in the response, found %s", p.wanted, id).Show(at, "%s", id))
	case !hasID(p.message) && members.Has("error"): // The id of the request could not be read.
	case !p.known:
		return check.Instead(check.Fail("expected the id of a request in the response, found %s", check.OrMissing(id)).
			ShowJSON(at, id))
	}
	return nil
}

// open counts the server's requests without a response, by session and id.
type open struct {
	count map[string]int
	sent  map[string]json.RawMessage
	first map[string]*evidence.Place
	ids   map[string]bool // of all sessions
}

// sent returns the client's responses of the first era, in order.
func sent(s *evidence.Session) []*response {
	o := open{map[string]int{}, map[string]json.RawMessage{}, map[string]*evidence.Place{}, map[string]bool{}}
	var all []*response
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame == nil || e.Frame.Raw.IsZero() || e.Frame.Lost || e.Frame.Resent {
			continue
		}
		m := s.Message(e)
		fromServer := e.Frame.Dir == trace.ToClient
		switch {
		case fromServer && hasID(m) && !m.IsResponse():
			key := e.Frame.Session + " " + evidence.CanonicalID(m.ID)
			o.count[key]++
			o.sent[key], o.ids[evidence.CanonicalID(m.ID)] = m.ID, true
		case !fromServer && m.Method == "" && isResponse(e.Frame.Raw, m):
			p := &response{place: evidence.Place{Ref: e.Ref(), Label: "a response"}, message: m, raw: e.Frame.Raw}
			o.match(p, e.Frame.Session)
			all = append(all, p)
		}
	}
	return all
}

func isResponse(raw []byte, m *evidence.Message) bool {
	if !json.Valid(raw) {
		return false
	}
	members := evidence.ObjectOf(raw)
	return m.ID != nil || members["result"] != nil || members["error"] != nil
}

// hasID reports whether a message has an id. Null stands for one that could not be read.
func hasID(m *evidence.Message) bool { return m.ID != nil && string(m.ID) != "null" }

// match finds the request of a response: one with its id, or else an open one whose id has another type.
func (o *open) match(p *response, session string) {
	if !hasID(p.message) {
		return
	}
	key := session + " " + evidence.CanonicalID(p.message.ID)
	p.known = o.ids[evidence.CanonicalID(p.message.ID)]
	p.first = o.first[key]
	if o.first[key] == nil {
		o.first[key] = &p.place
	}
	if o.count[key] == 0 {
		for _, other := range slices.Sorted(maps.Keys(o.sent)) {
			if o.count[other] > 0 && evidence.IDText(o.sent[other]) == evidence.IDText(p.message.ID) {
				key = other
				break
			}
		}
	}
	if o.count[key] > 0 {
		o.count[key]--
		p.wanted = o.sent[key]
	}
}

var errorShape = check.Check{
	ID:     "error-shape",
	Rule:   "An error MUST have an integer code and a message",
	Levels: check.InLegacy(report.Must), Statements: append([]string{"basic/14", "basic/15"}, responsesRule...),
	Cause: "the error of a library is passed on, with a string as code, or as a string in place of the error object",
	Fix:   `Return {"code": -32603, "message": "…"}, or a more specific code.`,
	JudgeSession: func(s *evidence.Session) check.Verdict {
		errors := 0
		var empty *check.Verdict
		for _, p := range sent(s) {
			if p.message.RawErr == nil {
				continue
			}
			errors++
			at := evidence.Place{Ref: p.place.Ref, Path: "error", Label: p.place.Label}
			o, raw := evidence.ObjectOf(p.message.RawErr), evidence.Compact(p.message.RawErr)
			code, isNumber := jsonvalue.Decode(o["code"]).(json.Number)
			text, isText := jsonvalue.Decode(o["message"]).(string)
			switch {
			case !isNumber || !isInteger(code):
				return check.Fail("expected an integer code, found %s", check.OrMissing(o["code"])).Show(at.At("code"), "%s", raw)
			case !isText:
				return check.Fail("expected a string message, found %s", check.OrMissing(o["message"])).
					Show(at.At("message"), "%s", raw)
			case text == "" && empty == nil:
				empty = check.Instead(check.Warn("expected a message that describes the error, found an empty one").
					Show(at.At("message"), "%s", raw))
			}
		}
		if errors == 0 {
			return check.NotApplicable("the client returned no error")
		}
		if empty != nil {
			return *empty
		}
		return check.Pass("every error has a code and a message")
	},
}

// isInteger reports whether a number is an integer by its value, such as 1.0 or 1e3.
func isInteger(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}
