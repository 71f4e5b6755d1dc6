package always_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// without drops the client's first message that contains a text.
func without(text string) steps {
	return func(s *session) {
		i := slices.IndexFunc(s.Trace.Events, func(e trace.Event) bool {
			return e.Frame != nil && strings.Contains(string(e.Frame.Raw), text)
		})
		s.Trace.Events[i].Frame.Raw = trace.Bytes(`{"jsonrpc":"2.0","method":"notifications/other"}`)
	}
}

func TestTheClientInitializesItsSession(t *testing.T) {
	const notification = "notifications/initialized"
	then := func(all ...steps) steps {
		return func(s *session) {
			for _, do := range all {
				do(s)
			}
		}
	}
	message := func(caseID, raw string) steps {
		return func(s *session) { s.Frame(caseID, trace.FromClient, 0, raw) }
	}
	served := func(s *session) { s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{}}`) }
	initialized := message("", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	lists := message("", `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
	pings := message("", `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	judges(t, "initialized", "basic/question",
		legacy(passes("in order", tracetest.Right)),
		legacy(fails("no notification", then(without(notification), served, lists), "before tools/call, found none")),
		legacy(fails("no notification, and nothing more", then(without(notification), served), "found none")),
		legacy(fails("a late notification", then(without(notification), served, pings, initialized),
			"found it after tools/call")),
		legacy(passes("a request that overtakes it and is served", then(without(notification), served, initialized))),
		legacy(fails("the same over stdio", then(without(notification), served, initialized, overStdio),
			"found it after tools/call")),
		legacy(passes("a request that overtakes it", then(without(notification), initialized, served, lists))),
		legacy(warns("twice over stdio", then(tracetest.Right, initialized, overStdio), "found it twice")),
		legacy(warns("twice in a session", then(tracetest.Right, initialized), "found it twice")),
		legacy(passes("twice, without sessions that tell clients apart", then(tracetest.Right, initialized, nameless))),
		legacy(inapplicable("a session that is not used", without(notification))),
		legacy(inapplicable("a ping alone", then(without(notification), pings))),
		legacy(fails("no clientInfo", func(s *session) { s.Connects(); dropInfo(s, "") }, "found nothing")),
		legacy(fails("no revision", func(s *session) {
			s.Connects()
			replaces(s, `"protocolVersion":"2025-11-25"`, `"protocolVersion":"latest"`)
		}, `found "latest"`)),
		legacy(fails("no version", func(s *session) { s.Connects(); dropInfo(s, `"clientInfo":{"name":"told"},`) },
			`found {"name":"told"}`)),
	)
}

// overStdio makes the trace one of a client that launches its server.
func overStdio(s *session) {
	s.Trace.Header.Transport = trace.Stdio
	for _, e := range s.Trace.Events {
		if e.Frame != nil {
			e.Frame.HTTP = nil
		}
	}
}

// nameless takes the ids of the sessions away, as of a server that has none.
func nameless(s *session) {
	for _, e := range s.Trace.Events {
		if e.Frame != nil {
			e.Frame.Session = ""
		}
	}
}

// dropInfo replaces the clientInfo of the client's initialize.
func dropInfo(s *session, with string) {
	replaces(s, `"clientInfo":{"name":"told","version":"1"},`, with)
}

// replaces replaces a text in every message.
func replaces(s *session, text, with string) {
	for i := range s.Trace.Events {
		if f := s.Trace.Events[i].Frame; f != nil {
			f.Raw = trace.Bytes(strings.Replace(string(f.Raw), text, with, 1))
		}
	}
}

func TestAPostSaysThatItIsJSON(t *testing.T) {
	says := func(kind string, status int) steps {
		return func(s *session) {
			tracetest.Right(s)
			last := s.Trace.Events[len(s.Trace.Events)-1].Frame
			if last.HTTP.Header["Content-Type"] = kind; status != 0 {
				s.Frame("", trace.ToClient, status, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`)
			}
		}
	}
	judges(t, "content-type", "basic/question",
		passes("as it is", tracetest.Right),
		passes("in capitals, with a parameter", says("Application/JSON; charset=utf-8", 0)),
		fails("text", says("text/plain", 0), `found "text/plain"`),
		fails("text that the server refuses", says("text/plain;charset=UTF-8", 415), "refused it with HTTP 415"),
		fails("nothing", says("", 0), `found ""`),
		inapplicable("stdio", overStdio),
	)
}

func TestARetryDeclaresWhatItsCallDeclares(t *testing.T) {
	retries := func(declares string) steps {
		return func(s *session) {
			s.Asks(asked).Prompts(asked)
			s.Declares = declares
			s.Answers(answer)
		}
	}
	reconnects := func(declares string) steps {
		return func(s *session) {
			s.Declares = declares
			s.Connects()
			s.Calls()
		}
	}
	const missing = "declare sampling.tools"
	judges(t, "capabilities-constant", "basic/question",
		modern(passes("the same", tracetest.Right)),
		modern(fails("less in the retry", retries(tracetest.SamplingOnly), missing)),
		modern(passes("more in the retry", retries(`{"sampling":{"tools":{},"context":{}},"roots":{}}`))),
		modern(warns("less in another call", func(s *session) {
			tracetest.Right(s)
			s.Declares = tracetest.SamplingOnly
			s.Calls()
		}, missing)),
		modern(inapplicable("no retry", silent)),
		legacy(inapplicable("one session", tracetest.Right)),
		legacy(passes("the same in a later session", reconnects(tracetest.Everything))),
		legacy(fails("less in a later session", reconnects(tracetest.SamplingOnly), missing)),
	)
}

func TestACapabilityThatIsDeclaredElsewhereIsNotInapplicable(t *testing.T) {
	withheld := func(s *session) { s.Marks(trace.MarkWithheld, "sampling.tools") }
	judges(t, "has-model", "tool-use/one-tool",
		tracetest.Unobserved("declared by the call", withheld, "declares it elsewhere"),
		tracetest.Declaring(tracetest.SamplingOnly, inapplicable("declared nowhere", withheld, "does not declare")),
	)
}
