// Package malformed judges what a client does with sampling requests that are malformed, or valid and senseless. Each
// case sends one, between plain questions that show whether the client still answers. The wrong requests are a table
// (malformations.go) and a corpus of frames that are generated from a seed.
package malformed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// MalformedID is the ID of the scenario.
const MalformedID = "malformed"

// Scenario holds the cases and checks of this chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        MalformedID,
	Purpose:   "malformed requests: no crash, no hang, and an error where one is due",
	Revisions: server.AllRevisions(),
	Cases:     slices.Concat(malformedCases(), corpus()),
	Checks: []check.Check{
		survives, answered, alive, errorDue, wrongTypes, errorCode, noModelCall, badSchema, tolerated,
	},
},
	story.Again([]string{"system-role", "null-message", "null-content", "content-string", "missing-max-tokens",
		"wrong-max-tokens", "tool-bad-schema", "negative-max-tokens"}, story.AfterImage, story.AfterFailure),
)

// longWait is how much longer the harness waits for the client after the long string: a slow reader does not hang.
const longWait = 20 * time.Second

// malformedCases are the cases of [malformations].
func malformedCases() []harness.Case {
	var cases []harness.Case
	for _, m := range Malformations {
		c := HostileCase(m.ID, func(s *server.Session) (json.RawMessage, bool, error) {
			return m.params(s.Ask("Which colour is the sky?")), m.base.hasTools(), nil
		})
		c.Expect = check.Refusal{What: "a request in which " + m.Says, Path: m.at, Index: 1,
			Codes: []int{evidence.CodeInvalidParams, evidence.CodeInvalidRequest}, Unanswered: MalformedID + "/answered"}
		if m.base.hasTools() {
			c.Revisions = check.WithTools
		}
		if m.ID == longString {
			c.Wait = longWait
		}
		cases = append(cases, c)
	}
	return cases
}

// CorpusSize is how many frames of CorpusSeed every run plays.
const (
	CorpusSize = 24
	CorpusSeed = 1
)

// corpus are the cases of the generated frames that every run plays. The frames depend on the revision.
func corpus() []harness.Case {
	var cases []harness.Case
	for n := range CorpusSize {
		cases = append(cases, Generated(fmt.Sprintf("corpus-%02d", n+1), CorpusSeed, n))
	}
	return cases
}

// Generated is the case of the nth frame of a seed, from 0.
func Generated(name string, seed int64, n int) harness.Case {
	frame := func(r server.Revision) malformed.Frame { return malformed.Generate(string(r), seed, n) }
	c := HostileCase(name, func(s *server.Session) (json.RawMessage, bool, error) {
		f := frame(s.Revision())
		return Addressed(f.Params, name), f.Tools, nil
	})
	c.Expect = frameOf(frame)
	return c
}

// frameOf returns the generated frame of a case, as its Expect.
type frameOf func(server.Revision) malformed.Frame

// Addressed returns the params with the conversation of the case in place of the frame's placeholder.
func Addressed(params json.RawMessage, name string) json.RawMessage {
	c := harness.Case{ID: MalformedID + "/" + name}
	return bytes.ReplaceAll(params, []byte(malformed.MarkPlaceholder), []byte(c.Mark()+"n0"))
}

// HostileCase is a case that asks a plain question, then a wrong request, which may need tools, then a plain question
// again. In 2026-07-28 a client that refuses never retries the call: the next plain question is that of the next case.
func HostileCase(name string, request func(*server.Session) (params json.RawMessage, tools bool, err error),
) harness.Case {
	stage := func(harness.Limits) harness.Stage {
		var late lateness
		handler := func(s *server.Session) (any, error) {
			if _, err := s.Sample(s.Ask("Are you there?")); err != nil {
				return nil, err
			}
			params, tools, err := request(s)
			switch {
			case err != nil:
				return nil, err
			case tools && !s.Declares("sampling", "tools"):
				return s.Sample(s.Ask("What is the weather like?", story.GetWeather)) // withheld, as the trace shows
			case s.Revision().Modern():
				return s.Sample(params, server.Hostile())
			case len(params) > longest:
				if _, err := s.Sample(params, server.Hostile()); err != nil && !server.Refused(err) {
					return nil, err
				}
				return s.Sample(s.Ask("Are you still there?"))
			}
			wrong, err := s.Start(params, server.Hostile())
			if err != nil {
				return nil, err
			}
			inTime := story.WaitFor(patience, wrong.Done(), nil)
			result, err := s.Sample(s.Ask("Are you still there?"))
			if err == nil && !inTime && !story.WaitFor(patience/4, wrong.Done(), nil) {
				late.wait()
			}
			return result, err
		}
		return harness.Stage{Handler: handler, Rules: story.Says("As you like.")(""), Settled: late.settled}
	}
	return harness.Case{ID: MalformedID + "/" + name, Hostile: true, Barrier: true, Make: stage}
}

// patience is how long the server waits for a response before it asks the next question. Some clients never respond to
// what they cannot read. A response that comes later, while the session lasts, counts all the same: the barrier waits
// for it.
const patience = 200 * time.Millisecond

// lateness is until when the barrier waits for late responses. The time counts from the end of each handler, so that
// many requests without a response take no longer than the last of them.
type lateness struct {
	mu    sync.Mutex
	until time.Time // zero if nothing is late
}

func (l *lateness) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(story.Reaction)
}

// settled lets the time pass: after the handler has ended, only the trace shows a response.
func (l *lateness) settled(ctx context.Context) {
	l.mu.Lock()
	left := time.Until(l.until)
	l.mu.Unlock()
	story.WaitFor(left, ctx.Done(), nil)
}
