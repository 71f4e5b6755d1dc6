// Package server is a scripted MCP server for tests of clients. Its tools run plays, and a play asks the client to sample:
//
//	srv := server.New(t, server.Tool{
//		Name: "summarise",
//		Play: func(s *server.Session) (any, error) {
//			return s.Sample(s.Ask("Summarise: the cat sat on the mat."))
//		},
//	})
//	// connect the client to srv.URL and have it call the tool
//
// A play does not know the era it runs in. Where the client speaks 2025-11-25 or older, [Session.Sample] sends a
// sampling/createMessage request; where it speaks 2026-07-28, the same call answers the pending tools/call with an
// InputRequiredResult and goes on when the client's retry brings the answer.
//
// Over Streamable HTTP a play may also try the transport itself: its stream can be closed and come back for ([Session.Resumable],
// [Session.Disconnect]), a request can go out on the client's GET stream ([OnGET]), under an id that is taken ([UnderCallID]) or twice
// ([Session.Repeat]), events can be written in every legal way ([Session.Style]), and the session can end ([Session.EndSession]).
//
// The wire is the package's own and byte-exact: what a play sends arrives as it is, hostile frames included, and what the client
// sends is recorded as it came, before anything is made of it. Two things differ between the eras and are no
// secret to a play that cares: several samples at once go through [Session.SampleAll] (in 2026-07-28 they share one round), and a
// client that fails in 2026-07-28 sends nothing at all, so that the play waits until the server is closed.
package server
