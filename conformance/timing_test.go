package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// waitsFor tells the story's client how long to wait for the model, and how patient that is.
func (s *story) waitsFor(limit time.Duration, declared bool, patience time.Duration) *story {
	h := &s.trace.Header
	h.ClientTimeout, h.TimeoutDeclared, h.Patience = limit, declared, patience
	return s
}

// later lets time pass, by the story's clock, before what is told next.
func (s *story) later(d time.Duration) *story {
	s.passed += d
	return s
}

var (
	hungUp = trace.ModelEnd{Status: 200, Stream: true, HungUp: true}
	inTime = trace.ModelEnd{Status: 200, Stream: true}
)

// kept is a client that asks the model, and what came of that.
func kept(declared bool, patience time.Duration, end trace.ModelEnd) func(*story) *story {
	return func(s *story) *story {
		return s.waitsFor(time.Second, declared, patience).asks(asking("How was Rome built?")).prompt(promptOf(s.dialect), end)
	}
}

// promptOf is a request of the model with a question.
func promptOf(d string) string {
	if d == dialect.Native {
		return string(dialect.Marshal(asking("How was Rome built?")))
	}
	return string(dialect.Marshal(asChat(asking("How was Rome built?"))))
}

func TestWhatIsSaidOfAClientThatIsKeptWaiting(t *testing.T) {
	const silent = "the model fell silent"
	const midstream = silent + " in the middle of its answer"
	gaveUp := func(s *story) { kept(true, 7*time.Second, hungUp)(s).refuses(-32603, "no answer").passesBarrier() }
	said := map[string]func(*story){
		"the whole": func(s *story) { kept(true, 7*time.Second, inTime)(s).answers(saying(slowly)).passesBarrier() },
		"the whole, of a client of which nobody knows": func(s *story) { kept(false, 5*time.Second, inTime)(s).answers(saying(slowly)).passesBarrier() },
		"the whole, after ages":                        func(s *story) { kept(false, 15*time.Minute, inTime)(s).answers(saying(slowly)).passesBarrier() },
		"an error, after the whole":                    func(s *story) { kept(true, 7*time.Second, inTime)(s).refuses(-32603, "late").passesBarrier() },
		"a part": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s).says("Stone by").answers(saying("Stone by")).passesBarrier()
		},
		"a part, and that it is one": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s).says("Stone by").answers(with(saying("Stone by"), "stopReason", `"timeout"`)).passesBarrier()
		},
		"something made up": func(s *story) { kept(true, 7*time.Second, hungUp)(s).answers(saying("Well.")).passesBarrier() },
		"nothing, and is ended": func(s *story) {
			kept(true, 7*time.Second, trace.ModelEnd{Closed: true})(s).ends(trace.Process{Deadline: true})
		},
		"nothing, and dies": func(s *story) { kept(true, 7*time.Second, hungUp)(s).ends(trace.Process{Signal: "killed"}) },
		"an error, at the third time of asking": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s).later(time.Second).prompt(promptOf(s.dialect), hungUp).later(time.Second).prompt(promptOf(s.dialect), hungUp).refuses(-32603, "no answer").passesBarrier()
		},
		"an error, having asked for long": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s)
			for range 7 {
				s.later(time.Second).prompt(promptOf(s.dialect), hungUp)
			}
			s.refuses(-32603, "no answer").passesBarrier()
		},
		"nothing, and asks again and again": func(s *story) {
			kept(false, 7*time.Second, hungUp)(s)
			for range 9 {
				s.later(time.Second).prompt(promptOf(s.dialect), hungUp)
			}
			s.ends(trace.Process{Deadline: true})
		},
		"nothing, and hangs much later": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s).passesBarrier().ends(trace.Process{Deadline: true})
		},
		"nothing": func(s *story) { kept(true, 7*time.Second, hungUp)(s).passesBarrier() },
		"nothing, having cancelled its call": func(s *story) {
			kept(true, 7*time.Second, hungUp)(s).frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
			s.passesBarrier()
		},
		"nothing of the model":                                  func(s *story) { s.asks(asking("How was Rome built?")).refuses(-32603, "no").passesBarrier() },
		"nothing, and the model's whole came before it went on": func(s *story) { kept(true, 7*time.Second, inTime)(s).passesBarrier() },
	}
	const declare = ": declare how long it does (--client-timeout, conformance.ClientTimeout), or have it heed the limit that it is told"
	hold(t, catalogue, []telling{
		{name: "gives up", check: "time/model-stalls", caseID: "stall-headers", tell: gaveUp, in: inA, verdict: report.Pass, message: silent + ", and the client gave up and said so"},
		{name: "gives up", check: "time/stream-stalls", caseID: "stall-midstream", tell: gaveUp, in: inB, verdict: report.Pass, message: midstream + ", and the client gave up and did not fulfil the request"},
		{name: "waits", check: "time/model-stalls", caseID: "stall-headers", tell: said["the whole"], verdict: report.Fail,
			message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{name: "waits, unknown", check: "time/model-stalls", caseID: "stall-headers", tell: said["the whole, of a client of which nobody knows"], verdict: report.Unsupported,
			message: silent + ", and after 5s the client was still waiting" + declare},
		{name: "waits for ages", check: "time/model-stalls", caseID: "stall-headers", tell: said["the whole, after ages"], verdict: report.Fail,
			message: silent + ", and after 15m0s the client was still waiting"},
		{name: "an error too late", check: "time/model-stalls", caseID: "stall-headers", tell: said["an error, after the whole"], in: inA, verdict: report.Fail,
			message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{name: "no retry, too late", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing, and the model's whole came before it went on"], in: inB, verdict: report.Fail,
			message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{name: "still running", check: "time/total-limit", caseID: "drip", tell: said["nothing, and is ended"], verdict: report.Fail,
			message: "the model spoke a few letters at a time without coming to an end, and after 7s the client was still waiting, although it is to give up after 1s"},
		{name: "still running, and no word", check: "time/total-limit", caseID: "drip", in: inA, tell: func(s *story) { kept(true, 7*time.Second, hungUp)(s).ends(trace.Process{Deadline: true}) },
			verdict: report.Fail, message: "the model spoke a few letters at a time without coming to an end, and the client gave up without a word, so that the server waits for ever"},
		{name: "a part as the whole", check: "time/stream-stalls", caseID: "stall-midstream", tell: said["a part"], verdict: report.Fail,
			message: midstream + ", and the client passes off what had come by then as the whole answer"},
		{name: "a part as a part", check: "time/stream-stalls", caseID: "stall-midstream", tell: said["a part, and that it is one"], verdict: report.Warn,
			message: midstream + `, and the client answers with what had come by then, as "timeout", where an error is due`},
		{name: "made up", check: "time/model-stalls", caseID: "stall-headers", tell: said["something made up"], verdict: report.Fail,
			message: silent + " before it had said a word, and the client made up an answer"},
		{name: "asks again, and gives up", check: "time/model-stalls", caseID: "stall-headers", tell: said["an error, at the third time of asking"], in: inA, verdict: report.Pass,
			message: silent + ", and the client gave up and said so"},
		{name: "asks again for long", check: "time/model-stalls", caseID: "stall-headers", tell: said["an error, having asked for long"], verdict: report.Fail,
			message: silent + ", and after 7s the client asked the model again, although it is to give up after 1s"},
		{name: "asks again without an end", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing, and asks again and again"], verdict: report.Fail,
			message: silent + ", and the client gave up and asked it again, and again, without an end"},
		{name: "gives up, and hangs later", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing, and hangs much later"], verdict: report.NotObserved,
			message: "that the client gave up cannot be said: the session did not end in order: it was still running after 1m0s and was ended"},
		{name: "dies", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing, and dies"], verdict: report.NotObserved,
			message: "that the client gave up cannot be said: the session did not end in order: a signal ended it: killed"},
		{name: "no word", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing"], in: inA, verdict: report.Fail,
			message: silent + ", and the client gave up without a word, so that the server waits for ever"},
		{name: "no word, and its call cancelled", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing, having cancelled its call"], in: inA, verdict: report.Unsupported,
			message: silent + ", and the client gave up its own call, to which the request belonged: let it wait longer for that than for the model"},
		{name: "model not asked", check: "time/model-stalls", caseID: "stall-headers", tell: said["nothing of the model"], verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},

		{name: "whole", check: "time/model-slow", caseID: "slow", tell: said["the whole"], verdict: report.Pass, message: "the whole of a slow stream arrived"},
		{name: "cut", check: "time/model-slow", caseID: "slow", tell: said["a part"], verdict: report.Fail, message: "the model was slow, and a part of its answer was passed off as the whole"},
		{name: "given up on", check: "time/model-slow", caseID: "slow", tell: gaveUp, verdict: report.Fail,
			message: "the client gave up on a stream that was slow and alive before the 1s had passed that it waits"},
		{name: "given up on, on a busy machine", check: "time/model-slow", caseID: "slow", verdict: report.Unsupported,
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(asking("How was Rome built?")).later(2*time.Second).prompt(promptOf(s.dialect), hungUp).refuses(-32603, "no answer").passesBarrier()
			},
			message: "the machine was too busy for a slow stream to come to its end within the client's 1s: declare a longer limit"},
		{name: "given up on, unknown", check: "time/model-slow", caseID: "slow", tell: func(s *story) { kept(false, 0, hungUp)(s).refuses(-32603, "no answer").passesBarrier() }, verdict: report.Unsupported,
			message: "the client gave up on a stream that was slow and alive: where its limit is below the 1s that it was told, declare it (--client-timeout, conformance.ClientTimeout)"},
		{name: "comes to nothing", check: "time/model-slow", caseID: "slow", tell: said["an error, after the whole"], in: inA, verdict: report.Fail,
			message: `the model was slow, and its whole answer came to nothing: request 1 was answered by the error "late" (code -32603)`},
		{name: "dies", check: "time/model-slow", caseID: "slow", tell: said["nothing, and dies"], verdict: report.NotObserved,
			message: "what became of a slow stream cannot be said: the session did not end in order: a signal ended it: killed"},
	})
}

// reports is the client's progress on a request.
func (s *story) reports(token, value string) *story {
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":`+value+`}}`)
	return s
}

// asksFor is a sampling request with a progress token, "" for none.
func (s *story) asksFor(token string) *story {
	ask, err := any(asking("How is it going?")), error(nil)
	if token != "" {
		ask, err = askingForProgress(ask, token)
	}
	require.NoError(s.t, err)
	return s.asks(ask)
}

func TestWhatIsSaidOfProgress(t *testing.T) {
	good := saying("Well.")
	tellAll := func(during func(*story), after func(*story)) func(*story) {
		return func(s *story) {
			s.asksFor(`"t"`)
			during(s)
			s.answers(good).asksFor("").answers(good).asksFor("")
			after(s)
			s.answers(good).passesBarrier()
		}
	}
	nothing := func(*story) {}
	const choice = "the client reports no progress, which is its choice"
	for _, check := range []string{"time/progress-token", "time/progress-rises", "time/progress-ends"} {
		hold(t, catalogue, []telling{{name: "none", check: check, caseID: "progress", tell: tellAll(nothing, nothing), in: inA, verdict: report.NotApplicable, message: choice}})
	}
	rising := func(s *story) { s.reports(`"t"`, "0.5").reports(`"t"`, "1e0").reports(`"t"`, "2") }
	hold(t, catalogue, []telling{
		{name: "right", check: "time/progress-token", caseID: "progress", tell: tellAll(rising, nothing), in: inA, verdict: report.Pass, message: "progress is reported under the tokens of the requests that asked for it"},
		{name: "of nothing", check: "time/progress-token", caseID: "progress", tell: tellAll(func(s *story) { s.reports("1001", "1") }, nothing), in: inA, verdict: report.Fail, message: "progress is reported under 1001, which is the token of no request"},
		{name: "without a token", check: "time/progress-token", caseID: "progress", tell: func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
			s.asksFor("").answers(good).passesBarrier()
		}, in: inA, verdict: report.Fail, message: "progress is reported without a token"},
		{name: "twice without a token", check: "time/progress-rises", caseID: "progress", tell: func(s *story) {
			s.asksFor(`"t"`).reports(`"t"`, "1").answers(good).asksFor("")
			for range 2 {
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
			}
			s.answers(good).passesBarrier()
		}, in: inA, verdict: report.Pass, message: "progress rises"},
		{name: "of another type", check: "time/progress-token", caseID: "progress", tell: func(s *story) { s.asksFor("7").reports(`"7"`, "1").answers(good).passesBarrier() }, in: inA, verdict: report.Fail, message: `progress is reported under "7", which is the token of no request`},
		{name: "before it was asked for", check: "time/progress-token", caseID: "progress", tell: func(s *story) { s.reports("7", "1").asksFor("7").answers(good).passesBarrier() }, in: inA, verdict: report.Fail, message: `progress is reported under 7, which is the token of no request`},
		{name: "right", check: "time/progress-rises", caseID: "progress", tell: tellAll(rising, nothing), in: inA, verdict: report.Pass, message: "progress rises"},
		{name: "the same twice", check: "time/progress-rises", caseID: "progress", tell: tellAll(func(s *story) { s.reports(`"t"`, "1").reports(`"t"`, "1.0") }, nothing), in: inA, verdict: report.Fail, message: "two reports of one request say the same progress"},
		{name: "falls, or was overtaken", check: "time/progress-rises", caseID: "progress", tell: tellAll(func(s *story) { s.reports(`"t"`, "2").reports(`"t"`, "1") }, nothing), in: inA, verdict: report.Warn, message: "the progress of a request falls, unless the reports overtook one another on their way"},
		{name: "falls, over stdio", check: "time/progress-rises", caseID: "progress", tell: func(s *story) {
			s.trace.Header.Transport = trace.Stdio
			tellAll(func(s *story) { s.reports(`"t"`, "2").reports(`"t"`, "1") }, nothing)(s)
		}, in: inA, verdict: report.Fail, message: "the progress of a request falls"},
		{name: "no number", check: "time/progress-rises", caseID: "progress", tell: tellAll(func(s *story) { s.reports(`"t"`, `"half"`) }, nothing), in: inA, verdict: report.Fail, message: "a report's progress is no number"},
		{name: "right", check: "time/progress-ends", caseID: "progress", tell: tellAll(rising, nothing), in: inA, verdict: report.Pass, message: "no progress is reported after the answer"},
		{name: "overtaken by the answer", check: "time/progress-ends", caseID: "progress", tell: func(s *story) {
			s.asksFor("7").answers(good).reports("7", "1").asksFor("").reports("7", "2").answers(good).passesBarrier()
		}, in: inA, verdict: report.Pass, message: "no progress is reported after the answer"},
		{name: "after the end", check: "time/progress-ends", caseID: "progress", tell: tellAll(rising, func(s *story) { s.reports(`"t"`, "3") }), in: inA, verdict: report.Fail, message: "progress was reported on a request that had been answered"},
		{name: "unsettled", check: "time/progress-ends", caseID: "progress", tell: func(s *story) { s.asksFor("7").reports("7", "1").answers(good) }, in: inA, verdict: report.Unsupported, message: "that no more progress is reported cannot be said: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet"},
	})
}

// pings is the server's ping, and pongs the client's answer.
func (s *story) pings() *story {
	s.frame(s.caseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	return s
}

func TestWhatIsSaidOfAPing(t *testing.T) {
	good := saying("Nothing.")
	ask := func(s *story) *story {
		return s.asks(asking("What takes so long?")).prompts(asking("What takes so long?"))
	}
	hold(t, catalogue, []telling{
		{name: "answered", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Pass, message: "a ping was answered while a sampling request waited",
			tell: func(s *story) { ask(s).pings().responds("99", `"result":{}`).answers(good).passesBarrier() }},
		{name: "answered late", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Fail, message: "a ping was answered only after the sampling request that came before it",
			tell: func(s *story) { ask(s).pings().answers(good).responds("99", `"result":{}`).passesBarrier() }},
		{name: "too late to be of use", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Unsupported,
			message: "the sampling request was answered before the server could ping: it takes a client that asks the model, and calls each tool once",
			tell:    func(s *story) { ask(s).answers(good).pings().responds("99", `"result":{}`).passesBarrier() }},
		{name: "refused", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Fail, message: `a ping was answered with the error "what?" (code -32601)`,
			tell: func(s *story) {
				ask(s).pings().responds("99", `"error":{"code":-32601,"message":"what?"}`).answers(good).passesBarrier()
			}},
		{name: "answered under another id", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Fail, message: "the answer to a ping has not the id that the ping has",
			tell: func(s *story) { ask(s).pings().responds(`"99"`, `"result":{}`).answers(good).passesBarrier() }},
		{name: "answered with a word", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Fail, message: "a ping was answered, and the result is no object",
			tell: func(s *story) { ask(s).pings().responds("99", `"result":"pong"`).answers(good).passesBarrier() }},
		{name: "answered with more than nothing", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Warn, message: "a ping was answered with a result that is not empty",
			tell: func(s *story) { ask(s).pings().responds("99", `"result":{"pong":true}`).answers(good).passesBarrier() }},
		{name: "answered with _meta", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Pass, message: "a ping was answered while a sampling request waited",
			tell: func(s *story) { ask(s).pings().responds("99", `"result":{"_meta":{}}`).answers(good).passesBarrier() }},
		{name: "not answered", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.Fail, message: "a ping was not answered while a sampling request waited",
			tell: func(s *story) { ask(s).pings().answers(good).passesBarrier() }},
		{name: "unsettled", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.NotObserved, message: "that the ping stays without an answer cannot be said: the session did not end in order: a signal ended it: killed",
			tell: func(s *story) { ask(s).pings().ends(trace.Process{Signal: "killed"}) }},
		{name: "not sent", check: "time/alive-while-sampling", caseID: "ping", in: inA, verdict: report.NotObserved, message: "the server did not get as far as a ping: no answer came for request 1; a signal ended it: killed",
			tell: func(s *story) { ask(s).ends(trace.Process{Signal: "killed"}) }},
	})
}

func TestWhatIsSaidOfTheClientsOwnTokens(t *testing.T) {
	// request is one of the client's, with a token; response the server's answer to it.
	requestFor := func(s *story, caseID string, id int, token string) {
		meta := s.meta()
		if meta == "" {
			meta = `"_meta":{"progressToken":` + token + `},`
		} else {
			meta = `"_meta":{"progressToken":` + token + "," + meta[len(`"_meta":{`):]
		}
		s.frame(caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s"cursor":"x"}}`, id, meta))
	}
	request := func(s *story, id int, token string) { requestFor(s, "", id, token) }
	response := func(s *story, id int) {
		s.frame("", trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[]}}`, id))
	}
	tell := func(f func(s *story)) func(*story) {
		return func(s *story) {
			f(s)
			s.asks(asking("How is it going?")).answers(saying("Well.")).passesBarrier()
		}
	}
	both := func(a, b string) func(*story) {
		return tell(func(s *story) { request(s, 20, a); request(s, 21, b); response(s, 20); response(s, 21) })
	}
	inTurn := tell(func(s *story) { request(s, 20, `"t"`); response(s, 20); request(s, 21, `"t"`); response(s, 21) })
	cancelled := tell(func(s *story) { request(s, 20, `"t"`); request(s, 21, `"t"`); s.givesUp("20"); response(s, 21) })
	cancelledOther := tell(func(s *story) { request(s, 20, `"t"`); s.givesUp("19"); request(s, 21, `"t"`); response(s, 21) })
	closed := tell(func(s *story) { requestFor(s, s.caseID, 20, `"t"`); request(s, 21, `"t"`); s.closes(); response(s, 21) })
	closedOther := tell(func(s *story) { request(s, 20, `"t"`); s.closes(); request(s, 21, `"t"`); response(s, 21) })
	const fits, own = "the client's progress tokens are strings or integers", "requests that are in progress together have tokens of their own"
	hold(t, catalogue, []telling{
		{name: "none", check: "time/token-shape", caseID: "progress", tell: tell(func(*story) {}), verdict: report.NotApplicable, message: "the client asks for no progress"},
		{name: "none", check: "time/token-unique", caseID: "progress", tell: tell(func(*story) {}), verdict: report.NotApplicable, message: "the client asks for no progress"},
		{name: "of both types", check: "time/token-shape", caseID: "progress", tell: both(`"1"`, `1`), verdict: report.Pass, message: fits},
		{name: "of both types", check: "time/token-unique", caseID: "progress", tell: both(`"1"`, `1`), verdict: report.Pass, message: own},
		{name: "an integer in another notation", check: "time/token-shape", caseID: "progress", tell: both(`1.0`, `2e3`), verdict: report.Pass, message: fits},
		{name: "a fraction", check: "time/token-shape", caseID: "progress", tell: both(`1`, `1.5`), verdict: report.Fail, message: "a progress token is neither a string nor an integer"},
		{name: "null", check: "time/token-shape", caseID: "progress", tell: both(`1`, `null`), verdict: report.Fail, message: "a progress token is neither a string nor an integer"},
		{name: "an object", check: "time/token-shape", caseID: "progress", tell: both(`1`, `{}`), verdict: report.Fail, message: "a progress token is neither a string nor an integer"},
		{name: "the same at once", check: "time/token-unique", caseID: "progress", tell: both(`"t"`, `"t"`), verdict: report.Fail, message: "two requests that are in progress have one progress token"},
		{name: "the same in turn", check: "time/token-unique", caseID: "progress", tell: inTurn, verdict: report.NotApplicable, message: "the client's requests with a progress token are never in progress together"},
		{name: "the same again, and then a cancel", check: "time/token-unique", caseID: "progress", tell: cancelled, verdict: report.NotApplicable, message: "the client's requests with a progress token are never in progress together"},
		{name: "the same again, and then the end of the stream", check: "time/token-unique", caseID: "progress", tell: closed, verdict: report.NotApplicable, message: "the client's requests with a progress token are never in progress together"},
		{name: "the same again beside a cancel of another", check: "time/token-unique", caseID: "progress", tell: cancelledOther, verdict: report.Fail, message: "two requests that are in progress have one progress token"},
		{name: "the same again beside the end of another stream", check: "time/token-unique", caseID: "progress", tell: closedOther, verdict: report.Fail, message: "two requests that are in progress have one progress token"},
	})
}

// says is a piece of the model's answer, before the client hung up.
func (s *story) says(text string) *story {
	end := s.trace.Events[len(s.trace.Events)-1]
	s.trace.Events = s.trace.Events[:len(s.trace.Events)-1]
	s.seq[s.caseID]--
	s.add(s.caseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.models, Data: trace.Bytes(text)}})
	s.add(s.caseID, trace.Event{End: end.End})
	return s
}
