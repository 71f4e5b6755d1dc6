// Package hooks has the options of a conformance.Suite that only the command mcp-conform and our own tests set.
package hooks

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// DefaultExplore is how many conversations a run plays in each revision if nothing else is asked for.
const DefaultExplore = 4

// Options are embedded in a suite.
type Options struct {
	// Source answers requests to the model in place of the scenarios' scripts; nil for the scripts.
	Source llm.Source
	// Direct are the results of the same client without the gateway that Client is: what fails there, too, is not counted.
	// Nil for no gateway.
	Direct *report.Results
	// Tool is the version of the program, for the report.
	Tool string
	// Contained plays the hostile cases in place of Client (see [harness.Runner]); nil for Client.
	Contained *harness.Client
	// Watchdog limits the real time of a session in virtual time; 0 for a minute.
	Watchdog time.Duration
	// Reproduce returns the command that reproduces a result: it plays the result's case, or the whole run without one.
	// Nil returns none.
	Reproduce func(r *report.Result) string
	// Progress is called as [harness.Runner] says, for all revisions; nil for no call.
	Progress func(harness.Progress)
	// Checkpoint is called during Run when sessions have ended, with the results so far, marked as interrupted, and the
	// traces in the order in which their sessions ended. The first of them are those of the previous call. It is called by
	// one goroutine, and not after Run has returned. conformance.Suite.Play calls it without results. Nil for no call.
	Checkpoint func(*report.Results, []*trace.Trace)
	// Conversation is the path of a file in Keep: only that is played, in its revision. "" for none.
	Conversation string
	// Shard is the part of the sessions that Play plays, from 1 to Shards; 0 for all.
	Shard, Shards int
	// ReproduceFile returns the command that plays a file in Keep, for the report; nil for none.
	ReproduceFile func(path string) string
}
