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
// stands in its requests, to tell it apart. [Server.Journal] has everything that was seen.
package llm
