// Package cassettes records traffic with a model to files and plays it back: in place of a script of [llm.Server], and to Go tests.
//
//	model, err := cassettes.Replay()                                     // all recordings that come with the project
//	srv, err := llm.Start(llm.Options{Source: model})                    // a server that answers from them
//	client := &http.Client{Transport: cassettes.Open(t, "my-agent")}     // testdata/cassettes/my-agent.yaml, in a test
//	rec, err := cassettes.Record(file, http.DefaultTransport, cassettes.Recorded)
//
// The files are plain YAML of go-vcr v4 (format version 2), which go-vcr loads too. Two comments are added: where the recording comes
// from, "origin: scripted" or "origin: recorded", and at the end how many interactions there are, so that a file that was cut short
// is not taken for a shorter one. Credentials are taken out before anything is written.
//
// # What is the same request
//
// A recorded request is found by its dialect (for an address that is of none: method, path and query) and by its body, as JSON: the
// order of members and the way in which a number is written do not count, every digit of it does. What a client makes up for
// itself does not count either:
//
//   - ids of tool calls, as long as a call's result has the id of the call. They count by their order.
//   - how a call's arguments are written, where the dialect carries them as text that is JSON
//   - user, safety_identifier, prompt_cache_key and metadata (openai-chat); _meta and metadata (native)
//
// All else counts, headers excepted. Also stream_options does: with include_usage the stream has a chunk without choices, which a client
// that did not ask for it need not bear.
//
// Where equal requests were recorded they are answered in the order of the recording, and the last one goes on answering. What is
// not found is an error that names the nearest interaction and the first difference; SDKs do not try it again.
//
// A stream is played back event by event, at once: the pace of the recording is not kept. A request that failed without an answer, such as a
// dropped connection, is not recorded: such faults are scripted, with fakes/llm.
package cassettes
