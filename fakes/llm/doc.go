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
// # Compatible servers
//
// Servers with their own variant of OpenAI's format have their own base URLs in [Server.BaseURLs]: mistral, openrouter,
// groq, xai, xai-responses, and index-from-one, which counts tool calls from 1. All others, such as DeepSeek, Together,
// vLLM and gateways, have the base URL compatible, also for Responses. Rules see them as the dialects openai-chat and
// openai-responses. [Thinking] reaches the caller in the member that each server has for it; [WithoutDone] ends a
// stream without [DONE].
//
// # Speed
//
// The journal is bounded: see [Options]. A benchmark compares the fake, with matching, strict checks and journal, with
// a net/http handler that sends the same bytes, and with aimock 1.43 on Node.js: 16 connections, requests of 1 KB,
// eight events when streamed. Requests per second on two quiet cores, which also run the benchmark's client:
//
//	           handler     fake   aimock
//	plain       49,000   31,000   15,000
//	streamed    26,500   26,000   11,500
//
// The command that serves a script was ready after 20 to 40 ms, with 37 MB of memory after 100,000 requests. To repeat
// the measurements:
//
//	go test ./fakes/llm -run '^$' -bench Requests -benchtime 30x
//	go test ./cmd/mcp-conform -run '^$' -bench Serve -benchtime 3x
package llm
