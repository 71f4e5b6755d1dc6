package timing

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var (
	inTime = trace.ModelEnd{Status: 200, Stream: true}
)

// kept is a client that asks the model, and what came of that.
func kept(declared bool, patience time.Duration, end trace.ModelEnd) func(*tracetest.Story) *tracetest.Story {
	return func(s *tracetest.Story) *tracetest.Story {
		return s.WaitsFor(time.Second, declared, patience).Asks(tracetest.Asking("How was Rome built?")).Prompt(promptOf(s.Dialect), end)
	}
}

// promptOf is a request of the model with a question.
func promptOf(d string) string {
	if d == dialect.Native {
		return string(dialect.Marshal(tracetest.Asking("How was Rome built?")))
	}
	return string(dialect.Marshal(tracetest.AsChat(tracetest.Asking("How was Rome built?"))))
}

func TestWhatIsSaidOfAClientThatIsKeptWaiting(t *testing.T) {
	const silent = "the model fell silent"
	const midstream = silent + " in the middle of its answer"
	gaveUp := func(s *tracetest.Story) {
		kept(true, 7*time.Second, tracetest.HungUp)(s).Refuses(-32603, "no answer").PassesBarrier()
	}
	said := map[string]func(*tracetest.Story){
		"the whole": func(s *tracetest.Story) {
			kept(true, 7*time.Second, inTime)(s).Answers(tracetest.Saying(slowly)).PassesBarrier()
		},
		"the whole, of a client of which nobody knows": func(s *tracetest.Story) {
			kept(false, 5*time.Second, inTime)(s).Answers(tracetest.Saying(slowly)).PassesBarrier()
		},
		"the whole, after ages": func(s *tracetest.Story) {
			kept(false, 15*time.Minute, inTime)(s).Answers(tracetest.Saying(slowly)).PassesBarrier()
		},
		"an error, after the whole": func(s *tracetest.Story) { kept(true, 7*time.Second, inTime)(s).Refuses(-32603, "late").PassesBarrier() },
		"a part": func(s *tracetest.Story) {
			says(kept(true, 7*time.Second, tracetest.HungUp)(s), "Stone by").Answers(tracetest.Saying("Stone by")).PassesBarrier()
		},
		"a part, and that it is one": func(s *tracetest.Story) {
			says(kept(true, 7*time.Second, tracetest.HungUp)(s), "Stone by").Answers(tracetest.With(tracetest.Saying("Stone by"), "stopReason", `"timeout"`)).PassesBarrier()
		},
		"something made up": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).Answers(tracetest.Saying("Well.")).PassesBarrier()
		},
		"nothing, and is ended": func(s *tracetest.Story) {
			kept(true, 7*time.Second, trace.ModelEnd{Closed: true})(s).Ends(trace.Process{Deadline: true})
		},
		"nothing, and dies": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).Ends(trace.Process{Signal: "killed"})
		},
		"an error, at the third time of asking": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).Later(time.Second).Prompt(promptOf(s.Dialect), tracetest.HungUp).Later(time.Second).Prompt(promptOf(s.Dialect), tracetest.HungUp).Refuses(-32603, "no answer").PassesBarrier()
		},
		"an error, having asked for long": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s)
			for range 7 {
				s.Later(time.Second).Prompt(promptOf(s.Dialect), tracetest.HungUp)
			}
			s.Refuses(-32603, "no answer").PassesBarrier()
		},
		"nothing, and asks again and again": func(s *tracetest.Story) {
			kept(false, 7*time.Second, tracetest.HungUp)(s)
			for range 9 {
				s.Later(time.Second).Prompt(promptOf(s.Dialect), tracetest.HungUp)
			}
			s.Ends(trace.Process{Deadline: true})
		},
		"nothing, and hangs much later": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).PassesBarrier().Ends(trace.Process{Deadline: true})
		},
		"nothing": func(s *tracetest.Story) { kept(true, 7*time.Second, tracetest.HungUp)(s).PassesBarrier() },
		"nothing, having cancelled its call": func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
			s.PassesBarrier()
		},
		"nothing of the model": func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("How was Rome built?")).Refuses(-32603, "no").PassesBarrier()
		},
		"nothing, and the model's whole came before it went on": func(s *tracetest.Story) { kept(true, 7*time.Second, inTime)(s).PassesBarrier() },
	}
	const declare = ": declare how long it does (--client-timeout, conformance.ClientTimeout), or have it heed the limit that it is told"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "gives up", Check: "time/model-stalls", CaseID: "stall-headers", Steps: gaveUp, In: tracetest.InA, Verdict: report.Pass, Message: silent + ", and the client gave up and said so"},
		{Name: "gives up", Check: "time/stream-stalls", CaseID: "stall-midstream", Steps: gaveUp, In: tracetest.InB, Verdict: report.Pass, Message: midstream + ", and the client gave up and did not fulfil the request"},
		{Name: "waits", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["the whole"], Verdict: report.Fail,
			Message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{Name: "waits, unknown", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["the whole, of a client of which nobody knows"], Verdict: report.Unsupported,
			Message: silent + ", and after 5s the client was still waiting" + declare},
		{Name: "waits for ages", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["the whole, after ages"], Verdict: report.Fail,
			Message: silent + ", and after 15m0s the client was still waiting"},
		{Name: "an error too late", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["an error, after the whole"], In: tracetest.InA, Verdict: report.Fail,
			Message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{Name: "no retry, too late", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing, and the model's whole came before it went on"], In: tracetest.InB, Verdict: report.Fail,
			Message: silent + ", and after 7s the client was still waiting, although it is to give up after 1s"},
		{Name: "still running", Check: "time/total-limit", CaseID: "drip", Steps: said["nothing, and is ended"], Verdict: report.Fail,
			Message: "the model spoke a few letters at a time without coming to an end, and after 7s the client was still waiting, although it is to give up after 1s"},
		{Name: "still running, and no word", Check: "time/total-limit", CaseID: "drip", In: tracetest.InA, Steps: func(s *tracetest.Story) {
			kept(true, 7*time.Second, tracetest.HungUp)(s).Ends(trace.Process{Deadline: true})
		},
			Verdict: report.Fail, Message: "the model spoke a few letters at a time without coming to an end, and the client gave up without a word, so that the server waits for ever"},
		{Name: "a part as the whole", Check: "time/stream-stalls", CaseID: "stall-midstream", Steps: said["a part"], Verdict: report.Fail,
			Message: midstream + ", and the client passes off what had come by then as the whole answer"},
		{Name: "a part as a part", Check: "time/stream-stalls", CaseID: "stall-midstream", Steps: said["a part, and that it is one"], Verdict: report.Warn,
			Message: midstream + `, and the client answers with what had come by then, as "timeout", where an error is due`},
		{Name: "made up", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["something made up"], Verdict: report.Fail,
			Message: silent + " before it had said a word, and the client made up an answer"},
		{Name: "asks again, and gives up", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["an error, at the third time of asking"], In: tracetest.InA, Verdict: report.Pass,
			Message: silent + ", and the client gave up and said so"},
		{Name: "asks again for long", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["an error, having asked for long"], Verdict: report.Fail,
			Message: silent + ", and after 7s the client asked the model again, although it is to give up after 1s"},
		{Name: "asks again without an end", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing, and asks again and again"], Verdict: report.Fail,
			Message: silent + ", and the client gave up and asked it again, and again, without an end"},
		{Name: "gives up, and hangs later", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing, and hangs much later"], Verdict: report.NotObserved,
			Message: "that the client gave up cannot be said: the session did not end in order: it was still running after 1m0s and was ended"},
		{Name: "dies", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing, and dies"], Verdict: report.NotObserved,
			Message: "that the client gave up cannot be said: the session did not end in order: a signal ended it: killed"},
		{Name: "no word", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing"], In: tracetest.InA, Verdict: report.Fail,
			Message: silent + ", and the client gave up without a word, so that the server waits for ever"},
		{Name: "no word, and its call cancelled", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing, having cancelled its call"], In: tracetest.InA, Verdict: report.Unsupported,
			Message: silent + ", and the client gave up its own call, to which the request belonged: let it wait longer for that than for the model"},
		{Name: "model not asked", Check: "time/model-stalls", CaseID: "stall-headers", Steps: said["nothing of the model"], Verdict: report.NotObserved,
			Message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},

		{Name: "whole", Check: "time/model-slow", CaseID: "slow", Steps: said["the whole"], Verdict: report.Pass, Message: "the whole of a slow stream arrived"},
		{Name: "cut", Check: "time/model-slow", CaseID: "slow", Steps: said["a part"], Verdict: report.Fail, Message: "the model was slow, and a part of its answer was passed off as the whole"},
		{Name: "given up on", Check: "time/model-slow", CaseID: "slow", Steps: gaveUp, Verdict: report.Fail,
			Message: "the client gave up on a stream that was slow and alive before the 1s had passed that it waits"},
		{Name: "given up on, on a busy machine", Check: "time/model-slow", CaseID: "slow", Verdict: report.Unsupported,
			Steps: func(s *tracetest.Story) {
				s.WaitsFor(time.Second, true, 0).Asks(tracetest.Asking("How was Rome built?")).Later(2*time.Second).Prompt(promptOf(s.Dialect), tracetest.HungUp).Refuses(-32603, "no answer").PassesBarrier()
			},
			Message: "the machine was too busy for a slow stream to come to its end within the client's 1s: declare a longer limit"},
		{Name: "given up on, unknown", Check: "time/model-slow", CaseID: "slow", Steps: func(s *tracetest.Story) {
			kept(false, 0, tracetest.HungUp)(s).Refuses(-32603, "no answer").PassesBarrier()
		}, Verdict: report.Unsupported,
			Message: "the client gave up on a stream that was slow and alive: where its limit is below the 1s that it was told, declare it (--client-timeout, conformance.ClientTimeout)"},
		{Name: "comes to nothing", Check: "time/model-slow", CaseID: "slow", Steps: said["an error, after the whole"], In: tracetest.InA, Verdict: report.Fail,
			Message: `the model was slow, and its whole answer came to nothing: request 1 was answered by the error "late" (code -32603)`},
		{Name: "dies", Check: "time/model-slow", CaseID: "slow", Steps: said["nothing, and dies"], Verdict: report.NotObserved,
			Message: "what became of a slow stream cannot be said: the session did not end in order: a signal ended it: killed"},
	})
}

// reports is the client's progress on a request.
func reports(s *tracetest.Story, token, value string) *tracetest.Story {
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":`+value+`}}`)
	return s
}

// asksFor is a sampling request with a progress token, "" for none.
func asksFor(s *tracetest.Story, token string) *tracetest.Story {
	ask, err := any(tracetest.Asking("How is it going?")), error(nil)
	if token != "" {
		ask, err = askingForProgress(ask, token)
	}
	require.NoError(s.T, err)
	return s.Asks(ask)
}

func TestWhatIsSaidOfProgress(t *testing.T) {
	good := tracetest.Saying("Well.")
	tellAll := func(during func(*tracetest.Story), after func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			asksFor(s, `"t"`)
			during(s)
			asksFor(asksFor(s.Answers(good), "").Answers(good), "")
			after(s)
			s.Answers(good).PassesBarrier()
		}
	}
	nothing := func(*tracetest.Story) {}
	const choice = "the client reports no progress, which is its choice"
	for _, check := range []string{"time/progress-token", "time/progress-rises", "time/progress-ends"} {
		tracetest.Run(t, catalogue, []tracetest.Test{{Name: "none", Check: check, CaseID: "progress", Steps: tellAll(nothing, nothing), In: tracetest.InA, Verdict: report.NotApplicable, Message: choice}})
	}
	rising := func(s *tracetest.Story) { reports(reports(reports(s, `"t"`, "0.5"), `"t"`, "1e0"), `"t"`, "2") }
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "right", Check: "time/progress-token", CaseID: "progress", Steps: tellAll(rising, nothing), In: tracetest.InA, Verdict: report.Pass, Message: "progress is reported under the tokens of the requests that asked for it"},
		{Name: "of nothing", Check: "time/progress-token", CaseID: "progress", Steps: tellAll(func(s *tracetest.Story) { reports(s, "1001", "1") }, nothing), In: tracetest.InA, Verdict: report.Fail, Message: "progress is reported under 1001, which is the token of no request"},
		{Name: "without a token", Check: "time/progress-token", CaseID: "progress", Steps: func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
			asksFor(s, "").Answers(good).PassesBarrier()
		}, In: tracetest.InA, Verdict: report.Fail, Message: "progress is reported without a token"},
		{Name: "twice without a token", Check: "time/progress-rises", CaseID: "progress", Steps: func(s *tracetest.Story) {
			asksFor(reports(asksFor(s, `"t"`), `"t"`, "1").Answers(good), "")
			for range 2 {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
			}
			s.Answers(good).PassesBarrier()
		}, In: tracetest.InA, Verdict: report.Pass, Message: "progress rises"},
		{Name: "of another type", Check: "time/progress-token", CaseID: "progress", Steps: func(s *tracetest.Story) { reports(asksFor(s, "7"), `"7"`, "1").Answers(good).PassesBarrier() }, In: tracetest.InA, Verdict: report.Fail, Message: `progress is reported under "7", which is the token of no request`},
		{Name: "before it was asked for", Check: "time/progress-token", CaseID: "progress", Steps: func(s *tracetest.Story) { asksFor(reports(s, "7", "1"), "7").Answers(good).PassesBarrier() }, In: tracetest.InA, Verdict: report.Fail, Message: `progress is reported under 7, which is the token of no request`},
		{Name: "right", Check: "time/progress-rises", CaseID: "progress", Steps: tellAll(rising, nothing), In: tracetest.InA, Verdict: report.Pass, Message: "progress rises"},
		{Name: "the same twice", Check: "time/progress-rises", CaseID: "progress", Steps: tellAll(func(s *tracetest.Story) { reports(reports(s, `"t"`, "1"), `"t"`, "1.0") }, nothing), In: tracetest.InA, Verdict: report.Fail, Message: "two reports of one request say the same progress"},
		{Name: "falls, or was overtaken", Check: "time/progress-rises", CaseID: "progress", Steps: tellAll(func(s *tracetest.Story) { reports(reports(s, `"t"`, "2"), `"t"`, "1") }, nothing), In: tracetest.InA, Verdict: report.Warn, Message: "the progress of a request falls, unless the reports overtook one another on their way"},
		{Name: "falls, over stdio", Check: "time/progress-rises", CaseID: "progress", Steps: func(s *tracetest.Story) {
			s.Trace.Header.Transport = trace.Stdio
			tellAll(func(s *tracetest.Story) { reports(reports(s, `"t"`, "2"), `"t"`, "1") }, nothing)(s)
		}, In: tracetest.InA, Verdict: report.Fail, Message: "the progress of a request falls"},
		{Name: "no number", Check: "time/progress-rises", CaseID: "progress", Steps: tellAll(func(s *tracetest.Story) { reports(s, `"t"`, `"half"`) }, nothing), In: tracetest.InA, Verdict: report.Fail, Message: "a report's progress is no number"},
		{Name: "right", Check: "time/progress-ends", CaseID: "progress", Steps: tellAll(rising, nothing), In: tracetest.InA, Verdict: report.Pass, Message: "no progress is reported after the answer"},
		{Name: "overtaken by the answer", Check: "time/progress-ends", CaseID: "progress", Steps: func(s *tracetest.Story) {
			reports(asksFor(reports(asksFor(s, "7").Answers(good), "7", "1"), ""), "7", "2").Answers(good).PassesBarrier()
		}, In: tracetest.InA, Verdict: report.Pass, Message: "no progress is reported after the answer"},
		{Name: "after the end", Check: "time/progress-ends", CaseID: "progress", Steps: tellAll(rising, func(s *tracetest.Story) { reports(s, `"t"`, "3") }), In: tracetest.InA, Verdict: report.Fail, Message: "progress was reported on a request that had been answered"},
		{Name: "unsettled", Check: "time/progress-ends", CaseID: "progress", Steps: func(s *tracetest.Story) { reports(asksFor(s, "7"), "7", "1").Answers(good) }, In: tracetest.InA, Verdict: report.Unsupported, Message: "that no more progress is reported cannot be said: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet"},
	})
}

// pings is the server's ping, and pongs the client's answer.
func pings(s *tracetest.Story) *tracetest.Story {
	s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	return s
}

func TestWhatIsSaidOfAPing(t *testing.T) {
	good := tracetest.Saying("Nothing.")
	ask := func(s *tracetest.Story) *tracetest.Story {
		return s.Asks(tracetest.Asking("What takes so long?")).Prompts(tracetest.Asking("What takes so long?"))
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "answered", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Pass, Message: "a ping was answered while a sampling request waited",
			Steps: func(s *tracetest.Story) { pings(ask(s)).Responds("99", `"result":{}`).Answers(good).PassesBarrier() }},
		{Name: "answered late", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Fail, Message: "a ping was answered only after the sampling request that came before it",
			Steps: func(s *tracetest.Story) { pings(ask(s)).Answers(good).Responds("99", `"result":{}`).PassesBarrier() }},
		{Name: "too late to be of use", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Unsupported,
			Message: "the sampling request was answered before the server could ping: it takes a client that asks the model, and calls each tool once",
			Steps:   func(s *tracetest.Story) { pings(ask(s).Answers(good)).Responds("99", `"result":{}`).PassesBarrier() }},
		{Name: "refused", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Fail, Message: `a ping was answered with the error "what?" (code -32601)`,
			Steps: func(s *tracetest.Story) {
				pings(ask(s)).Responds("99", `"error":{"code":-32601,"message":"what?"}`).Answers(good).PassesBarrier()
			}},
		{Name: "answered under another id", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Fail, Message: "the answer to a ping has not the id that the ping has",
			Steps: func(s *tracetest.Story) { pings(ask(s)).Responds(`"99"`, `"result":{}`).Answers(good).PassesBarrier() }},
		{Name: "answered with a word", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Fail, Message: "a ping was answered, and the result is no object",
			Steps: func(s *tracetest.Story) {
				pings(ask(s)).Responds("99", `"result":"pong"`).Answers(good).PassesBarrier()
			}},
		{Name: "answered with more than nothing", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Warn, Message: "a ping was answered with a result that is not empty",
			Steps: func(s *tracetest.Story) {
				pings(ask(s)).Responds("99", `"result":{"pong":true}`).Answers(good).PassesBarrier()
			}},
		{Name: "answered with _meta", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Pass, Message: "a ping was answered while a sampling request waited",
			Steps: func(s *tracetest.Story) {
				pings(ask(s)).Responds("99", `"result":{"_meta":{}}`).Answers(good).PassesBarrier()
			}},
		{Name: "not answered", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.Fail, Message: "a ping was not answered while a sampling request waited",
			Steps: func(s *tracetest.Story) { pings(ask(s)).Answers(good).PassesBarrier() }},
		{Name: "unsettled", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.NotObserved, Message: "that the ping stays without an answer cannot be said: the session did not end in order: a signal ended it: killed",
			Steps: func(s *tracetest.Story) { pings(ask(s)).Ends(trace.Process{Signal: "killed"}) }},
		{Name: "not sent", Check: "time/alive-while-sampling", CaseID: "ping", In: tracetest.InA, Verdict: report.NotObserved, Message: "the server did not get as far as a ping: no answer came for request 1; a signal ended it: killed",
			Steps: func(s *tracetest.Story) { ask(s).Ends(trace.Process{Signal: "killed"}) }},
	})
}

func TestWhatIsSaidOfTheClientsOwnTokens(t *testing.T) {
	// request is one of the client's, with a token; response the server's answer to it.
	requestFor := func(s *tracetest.Story, caseID string, id int, token string) {
		meta := s.Meta()
		if meta == "" {
			meta = `"_meta":{"progressToken":` + token + `},`
		} else {
			meta = `"_meta":{"progressToken":` + token + "," + meta[len(`"_meta":{`):]
		}
		s.Frame(caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s"cursor":"x"}}`, id, meta))
	}
	request := func(s *tracetest.Story, id int, token string) { requestFor(s, "", id, token) }
	response := func(s *tracetest.Story, id int) {
		s.Frame("", trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[]}}`, id))
	}
	tell := func(f func(s *tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			f(s)
			s.Asks(tracetest.Asking("How is it going?")).Answers(tracetest.Saying("Well.")).PassesBarrier()
		}
	}
	both := func(a, b string) func(*tracetest.Story) {
		return tell(func(s *tracetest.Story) { request(s, 20, a); request(s, 21, b); response(s, 20); response(s, 21) })
	}
	inTurn := tell(func(s *tracetest.Story) {
		request(s, 20, `"t"`)
		response(s, 20)
		request(s, 21, `"t"`)
		response(s, 21)
	})
	cancelled := tell(func(s *tracetest.Story) {
		request(s, 20, `"t"`)
		request(s, 21, `"t"`)
		s.GivesUp("20")
		response(s, 21)
	})
	cancelledOther := tell(func(s *tracetest.Story) {
		request(s, 20, `"t"`)
		s.GivesUp("19")
		request(s, 21, `"t"`)
		response(s, 21)
	})
	closed := tell(func(s *tracetest.Story) {
		requestFor(s, s.CaseID, 20, `"t"`)
		request(s, 21, `"t"`)
		s.Closes()
		response(s, 21)
	})
	closedOther := tell(func(s *tracetest.Story) { request(s, 20, `"t"`); s.Closes(); request(s, 21, `"t"`); response(s, 21) })
	const fits, own = "the client's progress tokens are strings or integers", "requests that are in progress together have tokens of their own"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "none", Check: "time/token-shape", CaseID: "progress", Steps: tell(func(*tracetest.Story) {}), Verdict: report.NotApplicable, Message: "the client asks for no progress"},
		{Name: "none", Check: "time/token-unique", CaseID: "progress", Steps: tell(func(*tracetest.Story) {}), Verdict: report.NotApplicable, Message: "the client asks for no progress"},
		{Name: "of both types", Check: "time/token-shape", CaseID: "progress", Steps: both(`"1"`, `1`), Verdict: report.Pass, Message: fits},
		{Name: "of both types", Check: "time/token-unique", CaseID: "progress", Steps: both(`"1"`, `1`), Verdict: report.Pass, Message: own},
		{Name: "an integer in another notation", Check: "time/token-shape", CaseID: "progress", Steps: both(`1.0`, `2e3`), Verdict: report.Pass, Message: fits},
		{Name: "a fraction", Check: "time/token-shape", CaseID: "progress", Steps: both(`1`, `1.5`), Verdict: report.Fail, Message: "a progress token is neither a string nor an integer"},
		{Name: "null", Check: "time/token-shape", CaseID: "progress", Steps: both(`1`, `null`), Verdict: report.Fail, Message: "a progress token is neither a string nor an integer"},
		{Name: "an object", Check: "time/token-shape", CaseID: "progress", Steps: both(`1`, `{}`), Verdict: report.Fail, Message: "a progress token is neither a string nor an integer"},
		{Name: "the same at once", Check: "time/token-unique", CaseID: "progress", Steps: both(`"t"`, `"t"`), Verdict: report.Fail, Message: "two requests that are in progress have one progress token"},
		{Name: "the same in turn", Check: "time/token-unique", CaseID: "progress", Steps: inTurn, Verdict: report.NotApplicable, Message: "the client's requests with a progress token are never in progress together"},
		{Name: "the same again, and then a cancel", Check: "time/token-unique", CaseID: "progress", Steps: cancelled, Verdict: report.NotApplicable, Message: "the client's requests with a progress token are never in progress together"},
		{Name: "the same again, and then the end of the stream", Check: "time/token-unique", CaseID: "progress", Steps: closed, Verdict: report.NotApplicable, Message: "the client's requests with a progress token are never in progress together"},
		{Name: "the same again beside a cancel of another", Check: "time/token-unique", CaseID: "progress", Steps: cancelledOther, Verdict: report.Fail, Message: "two requests that are in progress have one progress token"},
		{Name: "the same again beside the end of another stream", Check: "time/token-unique", CaseID: "progress", Steps: closedOther, Verdict: report.Fail, Message: "two requests that are in progress have one progress token"},
	})
}

// says is a piece of the model's answer, before the client hung up.
func says(s *tracetest.Story, text string) *tracetest.Story {
	end := s.Trace.Events[len(s.Trace.Events)-1]
	s.Trace.Events = s.Trace.Events[:len(s.Trace.Events)-1]
	s.Seq[s.CaseID]--
	s.Add(s.CaseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.Models, Data: trace.Bytes(text)}})
	s.Add(s.CaseID, trace.Event{End: end.End})
	return s
}
