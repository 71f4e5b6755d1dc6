// Package llm is a scripted model server: it answers on the wire formats of real providers, from rules that a test writes.
//
//	srv := llm.New(t,
//		llm.When(llm.LastUser("weather")).Reply(
//			llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
//		llm.When(llm.ToolResults(2)).Reply(llm.Text("Paris 18°C, London 15°C")),
//	)
//	client := openai.NewClient(option.WithBaseURL(srv.OpenAI()), …)
//
// It is as strict as the provider: a history that the provider refuses is refused, in the provider's own shape. A request that
// no rule matches gets an error that names the nearest rule and the first difference, and that SDKs do not retry.
//
// One server may play many conversations at once: [Server.Script] gives each its rules, and a mark, a word that
// stands in its requests, to tell it apart. [Server.Journal] has everything that was seen; programs in other languages find it at
// [JournalPath]. What hosts ask beside the conversation, such as lists of models, is answered without any rule, and has Exchange.Aside.
//
// # Faults
//
// What a rule says need not be right, and how it is delivered need not be either. Some faults are said:
//
//	malformed arguments    Reply(Call("t", `{"half`))
//	stop beside calls      Reply(Call("t", `{}`)).StopReason(EndTurn)
//	duplicate ids          Reply(CallID("c", "t", `{}`), CallID("c", "u", `{}`))
//	a tool not offered     Reply(Call("nobody_offers_this", `{}`))
//	an empty completion    Reply()
//	a refusal              Reply(Text("I can't")).StopReason(StopRefusal)
//	a content filter       Reply(Text("So")).StopReason(StopContentFilter)
//	a giant answer         Reply(Text(strings.Repeat("x", 50<<20)))
//	a late tool delta      Reply(Call("t", `{"a":1}`)).LateUse()
//	cookies, accounts      Reply(Text("a")).Header(h).Account("org-1")
//	an error               Fail(&Error{Status: 429, Message: "slow down", Header: RetryAfter(3)})
//	an answer held back    Hold(gate), until the test has done what it wants done meanwhile: see [Gate]
//
// and others are done to the answer on its way, with [Rule.Fault]:
//
//	a stall                StallBeforeHeaders, StallAfter
//	a lost connection      ResetBeforeHeaders, ResetAfter
//	half an answer         TruncateAfter, TruncateInside
//	an error in mid-stream ErrorAfter
//	odd chunks             SplitEveryByte, SplitAtRandom, Drip
//	another content type   WrongContentType
//	a slow answer          Spread, PauseBefore, PauseAfter
//
// Conditions say at which turn: When(Turn(2)). [Pace] slows an answer that is whole. All waits are on the clock of package time, and so on
// the virtual one in a testing/synctest bubble; they end when the caller hangs up or the server closes, and journal and trace tell which.
//
// # Compatible servers
//
// Servers that speak OpenAI's format in ways of their own have a base each, by the name that [Server.Bases] has for it: mistral,
// openrouter, groq, xai, and index-from-one, which counts tool calls from 1. Rules see them as the dialect openai-chat.
//
// # Speed
//
// The journal is bounded: see [Options]. A benchmark asks the fake, with matching, strict checks and journal on, and a handler of net/http
// that sends the same bytes, in turns: over 16 connections, with a request of 1 KB, and eight chunks when streamed. It reports medians. These
// are of thirty turns of 3,000 requests on two cores with which other work had several times as much to do; the processor's time that a request
// takes, in which that counts for less, was in a ratio of 76 to 83 % plain and 80 to 84 % streamed:
//
//	           handler/s    fake/s    ratio of a turn
//	plain       9,600        6,500    74 %
//	streamed    4,700        3,900    80 %
//
// Another starts the command that serves a script, asks it 100,000 times, and reports how long it took until it had said where it was, and how
// much memory the process has then: 20 to 40 ms, on the same busy machine, and 37 MB. The command as it is built, without what tests need, had 35 MB.
//
// To repeat them:
//
//	go test ./fakes/llm -run '^$' -bench Requests -benchtime 30x
//	go test ./cmd/mcp-conform -run '^$' -bench Serve -benchtime 3x
package llm
