// Package llm is a scripted model server for tests. It answers in the wire formats of real providers, by rules that a
// test writes. Rules, matching, delivery faults, the journal and the HTTP server belong here; each wire format is a
// codec in a package of its own.
//
//	srv := llm.New(t,
//		llm.When(llm.LastUser("weather")).Reply(
//			llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
//		llm.When(llm.ToolResults(2)).Reply(llm.Text("Paris 18°C, London 15°C")),
//	)
//	client := openai.NewClient(option.WithBaseURL(srv.OpenAI()), …)
//	…
//	llm.AssertConversation(t, &srv.Requests()[1], "user: weather?", `assistant uses get_weather {"city":"Paris"}`, …)
//
// The server is as strict as the provider: it refuses an invalid history with the provider's own error shape. If no
// rule matches a request, the error names the nearest rule and the first difference. SDKs do not retry it.
//
// One server can run many conversations at once. [Server.Script] gives each its own rules and a mark: a word in its
// requests that identifies the conversation. [Server.Journal] holds every request; programs in other languages read it
// at [JournalPath]. Side requests, such as model lists, are answered without rules and have Exchange.SideRequest set.
//
// # Faults
//
// Some faults are in the reply:
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
//	interleaved calls      Reply(Call("t", `{"a":1}`), Call("u", `{"b":2}`)).Stream(Interleaved)
//	cookies, accounts      Reply(Text("a")).Header(h).Account("org-1")
//	an error               Fail(&Error{Status: 429, Message: "slow down", Header: RetryAfter(3)})
//	a delayed answer       Hold(gate), until the test opens the [Gate]
//
// Others are in its delivery, set by [Rule.Fault]:
//
//	a stall                StallBeforeHeaders, StallAfter
//	a lost connection      ResetBeforeHeaders, ResetAfter
//	half an answer         TruncateAfter, TruncateInside
//	an error in mid-stream ErrorAfter
//	odd chunks             SplitEveryByte, SplitAtRandom, Drip
//	another content type   WrongContentType
//	a slow answer          Spread, PauseBefore, PauseAfter
//
// A matcher selects the turn: When(Turn(2)). [Pace] slows a complete answer. All waits use the clock of package time,
// so they are virtual in a testing/synctest bubble, which requests reach through [Server.Client]. They end when the
// caller hangs up or the server closes; journal and trace record which.
//
// The base URLs of compatible servers, such as Groq's, are in [Server.BaseURLs]; docs/dialects.md of the module says
// what is special in each, and docs/fakes.md how fast the fake is.
package llm
