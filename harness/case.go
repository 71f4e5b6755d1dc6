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

// Case is one thing that the client is asked to do: one tool of the server, one play, and what the model says to it.
type Case struct {
	// ID is scenario and case, such as "parallel/two-cities".
	ID string
	// Play is what happens when the client calls the case's tool.
	Handler server.Handler
	// Script returns the model's rules for the case's conversations. The mark is the word by which the model knows them. Nil where the
	// model is not to be asked.
	Script func(mark string) []*llm.Rule
	// Make makes the play and the model's rules anew for each session, in place of Play and Script, for a case in which the two share
	// something, such as an [llm.Gate], or know how long the client waits; nil where they do not.
	Make func(Limits) Stage
	// Expect is what the checks of the case compare with, beside its input. The harness does not read it. Nil for nothing.
	Expect any
	// GiveUp asks the client to give up its call of the tool: see [Env.GiveUp].
	GiveUp bool
	// Revisions are those in which there is something to play; nil for all.
	Revisions []server.Revision
	// Declare are the capabilities that the client is asked to declare, as JSON; nil for sampling with tools. Cases that ask for
	// different ones are played in different sessions.
	Declare json.RawMessage
	// Decision is what the person decides who is asked, [Env.Decision]; "" for [Approve]. Cases with different ones are played in different
	// sessions.
	Decision string
	// Name is the name of the tool, or of the prompt or resource, that starts the case; "" for one that is made of the ID.
	Name string
	// Carrier is the request by which the client starts the play: "" for a call of the case's tool. Others, [server.PromptsGet] and
	// [server.ResourcesRead], are made by those clients that heed [Env.Prompts] and [Env.Resources], and there is nothing wrong with one
	// that does not.
	Carrier server.Carrier
	// Responses says how calls of the case's tool are answered over HTTP; [server.Auto] for what the server does otherwise.
	Responses server.Responses
	// Stdio is for cases about a server that the client launches: over HTTP they play something else, and need no session of their own.
	Stdio bool
	// Speaks are the revisions that the server of the case's session speaks, in place of the one of the run; nil for that one. The client is then left to
	// find out ([Env.Revision] is ""), and may be of no use to such a server: nothing that it does not do is held against it but by the case's
	// own checks. The case has to be Isolated.
	Speaks []server.Revision
	// TellsVersions is [server.Options.TellsVersions] of that server.
	TellsVersions bool
	// Isolated cases get a session of their own, because they may wreck it for others.
	Isolated bool
	// Hostile cases send what may crash a client. They share sessions among themselves, in a process of its own where there is one: see
	// [Runner.Contained]. Where a session of theirs ends before its barrier was passed, which case is to blame is found in others.
	Hostile bool
	// Wait is how long the case waits by design: its client is given as much time more, in a session of its own, which does not count
	// among those that run at once. 0 for a case that gets on with it.
	Wait time.Duration
	// Timed is for cases whose model takes its time, by the client's limits: as with Wait, in a session of its own, which has the time for it.
	Timed Timing
	// Barrier asks for a plain sample as the last tool of the case's session, under [BarrierID]: what was not seen by the time it was
	// answered, and the session had ended in order, did not happen.
	Barrier bool
}

// Stage is what a [Case.Make] makes.
type Stage struct {
	Handler server.Handler
	Rules   []*llm.Rule
	// Settled waits until what is left of the case, once its call is over for the client, has come to rest; nil for nothing. The session's
	// barrier waits for it, so that what comes after the barrier was answered has nothing to do with the case.
	Settled func(context.Context)
}

// stage is that of any case. The rules are left to the model's own source, where it has one.
func (c *Case) stage(limits Limits, scripted bool) Stage {
	st := Stage{Handler: c.Handler}
	switch {
	case c.Make != nil:
		st = c.Make(limits)
	case c.Script != nil && scripted:
		st.Rules = c.Script(c.Mark())
	}
	if !scripted {
		st.Rules = nil
	}
	return st
}

// stages are those of the cases of one session, in order. The barrier's waits for the others to settle.
func stages(cases []Case, limits Limits, scripted bool) []Stage {
	all := make([]Stage, len(cases))
	for i := range cases {
		all[i] = cases[i].stage(limits, scripted)
	}
	for i := range cases {
		if cases[i].ID != BarrierID {
			continue
		}
		play := all[i].Handler
		all[i].Handler = func(s *server.Session) (any, error) {
			for _, other := range all {
				if other.Settled != nil {
					other.Settled(s.Context())
				}
			}
			return play(s)
		}
	}
	return all
}

// BarrierID is the ID of the case that the harness adds to sessions with a [Case.Barrier]. It belongs to no scenario.
const BarrierID = "barrier"

// barrier asks the client for one sample. One that may not be asked, because it declares no sampling or its person declines, has its call
// answered all the same: that it came, and was served, is then the barrier.
var barrier = Case{
	ID: BarrierID,
	Handler: func(s *server.Session) (any, error) {
		_, err := s.Sample(s.Ask("Are you still there?"))
		if errors.Is(err, server.ErrUndeclared) {
			return "not asked, since sampling is not declared", nil
		}
		return "done", err
	},
	Script: func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text("Still here."))) },
}

// withBarrier adds the barrier behind the cases of a session of which one asks for it.
func withBarrier(cases []Case) []Case {
	if !slices.ContainsFunc(cases, func(c Case) bool { return c.Barrier }) {
		return cases
	}
	last := barrier
	last.Declare, last.Decision = cases[0].Declare, cases[0].Decision
	if cmp.Or(last.Decision, Approve) != Approve {
		last.Handler = func(*server.Session) (any, error) { return "not asked, since the person declines", nil }
	}
	return append(slices.Clip(cases), last)
}

// Tool is the name of the tool that starts the case: where it has no other, its ID in the characters that model providers take.
func (c *Case) Tool() string { return cmp.Or(c.Name, strings.ReplaceAll(c.ID, "/", "-")) }

// declared are the capabilities that clients are asked to declare when a case says nothing else.
const declared = `{"sampling":{"tools":{}}}`

// waiting reports whether the case waits by design.
func (c *Case) waiting() bool { return c.Wait > 0 || c.Timed != Untimed }

func (c *Case) declare() string { return cmp.Or(string(c.Declare), declared) }

// Mark is the word that tells the case's conversations apart on the model's wire. It depends on nothing but the ID, so
// that a recorded conversation can be replayed in any run.
func (c *Case) Mark() string {
	sum := sha256.Sum256([]byte(c.ID))
	return "mk" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}
