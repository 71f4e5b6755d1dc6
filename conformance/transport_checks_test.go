package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// request is an HTTP request of the client without a message, which is of the case or, where that is "", of the session.
func (s *story) request(caseID, method string, header map[string]string) *story {
	s.add(caseID, trace.Event{Call: min(s.call, len(caseID)), Frame: &trace.Frame{Dir: trace.FromClient, Session: sessionID, HTTP: &trace.HTTP{Method: method, Header: header}}})
	return s
}

// sends sets a header of what the client sent last; "" leaves it out.
func (s *story) sends(name, value string) *story {
	header := s.trace.Events[len(s.trace.Events)-1].Frame.HTTP.Header
	if delete(header, name); value != "" {
		header[name] = value
	}
	return s
}

// disconnects is the end of the connection of the call, behind the third event of its stream.
func (s *story) disconnects(retry time.Duration) *story {
	s.add(s.caseID, trace.Event{Call: s.call, Frame: &trace.Frame{Dir: trace.ToClient, Session: sessionID, Stream: "post-1", Event: "post-1/3", Retry: retry, Closed: true}})
	return s
}

// comesBack is the client's return, so long after what was last.
func (s *story) comesBack(after time.Duration, event string) *story {
	s.passed += after
	return s.request(s.caseID, "GET", map[string]string{"Last-Event-Id": event})
}

// numbered gives what the server sent last the id of the second event.
func (s *story) numbered() *story {
	s.trace.Events[len(s.trace.Events)-1].Frame.Event = "post-1/2"
	return s
}

// onceMore makes what the server sent last something that it had sent before.
func (s *story) onceMore() *story {
	s.trace.Events[len(s.trace.Events)-1].Frame.Resent = true
	return s.numbered()
}

// isLost is the end of the session, and what the client is told of it.
func (s *story) isLost() *story {
	s.marks(trace.MarkSessionEnded, "")
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"barrier"}}`)
	s.frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"gone"}}`)
	return s
}

// listensInVain is a stream that the client opens, of which it is told that there is no session.
func (s *story) listensInVain() *story {
	s.request("", "GET", nil).frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}`)
	return s
}

// initializes is another session, under the headers that are given, of a client that declares.
func (s *story) initializes(capabilities string, header map[string]string) *story {
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":"`+string(s.revision)+`","capabilities":`+capabilities+`}}`)
	f := s.trace.Events[len(s.trace.Events)-1].Frame
	f.Session, f.HTTP.Header = "", header
	s.frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":"`+string(s.revision)+`"}}`)
	s.trace.Events[len(s.trace.Events)-1].Frame.Session = "session-2"
	return s
}

func TestStreamsThatAreComeBackFor(t *testing.T) {
	const back, retry, once = "transport/reconnects", "transport/retry-honoured", "transport/answers-once"
	const told = 1200 * time.Millisecond
	open := func(s *story) *story { return s.asks(pondering).numbered().thinks(pondering).disconnects(told) }
	tell := func(check, name string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: check, caseID: "disconnect", in: inA, dialects: native, verdict: v, message: message, tell: story}
	}
	whole := func(s *story) { // the second sample is asked, and answered, on the stream that is new
		open(s).comesBack(told, "post-1/3").asks(fish).answers(saying("A herring.")).responds("1001", `"result":`+saying(wellConsidered)).passesBarrier()
	}
	hold(t, catalogue, []telling{
		tell(back, "it goes on", report.Pass, "the client came back, and went on", whole),
		tell(retry, "it goes on", report.Pass, "the client came back no sooner than it was told", whole),
		tell(once, "it goes on", report.Pass, "one response came for each request", whole),
		tell(back, "nobody comes", report.Warn, "the connection of a call was closed before its response, behind an event with an id, and the client did not come back",
			func(s *story) { open(s).passesBarrier() }),
		tell(back, "it dies of it", report.Warn, "the connection of a call was closed before its response, behind an event with an id, and the client did not come back; it exited with status 1",
			func(s *story) { open(s).ends(died) }),
		tell(retry, "nobody comes", report.NotApplicable, "the client did not come back for the stream of its call (see transport/reconnects)",
			func(s *story) { open(s).passesBarrier() }),
		tell(once, "nobody comes", report.NotApplicable, "the client did not come back for the stream of its call (see transport/reconnects)",
			func(s *story) { open(s).passesBarrier() }),
		tell(back, "it opens another stream", report.Warn, "the connection of a call was closed, and the client opened a stream that names no event, so that the call's does not go on",
			func(s *story) { open(s).request("", "GET", nil).passesBarrier() }),
		tell(back, "it names an event before the last message", report.Warn, "the client came back, and not for what it had not seen: a message had to be sent again",
			func(s *story) { open(s).comesBack(told, "post-1/1").asks(pondering).onceMore().passesBarrier() }),
		tell(back, "it names an event before the last, and misses nothing", report.Pass, "the client came back, and went on",
			func(s *story) {
				open(s).comesBack(told, "post-1/2").asks(fish).answers(saying("A herring.")).passesBarrier()
			}),
		tell(back, "a network that breaks later", report.Pass, "the client came back, and went on",
			func(s *story) {
				open(s).comesBack(told, "post-1/3").asks(fish)
				s.trace.Events[len(s.trace.Events)-1].Frame.Event = "post-1/4"
				s.comesBack(told, "post-1/3").asks(fish)
				f := s.trace.Events[len(s.trace.Events)-1].Frame
				f.Resent, f.Event = true, "post-1/4"
				s.responds("1002", `"result":`+saying("A herring.")).passesBarrier()
			}),
		tell(back, "it hears nothing", report.Warn, "a sampling request was not answered that came on the stream that the client had come back for",
			func(s *story) { open(s).comesBack(told, "post-1/3").asks(fish).passesBarrier() }),
		tell(back, "it had no stream", report.NotObserved, "no connection was closed: the client had no stream for its call", func(s *story) { s.passesBarrier() }),
		tell(retry, "a timer that is early", report.Pass, "the client came back no sooner than it was told",
			func(s *story) { open(s).comesBack(told-40*time.Millisecond, "post-1/3").passesBarrier() }),
		tell(retry, "at once", report.Fail, "the client was told to wait 1.2s before it comes back, and was back sooner",
			func(s *story) { open(s).comesBack(0, "post-1/3").passesBarrier() }),
		tell(retry, "after a second of its own", report.Fail, "the client was told to wait 1.2s before it comes back, and was back sooner",
			func(s *story) { open(s).comesBack(time.Second, "post-1/3").passesBarrier() }),
		tell(once, "twice", report.Fail, "2 responses came for one request, after the client had come back for its stream",
			func(s *story) {
				open(s).comesBack(told, "post-1/1").asks(pondering).onceMore().responds("1001", `"result":`+saying("So.")).responds("1001", `"result":`+saying("So.")).passesBarrier()
			}),
		tell(once, "not at all", report.NotObserved, "the request that was open when the connection was closed was not answered: no answer came for request 1",
			func(s *story) { open(s).comesBack(told, "post-1/3").passesBarrier() }),
	})
}

func TestSessionsThatAreLost(t *testing.T) {
	const lost, handlers = "transport/session-lost", "transport/handlers-survive"
	sampled := func(s *story) *story { return s.asks(fish).answers(saying("A herring.")) }
	tell := func(check, name string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: check, caseID: "lost-session", in: inA, dialects: native, verdict: v, message: message, tell: story}
	}
	hold(t, catalogue, []telling{
		tell(lost, "it makes another", report.Pass, "the client initialized a new session",
			func(s *story) { sampled(s).isLost().initializes(everything, nil).passesBarrier() }),
		tell(handlers, "it makes another", report.Pass, "in its new session the client samples",
			func(s *story) { sampled(s).isLost().initializes(everything, nil).passesBarrier() }),
		tell(lost, "it makes none", report.Fail, "the server had ended the session and said so, and the client did not start a new one", func(s *story) { sampled(s).isLost() }),
		tell(handlers, "it makes none", report.NotApplicable, "there was no new session (see transport/session-lost)", func(s *story) { sampled(s).isLost() }),
		tell(lost, "it keeps the id", report.Fail, "the client initialized a new session under the id of the old one",
			func(s *story) {
				sampled(s).isLost().initializes(everything, map[string]string{"Mcp-Session-Id": sessionID}).passesBarrier()
			}),
		tell(lost, "it only says goodbye", report.Unsupported, "the client asked for nothing more once its session was over: it takes one that calls every tool that is listed, one after the other",
			func(s *story) {
				sampled(s).marks(trace.MarkSessionEnded, "").request("", "DELETE", nil).frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}`)
			}),
		tell(lost, "it listens until the end, having called all before", report.Unsupported, "the client asked for nothing more once its session was over: it takes one that calls every tool that is listed, one after the other",
			func(s *story) { sampled(s.passesBarrier()).marks(trace.MarkSessionEnded, "").listensInVain() }),
		tell(lost, "it is told where it listens, and calls nothing more", report.Fail, "the server had ended the session and said so, and the client did not start a new one",
			func(s *story) {
				s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				sampled(s).marks(trace.MarkSessionEnded, "").listensInVain()
			}),
		tell(lost, "it is told once more, where it calls", report.Fail, "the server had ended the session and said so, and the client did not start a new one",
			func(s *story) {
				sampled(s.passesBarrier()).marks(trace.MarkSessionEnded, "").listensInVain()
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
				s.frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"gone"}}`)
			}),
		tell(lost, "it does not come so far", report.NotObserved, "the play did not get as far as the end of the session", func(s *story) { s.asks(fish) }),
		tell(handlers, "it declares nothing in it", report.Fail, "in its new session the client declares no sampling any more",
			func(s *story) { sampled(s).isLost().initializes(`{}`, nil).passesBarrier() }),
		tell(handlers, "nobody is there", report.Fail, `in its new session the client did not answer a sampling request with a result: request 2 was answered by the error "nobody" (code -32601)`,
			func(s *story) { sampled(s).isLost().initializes(everything, nil).asks(fish).refuses(-32601, "nobody") }),
		tell(handlers, "nobody was there before", report.NotObserved, `in its first session the client did not sample either: request 1 was answered by the error "nobody" (code -32601)`,
			func(s *story) {
				s.asks(fish).refuses(-32601, "nobody").isLost().initializes(everything, nil).asks(fish).refuses(-32601, "nobody")
			}),
		tell(handlers, "it calls nothing in it", report.Unsupported, "the client called no tool in its new session: it takes one that makes a call again that found the old session gone, and then the calls that are left",
			func(s *story) { sampled(s).isLost().initializes(everything, nil) }),
	})
}

func TestRequestsOfTheServerAndWhereTheyCome(t *testing.T) {
	const post, get, same, twice = "transport/on-post-stream", "transport/on-get-stream", "transport/id-collision", "transport/duplicate-request"
	cases := map[string]string{post: "post-stream", get: "get-stream", same: "same-id", twice: "repeated"}
	tell := func(check, name string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: check, caseID: cases[check], in: inA, dialects: native, verdict: v, message: message, tell: story}
	}
	wren := asking("And this?")
	repeated := func(s *story) *story { // the same request again, on purpose
		s.asks(fish)
		raw := s.trace.Events[len(s.trace.Events)-1].Frame.Raw
		s.frame(s.caseID, trace.ToClient, 0, string(raw))
		return s.onPurpose()
	}
	hold(t, catalogue, []telling{
		tell(post, "it answers", report.Pass, "a sampling request was answered that came on the stream of the call", func(s *story) { s.asks(fish).answers(saying("So.")).passesBarrier() }),
		tell(post, "it refuses", report.Pass, "a sampling request was answered that came on the stream of the call", func(s *story) { s.asks(fish).refuses(-32603, "no").passesBarrier() }),
		tell(post, "nobody is there", report.Fail, "a sampling request that came on the stream of the call met nobody: the answer is error -32601",
			func(s *story) { s.asks(fish).refuses(-32601, "no such method").passesBarrier() }),
		tell(post, "it does not answer", report.Fail, "a sampling request was not answered that came on the stream of the call", func(s *story) { s.asks(fish).passesBarrier() }),
		tell(post, "it answers nothing at all", report.NotObserved, "the client answered no sampling request at all (see basic/answered)", func(s *story) { s.asks(fish) }),
		tell(post, "it dies", report.NotObserved, "the client answered no sampling request at all (see basic/answered); it exited with status 1", func(s *story) { s.asks(fish).ends(died) }),
		tell(get, "it has none", report.NotApplicable, "the client had no stream open that it had asked for with GET, and need not have one", func(s *story) { s.passesBarrier() }),
		tell(get, "it is deaf", report.Fail, "a sampling request was not answered that came on the stream that it had opened with GET", func(s *story) { s.asks(fish).passesBarrier() }),
		tell(get, "it answers", report.Pass, "a sampling request was answered that came on the stream that it had opened with GET", func(s *story) { s.asks(fish).answers(saying("So.")).passesBarrier() }),
		tell(same, "it answers", report.Pass, "the request was answered, and so was the call", func(s *story) { s.asks(fish).answers(saying("So.")).callEnds("completed").passesBarrier() }),
		tell(same, "it takes it for its response", report.Fail, "a sampling request was not answered that came under the id of the client's own pending call", func(s *story) { s.asks(fish).callEnds("failed").passesBarrier() }),
		tell(same, "its call fails of it", report.Fail, "a request of the server had the id of the client's own call, and the client says that the call failed",
			func(s *story) { s.asks(fish).answers(saying("So.")).callEnds("failed").passesBarrier() }),
		tell(twice, "one result", report.Pass, "no second result came",
			func(s *story) {
				repeated(s).responds("1001", `"result":`+saying("So.")).asks(fish).answers(saying("So.")).passesBarrier()
			}),
		tell(twice, "one result and an error", report.Pass, "no second result came", func(s *story) {
			repeated(s).responds("1001", `"result":`+saying("So.")).responds("1001", `"error":{"code":-32600,"message":"twice"}`).asks(fish).answers(saying("So.")).passesBarrier()
		}),
		tell(twice, "two results", report.Warn, "one id was answered with 2 results", func(s *story) {
			repeated(s).responds("1001", `"result":`+saying("So.")).responds("1001", `"result":`+saying("So.")).asks(fish).answers(saying("So.")).passesBarrier()
		}),
		tell(twice, "two prompts, and an end that cut the second result off", report.Warn, "the model was asked 2 times for one id", func(s *story) {
			repeated(s).prompts(fish).prompts(fish).responds("1001", `"result":`+saying("So.")).asks(wren).prompts(wren).answers(saying("So.")).passesBarrier()
		}),
		tell(twice, "two prompts for every request", report.Pass, "no second result came", func(s *story) {
			repeated(s).prompts(fish).prompts(fish).responds("1001", `"result":`+saying("So.")).asks(wren).prompts(wren).prompts(wren).answers(saying("So.")).passesBarrier()
		}),
		tell(twice, "none", report.Fail, "a request that came twice was not answered at all", func(s *story) { repeated(s).passesBarrier() }),
		tell(twice, "deaf after it", report.Fail, "after a request that came twice the next one was not answered",
			func(s *story) { repeated(s).responds("1001", `"result":`+saying("So.")).asks(fish).passesBarrier() }),
	})
}

func TestWhatHTTPRequestsHave(t *testing.T) {
	const both, stream = "application/json, text/event-stream", "text/event-stream"
	accepts := func(post, get string) func(*story) { // of all requests
		return func(s *story) {
			if get != "" {
				s.request("", "GET", map[string]string{"Accept": get})
			}
			s.passesBarrier()
			for _, e := range s.trace.Events {
				if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method == "POST" {
					f.HTTP.Header["Accept"] = post
				}
			}
		}
	}
	inSession := func(s *story) *story { // with the headers of a right client
		for _, e := range s.trace.Events {
			if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method != "" && f.Session != "" {
				f.HTTP.Header["Mcp-Session-Id"] = sessionID
			}
		}
		return s
	}
	plain := func(check, name string, in []server.Revision, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: "transport/" + check, caseID: "plain", in: in, dialects: native, verdict: v, message: message, tell: story}
	}
	const listed = "every request lists what it has to accept"
	hold(t, catalogue, []telling{
		plain("accept-header", "both", nil, report.Pass, listed, accepts(both, "")),
		plain("accept-header", "both, with weights and in capitals", nil, report.Pass, listed, accepts("Text/Event-Stream;q=0.9, application/JSON; charset=utf-8, */*", "")),
		plain("accept-header", "JSON alone", nil, report.Fail, "a POST of the client does not list text/event-stream among what it accepts", accepts("application/json", "")),
		plain("accept-header", "a wildcard", nil, report.Fail, "a POST of the client does not list application/json among what it accepts", accepts("*/*", "")),
		plain("accept-header", "nothing", nil, report.Fail, "a POST of the client does not list application/json among what it accepts", accepts("", "")),
		plain("accept-header", "a GET that accepts streams", inA, report.Pass, listed, accepts(both, stream)),
		plain("accept-header", "a GET that does not", inA, report.Fail, "a GET of the client does not list text/event-stream among what it accepts", accepts(both, "*/*")),
		plain("one-message", "one by one", nil, report.Pass, "every POST was one message", func(s *story) { s.passesBarrier() }),
		plain("one-message", "two at once", nil, report.Fail, "the client posted an array, and no single message", func(s *story) { s.frame("", trace.FromClient, 0, ` [{"jsonrpc":"2.0"}]`) }),
		plain("response-post", "all of them", inA, report.Pass, "every request had both headers", func(s *story) { inSession(s.passesBarrier()) }),
		plain("response-post", "an answer without the version", inA, report.Fail, "a request of the client has no MCP-Protocol-Version",
			func(s *story) { inSession(s.passesBarrier()).sends("Mcp-Protocol-Version", "") }),
		plain("response-post", "an answer without the session", inA, report.Fail, "a request of the client has no Mcp-Session-Id", func(s *story) { inSession(s.passesBarrier()).sends("Mcp-Session-Id", "") }),
		plain("response-post", "another version", inA, report.Warn, "a request of the client has the version 2025-06-18, and 2025-11-25 was agreed on",
			func(s *story) { inSession(s.passesBarrier()).sends("Mcp-Protocol-Version", "2025-06-18") }),
		plain("response-post", "nothing answered", inA, report.NotObserved, "the client has answered nothing in this session", func(s *story) { inSession(s) }),
		plain("own-ids", "none twice", inA, report.Pass, "no id came twice", func(s *story) {}),
		plain("own-ids", "one twice", inA, report.Fail, "two requests of a session have one id", func(s *story) { s.calls() }),
		plain("own-ids", "one twice, written otherwise", inA, report.Fail, "two requests of a session have one id",
			func(s *story) { s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7.0,"method":"ping"}`) }),
		plain("own-ids", "one in each of two sessions, and before them", inA, report.Pass, "no id came twice", func(s *story) {
			for range 2 {
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":0,"method":"server/discover"}`)
				s.trace.Events[len(s.trace.Events)-1].Frame.Session = ""
				s.initializes(everything, nil)
				s.trace.Events[len(s.trace.Events)-1].Frame.Session = fmt.Sprint("session-", len(s.trace.Events))
			}
		}),
		plain("own-ids", "a text like a number", inA, report.Pass, "no id came twice", func(s *story) { s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"7","method":"ping"}`) }),
		plain("own-ids", "a fraction", inA, report.Fail, "the id of a request is no integer", func(s *story) { s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7.5,"method":"ping"}`) }),
		plain("own-ids", "null", inA, report.Fail, "the id of a request is no string and no integer", func(s *story) { s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"method":"ping"}`) }),
		plain("own-ids", "an object", inA, report.Fail, "the id of a request is no string and no integer", func(s *story) { s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":{},"method":"ping"}`) }),
		plain("ends-session", "a DELETE", inA, report.Pass, "the client ended its session", func(s *story) { s.request("", "DELETE", nil) }),
		plain("ends-session", "one of two, twice", inA, report.Warn, "the client came to its end, and its session is still open: no DELETE came",
			func(s *story) { s.initializes(everything, nil).request("", "DELETE", nil).request("", "DELETE", nil) }),
		plain("ends-session", "none", inA, report.Warn, "the client came to its end, and its session is still open: no DELETE came", func(s *story) {}),
		plain("ends-session", "a client that died", inA, report.NotObserved, "the session did not come to an end in order: it exited with status 1", func(s *story) { s.ends(died) }),
		plain("accepts-json", "it goes on", inA, report.Pass, "a plain response was understood",
			func(s *story) {
				s.frame(s.caseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.passesBarrier()
			}),
		plain("accepts-json", "it says that its call failed", inA, report.Fail, "the response was plain JSON, and the client says that its call failed",
			func(s *story) {
				s.frame(s.caseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.callEnds("failed").passesBarrier()
			}),
		plain("accepts-json", "it dies of it", inA, report.Fail, "the client did not go on after a response that was plain JSON: it exited with status 1",
			func(s *story) {
				s.frame(s.caseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
				s.ends(died)
			}),
		plain("accepts-json", "it brings the input", inB, report.Pass, "a plain response was understood", func(s *story) { s.asks(fish).answers(saying("So.")).passesBarrier() }),
		plain("accepts-json", "it brings none", inB, report.Fail, "the response was plain JSON that asks for input, and the client did not come back with any", func(s *story) { s.asks(fish).passesBarrier() }),
		plain("accepts-json", "its input is turned down", inB, report.NotObserved, "the server turned a request of the client down with HTTP 400", func(s *story) {
			s.asks(fish).answers(saying("So.")).frame(s.caseID, trace.ToClient, 400, `{"jsonrpc":"2.0","id":8,"error":{"code":-32020,"message":"no"}}`)
		}),
	})
}

func TestBatches(t *testing.T) {
	tell := func(name string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: "transport/batch", caseID: "together", in: []server.Revision{server.V20250326}, dialects: native, verdict: v, message: message, tell: story}
	}
	asked := func(s *story) *story {
		return s.marks(trace.MarkBatch, "3 messages in one event").asksAll(fish, fish, fish)
	}
	hung := trace.Process{Deadline: true}
	hold(t, catalogue, []telling{
		tell("each is answered", report.Pass, "the client answered each request of the batch", func(s *story) {
			asked(s).responds("1003", `"result":`+saying("Three.")).responds("1001", `"result":`+saying("One.")).responds("1002", `"error":{"code":-1,"message":"no"}`).passesBarrier()
		}),
		tell("it goes on without an answer", report.Fail, "request 1 of a batch was not answered", func(s *story) { asked(s).passesBarrier() }),
		tell("it answers the first", report.Fail, "request 2 of a batch was not answered",
			func(s *story) { asked(s).responds("1001", `"result":`+saying("One.")).passesBarrier() }),
		tell("it dies", report.Fail, "the client did not go on after a batch: it exited with status 1", func(s *story) { asked(s).ends(died) }),
		tell("it hangs", report.Fail, "the client did not go on after a batch: it was still running after 1m0s and was ended", func(s *story) { asked(s).ends(hung) }),
		tell("it hangs over something else", report.NotObserved,
			"no answer came, and it is not settled that none would have: the session did not end in order: it was still running after 1m0s and was ended", func(s *story) {
				asked(s)
				s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				s.caseID = harness.BarrierID
				s.calls().ends(hung)
			}),
		tell("nothing came", report.NotObserved, "the server did not get as far as the batch", func(s *story) { s.asks(fish).passesBarrier() }),
	})
}
