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
//	an error               Fail(&Error{Status: 429, Message: "slow down", Header: RetryAfter(3)})
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
//	an answer held back    Gate.Hold, until the test has done what it wants done meanwhile
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
// The journal is bounded: see [Options]. Requests a second at 16 connections, with a request of 1 KB, eight chunks when streamed, and
// matching, strict checks and journal on, beside a handler of net/http that sends the same bytes. They are medians of three runs of 20,000
// on two cores that were not idle, and vary by a fifth from run to run:
//
//	           handler    fake
//	plain      29,500     14,800    50 %
//	streamed   18,500     11,300    61 %
//
// After 100,000 requests the served process has 32 MB resident; it starts in 17 ms, which includes reading its script.
//
// To repeat it: go test ./fakes/llm -run '^$' -bench Requests -count 5
package llm
