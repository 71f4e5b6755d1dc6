package always_test

import (
	"bytes"
	"testing"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestTheClientCancelsRequestsOfItsOwn(t *testing.T) {
	cancels := func(ids ...string) steps {
		return func(s *session) {
			for _, id := range ids {
				s.GivesUp(id)
			}
		}
	}
	onPipe := func(do steps) steps {
		return func(s *session) {
			s.Trace.Header.Transport = trace.Stdio
			do(s)
		}
	}
	then := func(all ...steps) steps {
		return func(s *session) {
			for _, do := range all {
				do(s)
			}
		}
	}
	completes := func(s *session) { s.CallEnds(harness.Completed) }
	callsAgain := func(s *session) {
		s.Calls()
		f := s.Trace.Events[len(s.Trace.Events)-1].Frame
		f.Raw = bytes.Replace(f.Raw, []byte(`"id":7`), []byte(`"id":9`), 1)
	}
	ping := sends(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	inSession := func(id string, do steps) steps {
		return func(s *session) {
			do(s)
			s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = id
		}
	}
	judges(t, "own-cancels", "basic/question",
		inapplicable("no cancel", then(), "cancelled no request"),
		passes("the id of the call", cancels("7")),
		fails("the id as a string", cancels(`"7"`), `found "7"`),
		legacy(fails("a request of the server", func(s *session) { s.Asks(asked).GivesUp(s.ID()) }, "found 1001")),
		passes("HTTP, a request that the cancel overtakes", then(cancels("8"), ping)),
		fails("stdio, a request that comes later", onPipe(then(cancels("8"), ping)), "found 8"),
		legacy(fails("initialize", then(sends(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}`),
			cancels(`"init"`)), "no cancel of initialize")),
		warns("the same cancel twice", cancels("7", "7"), "found 2"),
		fails("the same cancel twice, and another request", cancels("7", "7", `"7"`), `found "7"`),
		fails("another request, and the same cancel twice", cancels(`"7"`, "7", "7"), `found "7"`),
		legacy(fails("a request of another session", then(inSession("other", ping), cancels("8")), "found 8")),
		legacy(passes("a request without a session", then(inSession("", ping), cancels("8")))),
		legacy(passes("a cancel without a session", then(ping, inSession("", cancels("8"))))),
		legacy(passes("the same id in two sessions", then(
			inSession("other", sends(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)),
			cancels("7"), inSession("other", cancels("7"))))),
		passes("the same id of two requests", onPipe(then(cancels("7"), sends(`{"jsonrpc":"2.0","id":7,"method":"ping"}`),
			cancels("7")))),
		warns("a call that has completed", then(completes, cancels("7")), "reports as completed"),
		warns("a call that completes all the same", then(cancels("7"), completes), "reports as completed"),
		passes("one of two calls of a tool has completed", then(completes, callsAgain, cancels("9"))),
		passes("a call that the client gives up", then(cancels("7"), func(s *session) { s.CallEnds(harness.Abandoned) })),
		fails("a request that cancels", sends(
			`{"jsonrpc":"2.0","id":8,"method":"notifications/cancelled","params":{"requestId":7}}`), "id 8"),
	)
}
