package client

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// Validate checks the params of a sampling request against the schema of the revision, and its tool uses against its
// tool results (2025-11-25, client/sampling#message-content-constraints). It also refuses what the schema allows and no
// model accepts, such as a maxTokens below 1. Members that a client may ignore are not checked. The error is the first
// fault, with its path.
func Validate(revision server.Revision, params map[string]any) error {
	if faults := validity.Check(string(revision), params); len(faults) > 0 {
		return &faults[0]
	}
	return nil
}
