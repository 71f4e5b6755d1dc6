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
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// styled is a way to write events, and what it is called.
type styled struct {
	name string
	server.Style
}

// plainStyle is what the others are held against: a client that changes what is asked there, too, does so for reasons of its own.
var plainStyle = styled{"characters that are line ends elsewhere, and not in an event stream", server.Style{}}

// usualStyles are those that servers have, or come to by the libraries that they are built on and the proxies between. In the second era each question
// is a round of the call, of which a client may not go through many.
func usualStyles(r server.Revision) []styled {
	if r.Modern() {
		return []styled{
			plainStyle,
			{"CRLF, comments, events without data, and no space behind the colons", server.Style{LineEnd: "\r\n", Tight: true, Extra: []string{": keep-alive", "", "data:", ""}}},
			{"a message over several data lines, an event type, an unknown field, and bytes one by one", server.Style{Folded: true, Extra: []string{"event: message", "unknown: field"}, Piece: 1}},
		}
	}
	return []styled{
		plainStyle,
		{"lines that end in CRLF", server.Style{LineEnd: "\r\n"}},
		{"comments between the events, as they keep connections alive", server.Style{Extra: []string{": keep-alive", "", ":", ""}}},
		{"no space behind the colons", server.Style{Tight: true}},
		{"a message over several data lines", server.Style{Folded: true}},
		{"an event type, and a field that nobody knows", server.Style{Extra: []string{"event: message", "unknown: field"}}},
		{"events without data before the message", server.Style{Extra: []string{"data:", "", "event: message", "data:", ""}}},
		{"bytes that come one by one, which cuts characters", server.Style{Piece: 1}},
	}
}

// rareStyles are just as legal, and hardly seen. A byte order mark has to be the first that is written on a stream, of which each round of the second
// era has its own. There nothing comes behind the event, so that one who waits for what may be the LF of a CR LF waits in vain: of that nothing is asked.
func rareStyles(r server.Revision) []styled {
	mark := styled{"a byte order mark before the first event", server.Style{BOM: true}}
	if r.Modern() {
		return []styled{plainStyle, mark}
	}
	return []styled{mark, plainStyle, {"lines that end in CR alone", server.Style{LineEnd: "\r"}}}
}

// foreign is in each question: characters of two, three and four bytes, and separators that are no line ends to an event stream.
const foreign = "Größe 東京 𝄞 a\u2028b\u0085c"

// playStyles asks a question in each style.
func playStyles(styles func(server.Revision) []styled) server.Handler {
	return func(s *server.Session) (any, error) {
		for i, style := range styles(s.Revision()) {
			if err := s.Style(style.Style); err != nil {
				return nil, err
			}
			ask, err := json.Marshal(s.Ask(fmt.Sprintf("Is question %d whole: %s?", i+1, foreign)))
			if err != nil {
				return nil, err
			}
			raw := bytes.ReplaceAll(ask, []byte(`\u2028`), []byte("\u2028")) // as JSON may have it, and encoding/json does not
			asked, err := s.Start(json.RawMessage(raw))
			if err != nil {
				return nil, err
			}
			story.Wait(s, asked)
		}
		return "done", s.Style(server.Style{})
	}
}

var sseDetails = check.Check{
	ID: "sse-details", Rule: "a message is read however the event stream that brings it is written", Levels: check.SinceTools(report.Robust), Cases: []string{"events"},
	Cause: "streams are read by a few lines of code that expect \"data: \", one line, and LF",
	Fix:   "read streams as HTML says (9.2.6, interpreting an event stream), or with a library that does: bytes until the end of a line, then characters",
	Judge: overHTTP(1, func(e *evidence.Case) check.Verdict { return readStyles(e, usualStyles) }),
}

var sseRare = check.Check{
	ID: "sse-rare", Rule: "a message is read also after a byte order mark, and between lines that end in CR", Levels: check.SinceTools(report.Advice), Cases: []string{"rare-events"},
	Cause: "lines are looked for that end in LF, as those of nearly all servers do",
	Fix:   "take CR, LF and CRLF for the end of a line, and leave out a byte order mark at the beginning of the stream",
	Judge: overHTTP(1, func(e *evidence.Case) check.Verdict { return readStyles(e, rareStyles) }),
}

// readStyles wants every question answered, and to have reached the model as it was asked.
func readStyles(ev *evidence.Case, of func(server.Revision) []styled) check.Verdict {
	styles := of(ev.Revision)
	if !ev.Session.AnswersAny() {
		return check.NotObserved("the client answered no sampling request at all (see basic/answered)%s", ev.Died())
	}
	for i, r := range ev.Rounds {
		if i == len(styles) {
			break
		}
		style := styles[i].name
		switch {
		case r.CassetteMiss() != "":
			return check.NotObserved("no result for sampling request %d%s", r.N, ev.WhyNoResult(r.N))
		case len(r.Answers) == 0:
			if v := check.Survived(ev, r.Asked, "the client did not go on after a stream with "+style); v != nil {
				return *v
			}
			return check.Fail("a sampling request was not read from a stream with %s", style).Show(r.Asked, "")
		}
	}
	if len(ev.Rounds) < len(styles) {
		return check.NotObserved("the play did not get as far as a stream with %s%s", styles[len(ev.Rounds)].name, ev.Died())
	}
	for i, r := range ev.Rounds[:len(styles)] {
		if x := garbled(r); x != nil && slices.ContainsFunc(ev.Rounds, func(other *evidence.Round) bool { return len(other.Model) > 0 && garbled(other) == nil }) {
			return check.Fail("the text of a sampling request was changed that came on a stream with %s", styles[i].name).Show(r.Asked, "%s", foreign).Show(x.Place, "%s", evidence.Compact(x.Request.Body))
		}
	}
	var read []string
	for _, s := range styles {
		read = append(read, s.name)
	}
	return check.Pass("read: %s", strings.Join(read, "; "))
}

// garbled returns the request of the model in which what was asked is not as it was; nil where it is.
func garbled(r *evidence.Round) *evidence.Exchange {
	for _, x := range r.Model {
		if x.Request != nil && !x.Says(foreign) {
			return x
		}
	}
	return nil
}
