// Package cassettes records what a program asks a model, and what that answers, to files, and plays it back: to Go programs and tests as a
// transport, to programs in any language as a proxy, and to a model server in place of its script.
//
//	client := &http.Client{Transport: cassettes.Open(t, "my-agent")}     // testdata/cassettes/my-agent.yaml, in a test
//	proxy := cassettes.NewProxy(t, "my-agent")                           // the same for a program that the test starts
//	model, err := cassettes.Replay()                                     // all recordings that come with the project
//	srv, err := llm.Start(llm.Options{Source: model})                    // a server that answers from them
//
// What is asked of the provider, and what is recorded, is the [Mode]'s to say, in the program or by [ModeVariable] from outside.
//
// The files are plain YAML of go-vcr v4 (format version 2), which go-vcr loads too. Two comments are added: where the recording comes
// from, "origin: scripted" or "origin: recorded", and at the end how many interactions there are, so that a file that was cut short
// is not taken for a shorter one. Beside a recording of a real provider stands NAME.timing.json: when each piece of an answer came, and who
// cut it short. Credentials, and what looks like one, are taken out before anything is written, also where a stream says them in pieces.
//
// # What is the same request
//
// A recorded request is found by its dialect (for an address that is of none: method, path and query; for Gemini also the model and method)
// and by its body, as JSON: the order of members and the way in which a number is written do not count, every digit of it does. What a
// client makes up for itself does not count either:
//
//   - ids of tool calls, as long as a call's result has the id of the call, and of items of OpenAI's responses. They count by their order.
//   - how a call's arguments are written, where the dialect carries them as text that is JSON
//   - user, safety_identifier, prompt_cache_key and metadata (OpenAI); metadata (Anthropic); labels (Gemini); keep_alive (Ollama); _meta and
//     metadata (native)
//   - what stands between the parts of an upload (multipart/form-data), and whether a body is zipped
//   - what a secret was that was taken out of one of the two: eight bytes and more, whatever they are
//
// All else counts, headers excepted. Also stream_options does: with include_usage the stream has a chunk without choices, which a client
// that did not ask for it need not bear.
//
// Where equal requests were recorded they are answered in the order of the recording, and the last one goes on answering. What is
// not found is an error that names the nearest interaction and the first difference; SDKs do not try it again.
//
// # Streams
//
// A stream reaches who asked as it comes, recorded or not. It is played back piece by piece, at once or with [Paced] at the pace that it had;
// where no timing is known, event by event. One that was cut short, by the caller or by the provider, breaks off where it did. A request
// that failed without an answer is not recorded: such faults are scripted, with fakes/llm.
package cassettes
