package client

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// neverUsed says how far a client came that was not served.
func neverUsed(s *evidence.Session) string {
	if s.OverStdio() && s.Connections == 0 {
		return "the client never launched the server"
	}
	if s.OverStdio() {
		return "the client launched the server and never got as far as using it"
	}
	return "the client never got as far as using the server"
}
