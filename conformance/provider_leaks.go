package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var noSecret = Check{
	ID: "no-secret", Rule: "neither the provider's key, nor its cookies, nor the account's id appear on the MCP wire", Levels: everywhere(report.Must), Asked: 1,
	Requirements: []string{"2025-03-26/sampling/sensitive", "2025-06-18/sampling/sensitive", "2025-11-25/sampling/18", "2026-07-28/sampling/25"},
	Cause:        "an error's text is handed on as it is, in which the provider quotes the key, or names the account, or the HTTP library the address with the key in it; or what is set for the model, such as a header, is set for the server, too",
	Fix:          "write what the server is told yourself, keep the provider's words and headers in the log, and have an HTTP client for each of the two (what is shown was planted for the run, and is no secret)",
	Judge: func(e *Evidence) Verdict {
		if e.Session.Trace.Header.Key == "" {
			return Unsupported("the trace names no key that was planted")
		}
		finder := harness.Planted(e.Session.Trace.Header.Key)
		for _, said := range e.saidHere() {
			if hit, where, text := said.find(finder); text != "" {
				return Broken("%s is on the wire to the server%s", hit.Name, inForm(hit)).See(where, "%s", text)
			}
		}
		if missing := e.unasked(); missing != nil {
			return *missing
		}
		if unsaid := e.unsaid("that nothing secret follows"); unsaid != nil {
			return *unsaid
		}
		return Pass("nothing that the client sent holds the key, a cookie or the account")
	},
}

func inForm(h leak.Hit) string {
	if h.Form == "" {
		return ""
	}
	return ", " + h.Form
}

var noUpstreamBody = Check{
	ID: "no-upstream-body", Rule: "the provider's error body, its internals and its stack traces are not handed to the server", Levels: everywhere(report.Advice), Asked: 1,
	Cases: slices.DeleteFunc(idsOf(allFailures()), func(id string) bool { return slices.Contains(idsOf(unwillings), id) }),
	Cause: "the text of the SDK's error is the message of the client's, and holds all that the provider said",
	Fix:   "say what failed in words of your own, such as \"the model is not available\", and keep the rest in the log",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		finder := leak.New(leak.Secret{Name: "the name of a machine inside the provider", Value: internalHost},
			leak.Secret{Name: "a line of the provider's stack trace", Value: internalCode}, leak.Secret{Name: "the name of the machine before the provider", Value: frontMachine})
		bodies := errorBodies(r)
		for _, said := range e.said() {
			if hit, where, text := said.find(finder); text != "" {
				return Broken("%s is handed to the server%s", hit.Name, inForm(hit)).See(where, "%s", text)
			}
			for _, body := range bodies {
				if where, text := said.shows(body); text != "" {
					return Broken("the provider's error body is handed to the server").Saw("model said", body.at, "%s", compact(body.raw)).See(where, "%s", text)
				}
			}
		}
		if missing := e.unasked(); missing != nil {
			return *missing
		}
		if unsaid := e.unsaid("that nothing of it follows"); unsaid != nil {
			return *unsaid
		}
		return Pass("nothing that the client sent shows what the provider said of its failure, but in a sentence")
	},
}

// sending is something that the client sent: a frame, with the headers of it.
type sending struct {
	event *trace.Event
}

// said is what the client sent in the case.
func (ev *Evidence) said() []sending {
	return ev.Session.sends(func(caseID string) bool { return caseID == ev.Case.ID })
}

// saidHere is what the client sent in the case; in the first of the scenario's in a session, also what it sent outside of them all.
func (ev *Evidence) saidHere() []sending {
	cases := ev.Session.Trace.Header.Cases
	first := slices.IndexFunc(cases, func(c trace.Case) bool { return strings.HasPrefix(c.ID, providerPrefix) })
	return ev.Session.sends(func(caseID string) bool {
		return caseID == ev.Case.ID || cases[first].ID == ev.Case.ID && !strings.HasPrefix(caseID, providerPrefix)
	})
}

func (s *Session) sends(in func(caseID string) bool) []sending {
	var all []sending
	for e := range s.fromClient() {
		if !e.Frame.Lost && in(e.Case) {
			all = append(all, sending{e})
		}
	}
	return all
}

// find returns where in it a secret stands, and the text that holds it; "" where none does.
func (s sending) find(finder *leak.Finder) (hit leak.Hit, where Place, text string) {
	f := s.event.Frame
	where = Place{Ref: s.event.Ref(), Label: "the client sent"}
	if f.HTTP != nil {
		for _, name := range slices.Sorted(maps.Keys(f.HTTP.Header)) {
			if hit, found := finder.Find([]byte(f.HTTP.Header[name])); found {
				where.Label = "header " + name
				return hit, where, f.HTTP.Header[name]
			}
		}
		if hit, found := finder.Find([]byte(f.HTTP.Address)); found {
			where.Label = "address"
			return hit, where, f.HTTP.Address
		}
	}
	hit, found := finder.Find(f.Raw)
	if !found {
		eachList(decoded(f.Raw), "", func(path string, list []any) bool {
			joined := inOne(list)
			if h, found := finder.Find([]byte(joined)); found {
				h.Form = "in pieces"
				hit, where.Path, text = h, path, joined
			}
			return text == ""
		})
		return hit, where, text
	}
	text = compact(f.Raw)
	eachString(decoded(f.Raw), "", func(path, value string) bool {
		if h, found := finder.Find([]byte(value)); found {
			hit, where.Path, text = h, path, value
			return false
		}
		return true
	})
	return hit, where, text
}

// eachString calls f with each string of a document and its path, the keys of objects among them, in order, until f returns false.
func eachString(value any, path string, f func(path, value string) bool) bool {
	switch v := value.(type) {
	case string:
		return f(path, v)
	case []any:
		for i, item := range v {
			if !eachString(item, fmt.Sprintf("%s[%d]", path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at := (Place{Path: path}).At(name).Path; !f(at, name) || !eachString(v[name], at, f) {
				return false
			}
		}
	}
	return true
}

// eachList calls f with each list of a document and its path, in order, until f returns false.
func eachList(value any, path string, f func(path string, list []any) bool) bool {
	switch v := value.(type) {
	case []any:
		if !f(path, v) {
			return false
		}
		for i, item := range v {
			if !eachList(item, fmt.Sprintf("%s[%d]", path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !eachList(v[name], (Place{Path: path}).At(name).Path, f) {
				return false
			}
		}
	}
	return true
}

// inOne is what the items of a list say, one behind the other: texts, and the text of content.
func inOne(list []any) string {
	var all strings.Builder
	for _, item := range list {
		switch v := item.(type) {
		case string:
			all.WriteString(v)
		case map[string]any:
			text, _ := v["text"].(string)
			all.WriteString(text)
		}
	}
	return all.String()
}

// errorBody is what a provider said of a failure, and to which request: the document, the sentence in it that is for people, and the names of its
// members.
type errorBody struct {
	raw     json.RawMessage
	message string
	names   []string
	at      Place // the request that was answered with it
}

// errorBodies are those of a round.
func errorBodies(r *Round) []errorBody {
	var bodies []errorBody
	for _, x := range r.Model {
		for _, document := range documents(x.answer) {
			var o, details dialect.Object
			if json.Unmarshal(document, &o) != nil || !o.Has("error") {
				continue
			}
			body := errorBody{raw: document, message: o.Text("error"), at: x.Place} // Ollama's is the sentence itself
			if o.Read("error", &details) == nil && details != nil {
				body.message = details.Text("message")
			}
			names := map[string]bool{}
			namesIn(decoded(document), names)
			body.names = slices.Sorted(maps.Keys(names))
			if body.message != "" {
				bodies = append(bodies, body)
			}
		}
	}
	return bodies
}

func namesIn(value any, names map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			namesIn(item, names)
		}
	case map[string]any:
		for name, item := range v {
			names[name] = true
			namesIn(item, names)
		}
	}
}

// shows returns where the client shows the body as it is, as text or as JSON; "" where it does not. To quote the provider's sentence, or its
// status, is not to show the body.
func (s sending) shows(body errorBody) (where Place, text string) {
	where = Place{Ref: s.event.Ref(), Label: "the client sent"}
	message := decoded(s.event.Frame.Raw)
	eachString(message, "", func(path, value string) bool {
		if strings.Contains(value, body.message) && body.named(value) {
			where.Path, text = path, value
		}
		return text == ""
	})
	if text == "" && holdsDocument(message, body.raw) {
		text = compact(s.event.Frame.Raw)
	}
	return where, text
}

// named reports whether a text has the names of the body's members in quotes, as JSON and some languages write them: two of them, or all
// where there are fewer.
func (b *errorBody) named(text string) bool {
	found := 0
	for _, name := range b.names {
		for _, quote := range []string{`"`, `'`, `\"`} {
			if strings.Contains(text, quote+name+quote) {
				found++
				break
			}
		}
	}
	return found >= min(2, len(b.names))
}

// holdsDocument reports whether a document stands in another.
func holdsDocument(value any, document json.RawMessage) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holdsDocument(item, document) })
	case map[string]any:
		if sameJSON(dialect.Marshal(v), document) {
			return true
		}
		for _, item := range v {
			if holdsDocument(item, document) {
				return true
			}
		}
	}
	return false
}
