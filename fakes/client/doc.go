// Package client is a correct MCP client for tests of servers that sample: it calls the server's tools, and a function
// answers the sampling requests.
//
//	c := client.New(t, client.Options{
//		Handler:  server,
//		Sampling: client.Script(t, client.ToolUse("lookup", `{"q":"capital"}`), client.Text("Paris.")),
//	})
//	result, err := c.CallTool(t.Context(), "quiz", nil)
//	asked := c.Samples() // what the server asked for
//
// It speaks 2025-03-26, 2025-06-18 and 2025-11-25, in which the server sends sampling requests within a session, and
// 2026-07-28, in which a result asks for input and the client retries with it. It speaks Streamable HTTP and stdio.
//
// What belongs here is the client's half of the protocol, done right. The package knows no model: [client/model] has
// handlers that ask models of several providers. It has no switches for mistakes: a test that needs one edits messages
// in Options.HTTP or Options.Launch, or replaces another of the [Options].
//
// The files: new, answers, connect and call are the API; inprocess reaches servers in memory; negotiate finds the
// revision; session, stream and listen are the older revisions over HTTP, stateless and mrtr the newest, stdio the pipe
// of both; sampling, validate and history decide about a sampling request; loop and loop_calls run the tool loop in
// place of the server ([Loop]); tasks, cancel and progress go with it.
//
// [client/model]: https://pkg.go.dev/github.com/mcp-conform/mcp-conform/fakes/client/model
package client
