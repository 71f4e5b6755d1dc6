package reference

import "github.com/mcp-conform/mcp-conform/fakes/server"

// batchFaults are the ways in which a client can be broken that gets a batch (2025-03-26).
type batchFaults struct {
	unknown   bool // takes it for no message
	skipped   bool // what is no message is nothing to it
	deadly    bool // what is no message is its end
	firstOnly bool
}

var in20250326 = []server.Revision{server.V20250326}

var stdioMutants = []Mutant{
	{Name: "logs-on-the-pipe", Doc: "writes log lines onto the pipe to the server", Kills: []string{"client/only-messages", "transport/stdio"}, Stdio: true,
		broken: faults{logsOnThePipe: true}},
	{Name: "fears-stderr", Doc: "ends its connection when the server writes to standard error", Kills: []string{"transport/stderr", "client/ends-cleanly"},
		Stdio: true, Wire: true, broken: faults{pipes: pipeFaults{fearsStderr: true}}},
	{Name: "waits-for-a-dead-server", Doc: "waits for ever for the answer of a server that has ended", Kills: []string{"transport/pipe-ends", "client/ends-cleanly"},
		Also: []string{"transport/restarts"}, Stdio: true, Wire: true, broken: faults{pipes: pipeFaults{waitsForEver: true}}},
	{Name: "crashes-with-its-server", Doc: "crashes when its server ends", Kills: []string{"transport/pipe-ends", "client/ends-cleanly"},
		Also: []string{"transport/restarts"}, Stdio: true, Wire: true, broken: faults{pipes: pipeFaults{crashes: true}}},
	{Name: "never-restarts", Doc: "ends with its server, in a revision in which it can be started again", Kills: []string{"transport/restarts"},
		Stdio: true, Wire: true, Era: "modern", broken: faults{pipes: pipeFaults{neverRestarts: true}}},
	{Name: "kills-its-server", Doc: "kills its server when it needs it no more", Kills: []string{"transport/shuts-down"},
		Stdio: true, Wire: true, broken: faults{pipes: pipeFaults{kills: true}}},
	{Name: "skips-batches", Doc: "takes a batch for nothing", Kills: []string{"transport/batch"}, Wire: true, In: in20250326,
		broken: faults{batches: batchFaults{unknown: true, skipped: true}}},
	{Name: "first-of-a-batch", Doc: "answers the first request of a batch, and no other", Kills: []string{"transport/batch"}, Wire: true, In: in20250326,
		broken: faults{batches: batchFaults{firstOnly: true}}},
	{Name: "dies-of-batches", Doc: "ends its call over a batch", Kills: []string{"transport/batch", "client/ends-cleanly"}, Wire: true, In: in20250326,
		broken: faults{batches: batchFaults{unknown: true, deadly: true}}},
}

var versionMutants = []Mutant{
	{Name: "insists-on-its-version", Doc: "speaks its newest version to a server that says it has others", Kills: []string{"transport/version-listed"},
		Wire: true, Era: "modern", broken: faults{versions: versionFaults{insists: true}}},
	{Name: "old-version-in-meta", Doc: "puts a version of the older era, which the server lists, into requests of the newer", Kills: []string{"transport/version-listed"},
		Wire: true, Era: "modern", broken: faults{versions: versionFaults{inMeta: true}}},
	{Name: "keeps-its-version", Doc: "goes on in the version that it asked for, whatever the server answered", Kills: []string{"transport/version-listed"},
		Wire: true, Era: "legacy", broken: faults{versions: versionFaults{keepsFirst: true}}},
	{Name: "waits-for-its-version", Doc: "does not come to an end with a server that does not speak its version", Kills: []string{"transport/other-version"},
		Wire: true, Era: "modern", broken: faults{versions: versionFaults{asksOn: true}}},
}
