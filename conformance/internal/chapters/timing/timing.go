// Package timing is the chapter time: it judges what a client does while it waits. The model stalls, or is slow
// (slow_model.go). Meanwhile the server pings the client (ping.go) and asks for its progress (progress.go). The
// client's own progress tokens are judged in client_tokens.go.
package timing

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "time",
	Purpose:   "a model that keeps the client waiting, and a server that asks how it is going",
	Revisions: check.WithTools,
	Cases:     []harness.Case{stallHeaders, stallMidstream, slow, drip, pinged, progress},
	Checks: []check.Check{
		modelStalls, streamStalls, modelSlow, totalLimit, aliveWhileSampling, progressEnds,
	},
},
	story.Again([]string{"stall-headers", "stall-midstream", "slow", "drip", "ping", "progress"},
		story.ToolsOffered, story.SecondRound, story.AfterImage),
)
