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
package llm
