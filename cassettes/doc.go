// Package cassettes records conversations with a model in files and replays them: to Go programs as a transport, to
// programs in any language as a proxy, and to a model server in place of a script. It holds the file format, the
// matching of requests, and the removal of secrets.
//
//	client := &http.Client{Transport: cassettes.Open(t, "my-agent")}     // in a test: testdata/cassettes/my-agent.yaml
//	proxy := cassettes.NewProxy(t, "my-agent")                           // the same for a program that the test starts
//	model, err := cassettes.Replay("testdata/cassettes/my-agent.yaml")
//	srv, err := llm.Start(llm.Options{Source: model})                    // a model server that answers from them
//
// The [Mode] says what is sent to the provider and what is recorded. The program sets it, or [ModeVariable].
//
// Files are YAML of go-vcr v4 (format version 2), which go-vcr can load. Two comments are added: the origin
// ("scripted" or "recorded") and at the end the number of interactions, so that a truncated file is an error. Beside a
// recording of a real provider, NAME.timing.json says when each piece of an answer arrived and who cut it short.
// Credentials, and texts that look like one, are removed before a file is written, even if a stream holds them in
// pieces.
//
// # Which requests are equal
//
// A request is found by its dialect (otherwise by method, path and query; for Gemini also by model and method) and by
// its JSON body. Member order and the notation of numbers do not matter; every digit does. These values are ignored,
// because clients generate them:
//
//   - ids of tool calls and of OpenAI's response items, compared by order; a result must have the id of its call
//   - the notation of a call's arguments, if the dialect carries them as JSON text
//   - user, safety_identifier, prompt_cache_key and metadata (OpenAI); metadata (Anthropic); labels (Gemini);
//     keep_alive (Ollama); _meta and metadata (native)
//   - the boundary of an upload (multipart/form-data), and gzip
//   - the value of a removed secret, if it has eight bytes or more
//
// Headers are ignored. Everything else matters, including stream_options: include_usage adds a chunk without choices,
// which some clients do not tolerate. For a program that varies more there are [Ignore] for members, [Normalize] for
// texts such as dates and folders, and [WithMatcher].
//
// Equal requests are answered in recorded order; the last answer repeats. A request that is not found is an error that
// names the nearest interaction and the first difference. SDKs do not retry it.
//
// # Streams
//
// A stream reaches the caller as it arrives. Its replay has the recorded pieces, or one event at a time if the timing
// is unknown; [Paced] adds the recorded pace. A stream that was cut short breaks off at the same place. A request that
// failed without an answer is not recorded: script such faults with fakes/llm.
package cassettes
