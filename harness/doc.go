// Package harness starts a client under test, plays cases against it, and returns what was seen as a [trace.Trace].
//
// A client is a function or a command ([InProcess], [Command]); after the start the two are treated alike. Each session is
// one client with a fake MCP server and a fake model of its own, and offers the client every case as one tool of the server.
// The harness plays and records; it knows nothing of checks, and judges nothing.
package harness
