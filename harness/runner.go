package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// defaultTraceLimit is the default of [Runner.TraceLimit].
const defaultTraceLimit = 32 << 20

const (
	// mostLarge limits all payloads of more than 1 MiB of a run. The longest message of a case has 6 MiB.
	mostLarge = 64 << 20
	// largestBody limits what a client may send at once.
	largestBody = 12 << 20
)

// Runner plays cases against a client, in one revision.
type Runner struct {
	Client Client
	// Revision is the server's.
	Revision server.Revision
	// Seed determines session ids and request states.
	Seed int64
	// Timeout is how long one session, with all its cases, may take from the client's first message; until that message
	// there is as much time. 0 for [DefaultTimeout]. A client that makes progress gets up to four times as long, and a
	// tenth of Timeout for each sampling request. On a busy machine time counts less.
	Timeout time.Duration
	// CaseTimeout is how long a session of one case may take, besides its [Case.Wait]. 0 for [DefaultCaseTimeout], or
	// Timeout if that is less, or a third of it if that is more. A client that makes progress gets more time, as in
	// Timeout, unless the model is slow by design.
	CaseTimeout time.Duration
	// ClientTimeout is how long the client is known to wait for the model. It receives the limit, and must keep it. 0
	// for an unknown limit: the client then receives one of ours, and need not keep it ([Limits]).
	ClientTimeout time.Duration
	// Loop says who runs the tool loop; "" if the trace has to tell.
	Loop Loop
	// Slots has room for as many sessions as may run at once, besides those of cases that wait or linger, in all runners
	// that share it. Nil for one.
	Slots chan struct{}
	// Foreign reports whether the client tried only another revision in a session. If it did in the first one, which the
	// others wait for, they are not played, and one trace without a client says so ([trace.MarkNotPlayed]). Nil if it
	// never does.
	Foreign func(*trace.Trace) bool
	// Contained plays the hostile cases, so that a crash ends another process: see [Contain]. Nil for Client.
	Contained *Client
	// TraceLimit is how many bytes of one session are kept; 0 for 32 MiB. A longer session is not judged.
	TraceLimit int64
	// Tool is the version of the program, for the trace.
	Tool string
	// Dialect is the only model wire format that the client receives, such as "anthropic", or a server compatible with
	// OpenAI, such as "mistral"; "" for all.
	Dialect string
	// Source answers the model's requests in place of the scripts: a cassette. Nil for the scripts.
	Source llm.Source
	// Bubble runs a function in virtual time, for clients that can ([Client.InBubble]): under go test
	//
	//	func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	//
	// Nil for real time.
	Bubble func(func())
	// Watchdog is how long, in real time, a session in virtual time may have no event. Its client is then taken to wait
	// for something outside the bubble, which no timeout inside reaches. 0 for a minute.
	Watchdog time.Duration

	// Shard is the part of the sessions to play, from 1 to Shards. The sessions of all shards are those of a whole run. 0
	// for all.
	Shard, Shards int
	// Progress is called when a session begins, calls a tool, and ends; nil for no call. Sessions call it concurrently.
	Progress func(Progress)
	// Ended is called with the trace of each session soon after its end. Sessions call it concurrently. Nil for no call.
	Ended func(*trace.Trace)

	counts *counts // of a Run; nil outside
}

type counts struct {
	cases    int
	sessions atomic.Int64
	pace     atomic.Int64 // see [deadline]
	large    atomic.Int64 // bytes left of mostLarge
	hangs    hangs
}

// Run plays the cases, in as few sessions as they allow, and passes a trace of each session to done, in the order of
// their first cases.
//
// If a session dies, hangs or ends early, each case that it left unfinished runs again in a session of its own, and the
// first trace says so ([trace.Case.Replayed]). Of hostile cases all run again if the session died before its barrier:
// the case in which it died alone, those before it together, and those after it together. Cases also run again, the
// first alone and the others together, if the client stopped serving sampling requests in the middle of a session
// ([trace.Case.UnservedAfter]). If three sessions of one case in a row make no progress, or three of cases that wait
// end without a message of the client, the other cases are not played, and a trace without a client says why
// ([trace.MarkNotPlayed]).
//
// The error is a [CommandError], an error of the harness, or, after the end of ctx, that of ctx; done has then received
// what was recorded.
func (r *Runner) Run(ctx context.Context, cases []Case, done func(*trace.Trace)) error {
	if err := r.Client.check(); err != nil {
		return err
	}
	if r.Dialect != "" && !slices.Contains(dialects.Names(), r.Dialect) {
		return fmt.Errorf("unknown dialect %q: use one of %s", r.Dialect, strings.Join(dialects.Names(), ", "))
	}
	counting := *r
	counting.counts = &counts{cases: len(cases)}
	r = &counting
	r.counts.large.Store(mostLarge)
	if r.Slots == nil {
		r.Slots = make(chan struct{}, 1)
	}
	run := &run{Runner: r, ctx: ctx, starting: make(chan struct{}, (cap(r.Slots)+1)/2),
		lingers: make(chan struct{}, mostWaiting)}
	played, errs := run.omit(cases, done), []error(nil)
	for _, s := range run.all(r.share(batches(played, r.Client.stdio))) {
		if s.trace != nil {
			done(s.trace)
		}
		errs = append(errs, s.err)
	}
	return errors.Join(append(errs, ctx.Err())...)
}

func (r *Runner) share(sessions []batch) []batch {
	if r.Shards == 0 {
		return sessions
	}
	var own []batch
	for i := r.Shard - 1; i < len(sessions); i += r.Shards {
		own = append(own, sessions[i])
	}
	return own
}

// client is the one that plays a case, and those in its session.
func (r *Runner) client(c *Case) *Client {
	if c.Hostile && r.Contained != nil {
		return r.Contained
	}
	return &r.Client
}

func (r *Runner) inVirtualTime(c *Case) bool { return r.Bubble != nil && r.client(c).InBubble() }
