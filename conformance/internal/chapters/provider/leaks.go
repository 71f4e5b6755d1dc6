package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var noSecret = check.Check{
	ID: "no-secret", Rule: "neither the provider's key, nor its cookies, nor the account's id appear on the MCP wire", Levels: check.Everywhere(report.Must), Requests: 1,
	Statements: []string{"2025-03-26/sampling/sensitive", "2025-06-18/sampling/sensitive", "2025-11-25/sampling/18", "2026-07-28/sampling/25"},
	Cause:      "an error's text is handed on as it is, in which the provider quotes the key, or names the account, or the HTTP library the address with the key in it; or what is set for the model, such as a header, is set for the server, too",
	Fix:        "write what the server is told yourself, keep the provider's words and headers in the log, and have an HTTP client for each of the two (what is shown was planted for the run, and is no secret)",
	Judge: func(e *evidence.Case) check.Verdict {
		if e.Session.Trace.Header.Key == "" {
			return check.Unsupported("the trace names no key that was planted")
		}
		finder := harness.Planted(e.Session.Trace.Header.Key)
		for _, said := range saidHere(e) {
			if hit, where, text := said.Find(finder); text != "" {
				return check.Fail("%s is on the wire to the server%s", hit.Name, evidence.DescribeForm(hit)).Show(where, "%s", text)
			}
		}
		if missing := unasked(e); missing != nil {
			return *missing
		}
		if unsaid := unsaid(e, "that nothing secret follows"); unsaid != nil {
			return *unsaid
		}
		return check.Pass("nothing that the client sent holds the key, a cookie or the account")
	},
}

var noUpstreamBody = check.Check{
	ID: "no-upstream-body", Rule: "the provider's error body, its internals and its stack traces are not handed to the server", Levels: check.Everywhere(report.Advice), Requests: 1,
	Cases: slices.DeleteFunc(idsOf(allFailures()), func(id string) bool { return slices.Contains(idsOf(unwillings), id) }),
	Cause: "the text of the SDK's error is the message of the client's, and holds all that the provider said",
	Fix:   "say what failed in words of your own, such as \"the model is not available\", and keep the rest in the log",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		finder := leak.New(leak.Secret{Name: "the name of a machine inside the provider", Value: internalHost},
			leak.Secret{Name: "a line of the provider's stack trace", Value: internalCode}, leak.Secret{Name: "the name of the machine before the provider", Value: frontMachine})
		bodies := errorBodies(r)
		for _, said := range said(e) {
			if hit, where, text := said.Find(finder); text != "" {
				return check.Fail("%s is handed to the server%s", hit.Name, evidence.DescribeForm(hit)).Show(where, "%s", text)
			}
			for _, body := range bodies {
				if where, text := shows(said, body); text != "" {
					return check.Fail("the provider's error body is handed to the server").ShowAs("model said", body.at, "%s", evidence.Compact(body.raw)).Show(where, "%s", text)
				}
			}
		}
		if missing := unasked(e); missing != nil {
			return *missing
		}
		if unsaid := unsaid(e, "that nothing of it follows"); unsaid != nil {
			return *unsaid
		}
		return check.Pass("nothing that the client sent shows what the provider said of its failure, but in a sentence")
	},
}

// said is what the client sent in the case.
func said(ev *evidence.Case) []evidence.Sending {
	return ev.Session.Sendings(func(caseID string) bool { return caseID == ev.Case.ID })
}

// saidHere is what the client sent in the case; in the first of the scenario's in a session, also what it sent outside of them all.
func saidHere(ev *evidence.Case) []evidence.Sending {
	cases := ev.Session.Trace.Header.Cases
	first := slices.IndexFunc(cases, func(c trace.Case) bool { return strings.HasPrefix(c.ID, check.ProviderPrefix) })
	return ev.Session.Sendings(func(caseID string) bool {
		return caseID == ev.Case.ID || cases[first].ID == ev.Case.ID && !strings.HasPrefix(caseID, check.ProviderPrefix)
	})
}

// errorBody is what a provider said of a failure, and to which request: the document, the sentence in it that is for people, and the names of its
// members.
type errorBody struct {
	raw     json.RawMessage
	message string
	names   []string
	at      evidence.Place // the request that was answered with it
}

// errorBodies are those of a round.
func errorBodies(r *evidence.Round) []errorBody {
	var bodies []errorBody
	for _, x := range r.Model {
		for _, document := range evidence.Documents(x.Answer) {
			var o, details dialect.Object
			if json.Unmarshal(document, &o) != nil || !o.Has("error") {
				continue
			}
			body := errorBody{raw: document, message: o.Text("error"), at: x.Place} // Ollama's is the sentence itself
			if o.Read("error", &details) == nil && details != nil {
				body.message = details.Text("message")
			}
			names := map[string]bool{}
			namesIn(evidence.Decoded(document), names)
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
func shows(s evidence.Sending, body errorBody) (where evidence.Place, text string) {
	where = evidence.Place{Ref: s.Event.Ref(), Label: "the client sent"}
	message := evidence.Decoded(s.Event.Frame.Raw)
	evidence.EachString(message, "", func(path, value string) bool {
		if strings.Contains(value, body.message) && body.named(value) {
			where.Path, text = path, value
		}
		return text == ""
	})
	if text == "" && holdsDocument(message, body.raw) {
		text = evidence.Compact(s.Event.Frame.Raw)
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
		if evidence.SameJSON(dialect.Marshal(v), document) {
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
