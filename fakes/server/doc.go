// Package server is a scripted MCP server that tests MCP clients. Each tool has a [Handler], which runs when the client
// calls the tool and asks the client to sample:
//
//	srv := server.New(t, server.Tool{
//		Name: "summarise",
//		Handler: func(s *server.Session) (any, error) {
//			answer, err := server.As[server.Answer](s.Sample(s.Ask("Summarise: the cat sat on the mat.")))
//			return answer.Text(), err
//		},
//	})
//	// connect the client to srv.URL and let it call the tool
//
// The test fails if a tool is never called, unless it is [Tool.Optional]. [Server.Journal] has the calls with their
// arguments, samples and results; [NewWith] takes options.
//
// A handler works with every protocol revision. Up to 2025-11-25, the legacy revisions, [Session.Sample] sends a
// sampling/createMessage request. In 2026-07-28, a modern revision, the same call answers the pending tools/call with
// an InputRequiredResult, and returns the response that the client's retry brings. Two differences remain:
// [Session.SampleAll] puts concurrent samples into one modern round, and a modern client that fails sends nothing, so
// that the handler waits until the server is closed.
//
// Options change how a request is sent: on the client's GET stream ([OnGETStream]), under an id of the handler's choice
// ([WithID]), or although it breaks the protocol ([Hostile]). [Session.Start] sends one without waiting for its
// response. With [Session.Transport], a handler tests the transport itself: it resumes a closed stream, writes events
// in every legal way, or ends the session.
//
// The package owns its wire, byte for byte. A frame goes out as the handler wrote it, including invalid ones that are
// marked [Hostile], and a client's frame is recorded before it is parsed.
//
// The package holds what a server does on the wire and records it. Judging the client belongs to conformance, and a
// fake of the model's side to fakes/llm.
package server
