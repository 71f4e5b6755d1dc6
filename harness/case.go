package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Case is one tool of the server, its handler, and what the model answers.
type Case struct {
	// ID is scenario and case, such as "parallel/two-cities".
	ID string
	// Handler runs when the client calls the case's tool.
	Handler server.Handler
	// Script returns the model's rules for the case's conversations, which have the mark. Nil for a case that does not
	// ask the model.
	Script func(mark string) []*llm.Rule
	// Tools are further tools of the server, for a client that runs the tool loop itself. Their names are unique in the
	// catalogue.
	Tools []server.Tool
	// ClientLoop is for cases that are played only if the client runs the tool loop itself, as the others show.
	ClientLoop bool
	// HostTurns are what the model of a host says, one turn after the other, once the host has called the case's tool: its
	// mistakes. Tools have their names on the server. Such a case is played only for hosts ([Client.Agent]). It must be
	// Isolated: the host may end there. Nil for other cases.
	HostTurns [][]llm.Block
	// Make replaces Handler, Script and Tools: it makes them anew for each session. It is for a case in which they have
	// something in common, such as an [llm.Gate], or need the client's limits; else nil.
	Make func(Limits) Stage
	// Expect is what the checks of the case compare with, beside its input. The harness does not read it. Nil for nothing.
	Expect any
	// Abandon asks the client to abandon its call of the tool, see [Env.Abandon].
	Abandon bool
	// Revisions are those in which the case exists; nil for all.
	Revisions []server.Revision
	// Declare holds the client capabilities to declare, as JSON; nil for sampling with tools. Cases with different ones
	// do not share a session.
	Declare json.RawMessage
	// Decision is [Env.Decision]; "" for [Approve]. Cases with different ones do not share a session.
	Decision string
	// Name is the name of the tool, prompt or resource; "" for one derived from the ID.
	Name string
	// Arguments are those of the call of the tool, a JSON object; nil for {}. A client may ignore them: see
	// [Env.Arguments].
	Arguments json.RawMessage
	// Carrier is the request that starts the case; "" for a call of its tool. [server.PromptsGet] and
	// [server.ResourcesRead] need a client that supports [Env.Prompts] and [Env.Resources]; others may ignore them.
	Carrier server.Carrier
	// ResponseMode is how the server responds over HTTP to calls of the tool; [server.Auto] for its default.
	ResponseMode server.ResponseMode
	// ToolsPerPage is [server.Options.ToolsPerPage]; 0 for all on one page. The case must be Isolated. Its Tools are then
	// on the pages before its own tool.
	ToolsPerPage int
	// Stdio is for cases about a server that the client launches: over HTTP they need no session of their own.
	Stdio bool
	// ServerRevisions are the server's in this case, in place of the run's; nil for that one. The client then has to
	// negotiate ([Env.Revision] is ""), and only the case's own checks apply. The case must be Isolated.
	ServerRevisions []server.Revision
	// ListVersionsToModern is [server.Options.ListVersionsToModern] of that server.
	ListVersionsToModern bool
	// AnswerDiscover is [server.Options.AnswerDiscover] of that server.
	AnswerDiscover bool
	// Isolated cases get a session of their own, because they may break it for others.
	Isolated bool
	// Hostile cases send what may crash a client. They share sessions among themselves, if possible in a process of
	// its own ([Runner.Contained]). If such a session ends before its barrier, further sessions find the case at fault.
	Hostile bool
	// Wait is how long the case waits by design. Its client has that much more time, in a session of its own that does
	// not count as one of the parallel ones. 0 for none.
	Wait time.Duration
	// Lingers is for cases that wait some seconds for clients that do not do what they should. They share sessions among
	// themselves, which do not count as parallel ones, but for those in virtual time.
	Lingers bool
	// Timed is for cases whose model is slow, relative to the client's limit. They get a session like those with Wait.
	Timed Timing
	// Barrier asks for a plain sample as the last tool of the session, under [BarrierID]. What was not seen when it was
	// answered, and the session had ended in order, did not happen.
	Barrier bool
}

// Stage is what [Case.Make] makes.
type Stage struct {
	Handler server.Handler
	Rules   []*llm.Rule
	Tools   []server.Tool // [Case.Tools]
	// Settled waits until the rest of the case is over after its call has ended for the client; nil for none. The
	// session's barrier waits for it, so that nothing of the case follows the barrier.
	Settled func(context.Context)
}

// stage makes the case's stage. Without scripted, the rules stay empty: the model has a source of its own.
func (c *Case) stage(limits Limits, scripted bool) Stage {
	stage := Stage{Handler: c.Handler, Tools: c.Tools}
	switch {
	case c.Make != nil:
		stage = c.Make(limits)
	case c.Script != nil && scripted:
		stage.Rules = c.Script(c.Mark())
	}
	if !scripted {
		stage.Rules = nil
	}
	return stage
}

// stages makes the stages of a session's cases, in order. The barrier's waits for the others to settle.
func stages(cases []Case, limits Limits, scripted bool) []Stage {
	all := make([]Stage, len(cases))
	for i := range cases {
		all[i] = cases[i].stage(limits, scripted)
	}
	for i := range cases {
		if cases[i].ID != BarrierID {
			continue
		}
		handler := all[i].Handler
		all[i].Handler = func(s *server.Session) (any, error) {
			for _, other := range all {
				if other.Settled != nil {
					other.Settled(s.Context())
				}
			}
			return handler(s)
		}
	}
	return all
}

// BarrierID is the ID of the case that the harness adds to sessions with a [Case.Barrier]. It has no scenario.
const BarrierID = "barrier"

// barrier asks for one sample. If it may not, because the client does not declare sampling or its user declines, it
// returns without one: that the call came, and got a result, is then the barrier.
var barrier = Case{
	ID: BarrierID,
	Handler: func(s *server.Session) (any, error) {
		_, err := s.Sample(s.Ask("Are you still there?"))
		if errors.Is(err, server.ErrUndeclared) {
			return "not asked, since sampling is not declared", nil
		}
		return "done", err
	},
	Script: func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply(llm.Text("Still here."))} },
}

// withBarrier adds the barrier to the cases of a session if one of them asks for it.
func withBarrier(cases []Case) []Case {
	if !slices.ContainsFunc(cases, func(c Case) bool { return c.Barrier }) {
		return cases
	}
	last := barrier
	last.Declare, last.Decision = cases[0].Declare, cases[0].Decision
	if cmp.Or(last.Decision, Approve) != Approve {
		last.Handler = func(*server.Session) (any, error) { return "not asked, since the user declines", nil }
	}
	return append(slices.Clip(cases), last)
}

// Tool is the name of the case's tool: Name, or the ID in the characters that model providers accept.
func (c *Case) Tool() string { return cmp.Or(c.Name, strings.ReplaceAll(c.ID, "/", "-")) }

const defaultDeclare = `{"sampling":{"tools":{}}}`

func (c *Case) declare() string { return cmp.Or(string(c.Declare), defaultDeclare) }

func (c *Case) waiting() bool { return c.Wait > 0 || c.Timed != Untimed }

// Mark is the word that identifies the case's conversations on the model's wire. It depends only on the ID, so that a
// recorded conversation fits every run.
func (c *Case) Mark() string {
	sum := sha256.Sum256([]byte(c.ID))
	return "mk" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}
