// Package harness runs a client under test against cases and returns a [trace.Trace] of what it saw.
//
// A client is a function or a command ([InProcess], [Command], [CommandStdio]); after the start both are treated
// alike. Each session is one client with a fake MCP server and a fake model of its own. It offers the client every
// case as one tool of the server.
//
// Here belong how a client is started, what it is given, how long it may take, which cases share a session, and how
// everything ends. Rules about clients do not: the harness plays and records, and judges nothing.
package harness
