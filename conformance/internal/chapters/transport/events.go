package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server asks one question in each style of a list. The list is the expectation of the case.
var (
	events     = inStyles(harness.Case{ID: "transport/events"}, usualStyles)
	rareEvents = inStyles(harness.Case{ID: "transport/rare-events", Isolated: true}, rareStyles)
)

// style is a legal way to write an event stream, and its name.
type style struct {
	name string
	server.SSEStyle
}

type stylesOf func(server.Revision) []style

// plainStyle shows what a client changes in every style, for reasons of its own.
var plainStyle = style{"characters that end lines elsewhere, but not in an event stream", server.SSEStyle{}}

// usualStyles are common in servers, libraries and proxies. In 2026-07-28 each question is a round of the call, and a
// client may allow only a few.
func usualStyles(r server.Revision) []style {
	if r.Modern() {
		return []style{
			plainStyle,
			{"CRLF, comments, events without data, and no space after colons",
				server.SSEStyle{LineEnd: "\r\n", NoSpaceAfterColon: true,
					ExtraLines: []string{": keep-alive", "", "data:", "", ": the message"}}},
			{"a message on several data lines, an event type, an unknown field, and single bytes",
				server.SSEStyle{SplitData: true, ExtraLines: []string{"event: message", "unknown: field"}, BytesPerWrite: 1}},
		}
	}
	return []style{
		plainStyle,
		{"lines that end in CRLF", server.SSEStyle{LineEnd: "\r\n"}},
		{"comments between events, which keep connections alive, and in one", server.SSEStyle{ExtraLines: []string{
			": keep-alive", "", ":", "", ": the message"}}},
		{"no space after colons", server.SSEStyle{NoSpaceAfterColon: true}},
		{"a message on several data lines", server.SSEStyle{SplitData: true}},
		{"an event type and an unknown field", server.SSEStyle{ExtraLines: []string{"event: message", "unknown: field"}}},
		{"events without data before the message",
			server.SSEStyle{ExtraLines: []string{"data:", "", "event: message", "data:", ""}}},
		{"single bytes, which cut characters", server.SSEStyle{BytesPerWrite: 1}},
	}
}

// rareStyles are legal, but rare. A byte order mark must be the first on a stream: in 2026-07-28 each round has its own
// stream. CR alone is not asked for there: nothing follows the event, and a client may wait for the LF of a CRLF.
func rareStyles(r server.Revision) []style {
	mark := style{"a byte order mark before the first event", server.SSEStyle{BOM: true}}
	if r.Modern() {
		return []style{plainStyle, mark}
	}
	return []style{mark, plainStyle, {"lines that end in CR alone", server.SSEStyle{LineEnd: "\r"}}}
}

// Foreign is part of each question: characters of two to four bytes, and separators that end no line of a stream.
const Foreign = "Größe 東京 𝄞 a\u2028b\u0085c"

func inStyles(c harness.Case, styles stylesOf) harness.Case {
	c.ResponseMode, c.Revisions, c.Expect = server.SSE, check.WithTools, styles
	return story.Delivered(c, func(s *server.Session) (any, error) {
		for i, style := range styles(s.Revision()) {
			if err := s.Transport().SetSSEStyle(style.SSEStyle); err != nil {
				return nil, err
			}
			ask, err := json.Marshal(s.Ask(fmt.Sprintf("Is question %d whole: %s?", i+1, Foreign)))
			if err != nil {
				return nil, err
			}
			raw := bytes.ReplaceAll(ask, []byte(`\u2028`), []byte("\u2028")) // legal in JSON; encoding/json escapes it
			if err := askAndWait(s, json.RawMessage(raw)); err != nil {
				return nil, err
			}
		}
		return "done", s.Transport().SetSSEStyle(server.SSEStyle{})
	})
}

var sseDetails = check.Check{
	ID: "sse-details", Rule: "The client reads messages from event streams in every common style",
	Levels: check.SinceTools(report.Robust), Cases: []string{"events"}, Needs: []check.Need{overHTTP, asked},
	Cause: "the client's parser expects \"data: \", one line, and LF",
	Fix: "Read streams as HTML says (9.2.6, interpreting an event stream), or with a library that does. Split bytes " +
		"into lines first, then decode characters.",
	Judge: readsStyles,
}

var sseRare = check.Check{
	ID: "sse-rare", Rule: "The client reads messages after a byte order mark, and between lines that end in CR",
	Levels: check.SinceTools(report.Advice), Cases: []string{"rare-events"}, Needs: []check.Need{overHTTP, asked},
	Cause: "the client looks only for lines that end in LF, as in nearly all streams",
	Fix:   "Accept CR, LF and CRLF as line ends, and skip a byte order mark at the beginning of the stream.",
	Judge: readsStyles,
}

// late reports whether the client reacted to a question only after the next one, although it reacts in time to the
// plain style: then it read the first stream only where the second one ended its event.
func late(e *evidence.Case, styles []style, n int) bool {
	after := func(i int) bool {
		r := e.Rounds[i]
		if i+1 >= len(e.Rounds) || len(r.Answers) == 0 {
			return false
		}
		reacted := r.Answers[0].Place
		if len(r.Model) > 0 {
			reacted = r.Model[0].Place
		}
		return e.Session.Order[reacted.Ref] > e.Session.Order[e.Rounds[i+1].Asked.Ref]
	}
	plain := slices.IndexFunc(styles, func(s style) bool { return s.name == plainStyle.name })
	return after(n) && !after(plain)
}

// readsStyles judges that every question got a response in time, and reached the model unchanged.
func readsStyles(e *evidence.Case) check.Verdict {
	styles := check.Expected[stylesOf](e)(e.Revision)
	if !e.Session.AnswersAny() {
		return answersNothing(e)
	}
	rounds := e.Rounds[:min(len(e.Rounds), len(styles))]
	for i, r := range rounds {
		if r.CassetteMiss() != "" {
			return check.NoResult(e, r)
		}
		if len(r.Answers) == 0 {
			return check.Survived(e, r.Asked, "the client did not go on after a stream with "+styles[i].name).
				Or(check.Missing("expected a response to a sampling request on a stream with %s, found none", styles[i].name).
					At(r.Asked))
		}
	}
	if len(rounds) < len(styles) {
		return check.NotObserved("the server sent no stream with %s%s", styles[len(rounds)].name, e.WhySilent(e.FirstCall))
	}
	for i, r := range rounds {
		if late(e, styles, i) {
			return check.Fail("expected a response to a sampling request on a stream with %s, found it after the next event",
				styles[i].name).At(r.Asked).At(r.Answers[0].Place)
		}
	}
	unchanged := func(r *evidence.Round) bool { return len(r.Model) > 0 && garbled(r) == nil }
	keepsSome := slices.ContainsFunc(e.Rounds, unchanged)
	var names []string
	for i, r := range rounds {
		if x := garbled(r); x != nil && keepsSome {
			return check.Fail("expected the text unchanged in the model request, found another: stream with %s", styles[i].name).
				Show(r.Asked, "%s", Foreign).ShowJSON(x.Place, x.Request.Body)
		}
		names = append(names, styles[i].name)
	}
	return check.Pass("the client read: %s", strings.Join(names, "; "))
}

// garbled returns a request to the model without the text of the question; nil for none.
func garbled(r *evidence.Round) *evidence.Exchange {
	for _, x := range r.Model {
		if x.Request != nil && !x.Says(Foreign) {
			return x
		}
	}
	return nil
}
