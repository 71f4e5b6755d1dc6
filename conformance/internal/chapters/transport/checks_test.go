package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// request is an HTTP request of the client without a message, which is of the case or, where that is "", of the session.
func request(s *tracetest.Story, caseID, method string, header map[string]string) *tracetest.Story {
	s.Add(caseID, trace.Event{Call: min(s.Call, len(caseID)), Frame: &trace.Frame{Dir: trace.FromClient, Session: tracetest.SessionID, HTTP: &trace.HTTP{Method: method, Header: header}}})
	return s
}

// sends sets a header of what the client sent last; "" leaves it out.
func sends(s *tracetest.Story, name, value string) *tracetest.Story {
	header := s.Trace.Events[len(s.Trace.Events)-1].Frame.HTTP.Header
	if delete(header, name); value != "" {
		header[name] = value
	}
	return s
}

// disconnects is the end of the connection of the call, behind the third event of its stream.
func disconnects(s *tracetest.Story, retry time.Duration) *tracetest.Story {
	s.Add(s.CaseID, trace.Event{Call: s.Call, Frame: &trace.Frame{Dir: trace.ToClient, Session: tracetest.SessionID, Stream: "post-1", Event: "post-1/3", Retry: retry, Closed: true}})
	return s
}

// comesBack is the client's return, so long after what was last.
func comesBack(s *tracetest.Story, after time.Duration, event string) *tracetest.Story {
	s.Passed += after
	return request(s, s.CaseID, "GET", map[string]string{"Last-Event-Id": event})
}

// numbered gives what the server sent last the id of the second event.
func numbered(s *tracetest.Story) *tracetest.Story {
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Event = "post-1/2"
	return s
}

// onceMore makes what the server sent last something that it had sent before.
func onceMore(s *tracetest.Story) *tracetest.Story {
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Resent = true
	return numbered(s)
}

// isLost is the end of the session, and what the client is told of it.
func isLost(s *tracetest.Story) *tracetest.Story {
	s.Marks(trace.MarkSessionEnded, "")
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"barrier"}}`)
	s.Frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"gone"}}`)
	return s
}

// listensInVain is a stream that the client opens, of which it is told that there is no session.
func listensInVain(s *tracetest.Story) *tracetest.Story {
	request(s, "", "GET", nil).Frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}`)
	return s
}

// initializes is another session, under the headers that are given, of a client that declares.
func initializesSession(s *tracetest.Story, capabilities string, header map[string]string) *tracetest.Story {
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":"`+string(s.Revision)+`","capabilities":`+capabilities+`}}`)
	f := s.Trace.Events[len(s.Trace.Events)-1].Frame
	f.Session, f.HTTP.Header = "", header
	s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":"`+string(s.Revision)+`"}}`)
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = "session-2"
	return s
}

func TestStreamsThatAreComeBackFor(t *testing.T) {
	const back, retry, once = "transport/reconnects", "transport/retry-honoured", "transport/answers-once"
	const told = 1200 * time.Millisecond
	open := func(s *tracetest.Story) *tracetest.Story {
		return disconnects(numbered(s.Asks(tracetest.Pondering)).Thinks(tracetest.Pondering), told)
	}
	tell := func(check, name string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: check, CaseID: "disconnect", In: tracetest.InA, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	whole := func(s *tracetest.Story) { // the second sample is asked, and answered, on the stream that is new
		comesBack(open(s), told, "post-1/3").Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).Responds("1001", `"result":`+tracetest.Saying(story.WellConsidered)).PassesBarrier()
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell(back, "it goes on", report.Pass, "the client came back, and went on", whole),
		tell(retry, "it goes on", report.Pass, "the client came back no sooner than it was told", whole),
		tell(once, "it goes on", report.Pass, "one response came for each request", whole),
		tell(back, "nobody comes", report.Warn, "the connection of a call was closed before its response, behind an event with an id, and the client did not come back",
			func(s *tracetest.Story) { open(s).PassesBarrier() }),
		tell(back, "it dies of it", report.Warn, "the connection of a call was closed before its response, behind an event with an id, and the client did not come back; it exited with status 1",
			func(s *tracetest.Story) { open(s).Ends(tracetest.Died) }),
		tell(retry, "nobody comes", report.NotApplicable, "the client did not come back for the stream of its call (see transport/reconnects)",
			func(s *tracetest.Story) { open(s).PassesBarrier() }),
		tell(once, "nobody comes", report.NotApplicable, "the client did not come back for the stream of its call (see transport/reconnects)",
			func(s *tracetest.Story) { open(s).PassesBarrier() }),
		tell(back, "it opens another stream", report.Warn, "the connection of a call was closed, and the client opened a stream that names no event, so that the call's does not go on",
			func(s *tracetest.Story) { request(open(s), "", "GET", nil).PassesBarrier() }),
		tell(back, "it names an event before the last message", report.Warn, "the client came back, and not for what it had not seen: a message had to be sent again",
			func(s *tracetest.Story) {
				onceMore(comesBack(open(s), told, "post-1/1").Asks(tracetest.Pondering)).PassesBarrier()
			}),
		tell(back, "it names an event before the last, and misses nothing", report.Pass, "the client came back, and went on",
			func(s *tracetest.Story) {
				comesBack(open(s), told, "post-1/2").Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}),
		tell(back, "a network that breaks later", report.Pass, "the client came back, and went on",
			func(s *tracetest.Story) {
				comesBack(open(s), told, "post-1/3").Asks(tracetest.Fish)
				s.Trace.Events[len(s.Trace.Events)-1].Frame.Event = "post-1/4"
				comesBack(s, told, "post-1/3").Asks(tracetest.Fish)
				f := s.Trace.Events[len(s.Trace.Events)-1].Frame
				f.Resent, f.Event = true, "post-1/4"
				s.Responds("1002", `"result":`+tracetest.Saying("A herring.")).PassesBarrier()
			}),
		tell(back, "it hears nothing", report.Warn, "a sampling request was not answered that came on the stream that the client had come back for",
			func(s *tracetest.Story) { comesBack(open(s), told, "post-1/3").Asks(tracetest.Fish).PassesBarrier() }),
		tell(back, "it had no stream", report.NotObserved, "no connection was closed: the client had no stream for its call", func(s *tracetest.Story) { s.PassesBarrier() }),
		tell(retry, "a timer that is early", report.Pass, "the client came back no sooner than it was told",
			func(s *tracetest.Story) { comesBack(open(s), told-40*time.Millisecond, "post-1/3").PassesBarrier() }),
		tell(retry, "at once", report.Fail, "the client was told to wait 1.2s before it comes back, and was back sooner",
			func(s *tracetest.Story) { comesBack(open(s), 0, "post-1/3").PassesBarrier() }),
		tell(retry, "after a second of its own", report.Fail, "the client was told to wait 1.2s before it comes back, and was back sooner",
			func(s *tracetest.Story) { comesBack(open(s), time.Second, "post-1/3").PassesBarrier() }),
		tell(once, "twice", report.Fail, "2 responses came for one request, after the client had come back for its stream",
			func(s *tracetest.Story) {
				onceMore(comesBack(open(s), told, "post-1/1").Asks(tracetest.Pondering)).Responds("1001", `"result":`+tracetest.Saying("So.")).Responds("1001", `"result":`+tracetest.Saying("So.")).PassesBarrier()
			}),
		tell(once, "not at all", report.NotObserved, "the request that was open when the connection was closed was not answered: no response to request 1",
			func(s *tracetest.Story) { comesBack(open(s), told, "post-1/3").PassesBarrier() }),
	})
}

func TestSessionsThatAreLost(t *testing.T) {
	const lost, handlers = "transport/session-lost", "transport/handlers-survive"
	sampled := func(s *tracetest.Story) *tracetest.Story {
		return s.Asks(tracetest.Fish).Answers(tracetest.Saying("A herring."))
	}
	tell := func(check, name string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: check, CaseID: "lost-session", In: tracetest.InA, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell(lost, "it makes another", report.Pass, "the client initialized a new session",
			func(s *tracetest.Story) {
				initializesSession(isLost(sampled(s)), tracetest.Everything, nil).PassesBarrier()
			}),
		tell(handlers, "it makes another", report.Pass, "in its new session the client samples",
			func(s *tracetest.Story) {
				initializesSession(isLost(sampled(s)), tracetest.Everything, nil).PassesBarrier()
			}),
		tell(lost, "it makes none", report.Fail, "the server had ended the session and said so, and the client did not start a new one", func(s *tracetest.Story) { isLost(sampled(s)) }),
		tell(handlers, "it makes none", report.NotApplicable, "there was no new session (see transport/session-lost)", func(s *tracetest.Story) { isLost(sampled(s)) }),
		tell(lost, "it keeps the id", report.Fail, "the client initialized a new session under the id of the old one",
			func(s *tracetest.Story) {
				initializesSession(isLost(sampled(s)), tracetest.Everything, map[string]string{"Mcp-Session-Id": tracetest.SessionID}).PassesBarrier()
			}),
		tell(lost, "it only says goodbye", report.Unsupported, "the client asked for nothing more once its session was over: it takes one that calls every tool that is listed, one after the other",
			func(s *tracetest.Story) {
				request(sampled(s).Marks(trace.MarkSessionEnded, ""), "", "DELETE", nil).Frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}`)
			}),
		tell(lost, "it listens until the end, having called all before", report.Unsupported, "the client asked for nothing more once its session was over: it takes one that calls every tool that is listed, one after the other",
			func(s *tracetest.Story) { listensInVain(sampled(s.PassesBarrier()).Marks(trace.MarkSessionEnded, "")) }),
		tell(lost, "it is told where it listens, and calls nothing more", report.Fail, "the server had ended the session and said so, and the client did not start a new one",
			func(s *tracetest.Story) {
				s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				listensInVain(sampled(s).Marks(trace.MarkSessionEnded, ""))
			}),
		tell(lost, "it is told once more, where it calls", report.Fail, "the server had ended the session and said so, and the client did not start a new one",
			func(s *tracetest.Story) {
				listensInVain(sampled(s.PassesBarrier()).Marks(trace.MarkSessionEnded, ""))
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
				s.Frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"gone"}}`)
			}),
		tell(lost, "it does not come so far", report.NotObserved, "the play did not get as far as the end of the session", func(s *tracetest.Story) { s.Asks(tracetest.Fish) }),
		tell(handlers, "it declares nothing in it", report.Fail, "in its new session the client declares no sampling any more",
			func(s *tracetest.Story) { initializesSession(isLost(sampled(s)), `{}`, nil).PassesBarrier() }),
		tell(handlers, "nobody is there", report.Fail, `in its new session the client did not answer a sampling request with a result: error response to request 2: "nobody" (code -32601)`,
			func(s *tracetest.Story) {
				initializesSession(isLost(sampled(s)), tracetest.Everything, nil).Asks(tracetest.Fish).Refuses(-32601, "nobody")
			}),
		tell(handlers, "nobody was there before", report.NotObserved, `in its first session the client did not sample either: error response to request 1: "nobody" (code -32601)`,
			func(s *tracetest.Story) {
				initializesSession(isLost(s.Asks(tracetest.Fish).Refuses(-32601, "nobody")), tracetest.Everything, nil).Asks(tracetest.Fish).Refuses(-32601, "nobody")
			}),
		tell(handlers, "it calls nothing in it", report.Unsupported, "the client called no tool in its new session: it takes one that makes a call again that found the old session gone, and then the calls that are left",
			func(s *tracetest.Story) { initializesSession(isLost(sampled(s)), tracetest.Everything, nil) }),
	})
}

func TestRequestsOfTheServerAndWhereTheyCome(t *testing.T) {
	const post, get, same, twice = "transport/on-post-stream", "transport/on-get-stream", "transport/id-collision", "transport/duplicate-request"
	cases := map[string]string{post: "post-stream", get: "get-stream", same: "same-id", twice: "repeated"}
	tell := func(check, name string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: check, CaseID: cases[check], In: tracetest.InA, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	wren := tracetest.Asking("And this?")
	repeated := func(s *tracetest.Story) *tracetest.Story { // the same request again, on purpose
		s.Asks(tracetest.Fish)
		raw := s.Trace.Events[len(s.Trace.Events)-1].Frame.Raw
		s.Frame(s.CaseID, trace.ToClient, 0, string(raw))
		return s.OnPurpose()
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell(post, "it answers", report.Pass, "a sampling request was answered that came on the stream of the call", func(s *tracetest.Story) { s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier() }),
		tell(post, "it refuses", report.Pass, "a sampling request was answered that came on the stream of the call", func(s *tracetest.Story) { s.Asks(tracetest.Fish).Refuses(-32603, "no").PassesBarrier() }),
		tell(post, "nobody is there", report.Fail, "a sampling request that came on the stream of the call met nobody: the answer is error -32601",
			func(s *tracetest.Story) { s.Asks(tracetest.Fish).Refuses(-32601, "no such method").PassesBarrier() }),
		tell(post, "it does not answer", report.Fail, "a sampling request was not answered that came on the stream of the call", func(s *tracetest.Story) { s.Asks(tracetest.Fish).PassesBarrier() }),
		tell(post, "it answers nothing at all", report.NotObserved, "the client answered no sampling request at all (see basic/answered)", func(s *tracetest.Story) { s.Asks(tracetest.Fish) }),
		tell(post, "it dies", report.NotObserved, "the client answered no sampling request at all (see basic/answered); it exited with status 1", func(s *tracetest.Story) { s.Asks(tracetest.Fish).Ends(tracetest.Died) }),
		tell(get, "it has none", report.NotApplicable, "the client had no stream open that it had asked for with GET, and need not have one", func(s *tracetest.Story) { s.PassesBarrier() }),
		tell(get, "it is deaf", report.Fail, "a sampling request was not answered that came on the stream that it had opened with GET", func(s *tracetest.Story) { s.Asks(tracetest.Fish).PassesBarrier() }),
		tell(get, "it answers", report.Pass, "a sampling request was answered that came on the stream that it had opened with GET", func(s *tracetest.Story) { s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier() }),
		tell(same, "it answers", report.Pass, "the request was answered, and so was the call", func(s *tracetest.Story) {
			s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).CallEnds("completed").PassesBarrier()
		}),
		tell(same, "it takes it for its response", report.Fail, "a sampling request was not answered that came under the id of the client's own pending call", func(s *tracetest.Story) { s.Asks(tracetest.Fish).CallEnds("failed").PassesBarrier() }),
		tell(same, "its call fails of it", report.Fail, "a request of the server had the id of the client's own call, and the client says that the call failed",
			func(s *tracetest.Story) {
				s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).CallEnds("failed").PassesBarrier()
			}),
		tell(twice, "one result", report.Pass, "no second result came",
			func(s *tracetest.Story) {
				repeated(s).Responds("1001", `"result":`+tracetest.Saying("So.")).Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier()
			}),
		tell(twice, "one result and an error", report.Pass, "no second result came", func(s *tracetest.Story) {
			repeated(s).Responds("1001", `"result":`+tracetest.Saying("So.")).Responds("1001", `"error":{"code":-32600,"message":"twice"}`).Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier()
		}),
		tell(twice, "two results", report.Warn, "one id was answered with 2 results", func(s *tracetest.Story) {
			repeated(s).Responds("1001", `"result":`+tracetest.Saying("So.")).Responds("1001", `"result":`+tracetest.Saying("So.")).Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier()
		}),
		tell(twice, "two prompts, and an end that cut the second result off", report.Warn, "the model was asked 2 times for one id", func(s *tracetest.Story) {
			repeated(s).Prompts(tracetest.Fish).Prompts(tracetest.Fish).Responds("1001", `"result":`+tracetest.Saying("So.")).Asks(wren).Prompts(wren).Answers(tracetest.Saying("So.")).PassesBarrier()
		}),
		tell(twice, "two prompts for every request", report.Pass, "no second result came", func(s *tracetest.Story) {
			repeated(s).Prompts(tracetest.Fish).Prompts(tracetest.Fish).Responds("1001", `"result":`+tracetest.Saying("So.")).Asks(wren).Prompts(wren).Prompts(wren).Answers(tracetest.Saying("So.")).PassesBarrier()
		}),
		tell(twice, "none", report.Fail, "a request that came twice was not answered at all", func(s *tracetest.Story) { repeated(s).PassesBarrier() }),
		tell(twice, "deaf after it", report.Fail, "after a request that came twice the next one was not answered",
			func(s *tracetest.Story) {
				repeated(s).Responds("1001", `"result":`+tracetest.Saying("So.")).Asks(tracetest.Fish).PassesBarrier()
			}),
	})
}

func TestWhatHTTPRequestsHave(t *testing.T) {
	const both, stream = "application/json, text/event-stream", "text/event-stream"
	accepts := func(post, get string) func(*tracetest.Story) { // of all requests
		return func(s *tracetest.Story) {
			if get != "" {
				request(s, "", "GET", map[string]string{"Accept": get})
			}
			s.PassesBarrier()
			for _, e := range s.Trace.Events {
				if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method == "POST" {
					f.HTTP.Header["Accept"] = post
				}
			}
		}
	}
	inSession := func(s *tracetest.Story) *tracetest.Story { // with the headers of a right client
		for _, e := range s.Trace.Events {
			if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method != "" && f.Session != "" {
				f.HTTP.Header["Mcp-Session-Id"] = tracetest.SessionID
			}
		}
		return s
	}
	plain := func(check, name string, in []server.Revision, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "transport/" + check, CaseID: "plain", In: in, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	const listed = "every request lists what it has to accept"
	tracetest.Run(t, catalogue, []tracetest.Test{
		plain("accept-header", "both", nil, report.Pass, listed, accepts(both, "")),
		plain("accept-header", "both, with weights and in capitals", nil, report.Pass, listed, accepts("Text/Event-Stream;q=0.9, application/JSON; charset=utf-8, */*", "")),
		plain("accept-header", "JSON alone", nil, report.Fail, "a POST of the client does not list text/event-stream among what it accepts", accepts("application/json", "")),
		plain("accept-header", "a wildcard", nil, report.Fail, "a POST of the client does not list application/json among what it accepts", accepts("*/*", "")),
		plain("accept-header", "nothing", nil, report.Fail, "a POST of the client does not list application/json among what it accepts", accepts("", "")),
		plain("accept-header", "a GET that accepts streams", tracetest.InA, report.Pass, listed, accepts(both, stream)),
		plain("accept-header", "a GET that does not", tracetest.InA, report.Fail, "a GET of the client does not list text/event-stream among what it accepts", accepts(both, "*/*")),
		plain("one-message", "one by one", nil, report.Pass, "every POST was one message", func(s *tracetest.Story) { s.PassesBarrier() }),
		plain("one-message", "two at once", nil, report.Fail, "the client posted an array, and no single message", func(s *tracetest.Story) { s.Frame("", trace.FromClient, 0, ` [{"jsonrpc":"2.0"}]`) }),
		plain("response-post", "all of them", tracetest.InA, report.Pass, "every request had both headers", func(s *tracetest.Story) { inSession(s.PassesBarrier()) }),
		plain("response-post", "an answer without the version", tracetest.InA, report.Fail, "a request of the client has no MCP-Protocol-Version",
			func(s *tracetest.Story) { sends(inSession(s.PassesBarrier()), "Mcp-Protocol-Version", "") }),
		plain("response-post", "an answer without the session", tracetest.InA, report.Fail, "a request of the client has no Mcp-Session-Id", func(s *tracetest.Story) { sends(inSession(s.PassesBarrier()), "Mcp-Session-Id", "") }),
		plain("response-post", "another version", tracetest.InA, report.Warn, "a request of the client has the version 2025-06-18, and 2025-11-25 was agreed on",
			func(s *tracetest.Story) { sends(inSession(s.PassesBarrier()), "Mcp-Protocol-Version", "2025-06-18") }),
		plain("response-post", "nothing answered", tracetest.InA, report.NotObserved, "the client has answered nothing in this session", func(s *tracetest.Story) { inSession(s) }),
		plain("own-ids", "none twice", tracetest.InA, report.Pass, "no id came twice", func(s *tracetest.Story) {}),
		plain("own-ids", "one twice", tracetest.InA, report.Fail, "two requests of a session have one id", func(s *tracetest.Story) { s.Calls() }),
		plain("own-ids", "one twice, written otherwise", tracetest.InA, report.Fail, "two requests of a session have one id",
			func(s *tracetest.Story) {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7.0,"method":"ping"}`)
			}),
		plain("own-ids", "one in each of two sessions, and before them", tracetest.InA, report.Pass, "no id came twice", func(s *tracetest.Story) {
			for range 2 {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":0,"method":"server/discover"}`)
				s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = ""
				initializesSession(s, tracetest.Everything, nil)
				s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = fmt.Sprint("session-", len(s.Trace.Events))
			}
		}),
		plain("own-ids", "a text like a number", tracetest.InA, report.Pass, "no id came twice", func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"7","method":"ping"}`)
		}),
		plain("own-ids", "a fraction", tracetest.InA, report.Fail, "the id of a request is no integer", func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7.5,"method":"ping"}`)
		}),
		plain("own-ids", "null", tracetest.InA, report.Fail, "the id of a request is no string and no integer", func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"method":"ping"}`)
		}),
		plain("own-ids", "an object", tracetest.InA, report.Fail, "the id of a request is no string and no integer", func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":{},"method":"ping"}`)
		}),
		plain("ends-session", "a DELETE", tracetest.InA, report.Pass, "the client ended its session", func(s *tracetest.Story) { request(s, "", "DELETE", nil) }),
		plain("ends-session", "one of two, twice", tracetest.InA, report.Warn, "the client came to its end, and its session is still open: no DELETE came",
			func(s *tracetest.Story) {
				request(request(initializesSession(s, tracetest.Everything, nil), "", "DELETE", nil), "", "DELETE", nil)
			}),
		plain("ends-session", "none", tracetest.InA, report.Warn, "the client came to its end, and its session is still open: no DELETE came", func(s *tracetest.Story) {}),
		plain("ends-session", "a client that died", tracetest.InA, report.NotObserved, "the session did not come to an end in order: it exited with status 1", func(s *tracetest.Story) { s.Ends(tracetest.Died) }),
		plain("accepts-json", "it goes on", tracetest.InA, report.Pass, "a plain response was understood",
			func(s *tracetest.Story) {
				s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.PassesBarrier()
			}),
		plain("accepts-json", "it says that its call failed", tracetest.InA, report.Fail, "the response was plain JSON, and the client says that its call failed",
			func(s *tracetest.Story) {
				s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.CallEnds("failed").PassesBarrier()
			}),
		plain("accepts-json", "it dies of it", tracetest.InA, report.Fail, "the client did not go on after a response that was plain JSON: it exited with status 1",
			func(s *tracetest.Story) {
				s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.Ends(tracetest.Died)
			}),
		plain("accepts-json", "it brings the input", tracetest.InB, report.Pass, "a plain response was understood", func(s *tracetest.Story) { s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).PassesBarrier() }),
		plain("accepts-json", "it brings none", tracetest.InB, report.Fail, "the response was plain JSON that asks for input, and the client did not come back with any", func(s *tracetest.Story) { s.Asks(tracetest.Fish).PassesBarrier() }),
		plain("accepts-json", "its input is turned down", tracetest.InB, report.NotObserved, "the server turned a request of the client down with HTTP 400", func(s *tracetest.Story) {
			s.Asks(tracetest.Fish).Answers(tracetest.Saying("So.")).Frame(s.CaseID, trace.ToClient, 400, `{"jsonrpc":"2.0","id":8,"error":{"code":-32020,"message":"no"}}`)
		}),
	})
}

func TestBatches(t *testing.T) {
	tell := func(name string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "transport/batch", CaseID: "together", In: []server.Revision{server.V20250326}, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	asked := func(s *tracetest.Story) *tracetest.Story {
		return s.Marks(trace.MarkBatch, "3 messages in one event").AsksAll(tracetest.Fish, tracetest.Fish, tracetest.Fish)
	}
	hung := trace.Process{Deadline: true}
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell("each is answered", report.Pass, "the client answered each request of the batch", func(s *tracetest.Story) {
			asked(s).Responds("1003", `"result":`+tracetest.Saying("Three.")).Responds("1001", `"result":`+tracetest.Saying("One.")).Responds("1002", `"error":{"code":-1,"message":"no"}`).PassesBarrier()
		}),
		tell("it goes on without an answer", report.Fail, "request 1 of a batch was not answered", func(s *tracetest.Story) { asked(s).PassesBarrier() }),
		tell("it answers the first", report.Fail, "request 2 of a batch was not answered",
			func(s *tracetest.Story) {
				asked(s).Responds("1001", `"result":`+tracetest.Saying("One.")).PassesBarrier()
			}),
		tell("it dies", report.Fail, "the client did not go on after a batch: it exited with status 1", func(s *tracetest.Story) { asked(s).Ends(tracetest.Died) }),
		tell("it hangs", report.Fail, "the client did not go on after a batch: it was still running after 1m0s and was ended", func(s *tracetest.Story) { asked(s).Ends(hung) }),
		tell("it hangs over something else", report.NotObserved,
			"no response came, but one could still have come: the session did not end cleanly: it was still running after 1m0s and was ended", func(s *tracetest.Story) {
				asked(s)
				s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				s.CaseID = harness.BarrierID
				s.Calls().Ends(hung)
			}),
		tell("nothing came", report.NotObserved, "the server did not get as far as the batch", func(s *tracetest.Story) { s.Asks(tracetest.Fish).PassesBarrier() }),
	})
}
