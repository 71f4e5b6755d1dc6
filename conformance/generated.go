package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/explore"
	chapter "github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/conversation"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// ConversationError is the error for an invalid file in [Suite].Conversation.
type ConversationError struct{ Err error }

func (e *ConversationError) Error() string { return fmt.Sprintf("reading the conversation: %v", e.Err) }
func (e *ConversationError) Unwrap() error { return e.Err }

// Prefixes and names of the generated cases.
const (
	fuzzCase  = chapter.MalformedID + "/fuzz-"
	keptName  = "conversation"
	shrinking = "shrinking-"
)

// generated are the cases of a run that are not in the catalogue, by revision.
type generated func(server.Revision) []harness.Case

// generated returns the cases of Fuzz and Explore, or only that of Conversation.
func (s *Suite) generated() (generated, error) {
	if s.Conversation != "" {
		return s.onlyConversation()
	}
	return func(revision server.Revision) []harness.Case {
		var cases []harness.Case
		for n := range s.explored() {
			cases = append(cases, explore.Case(fmt.Sprint(n+1), func() *conversation.Conversation {
				return conversation.Generate(string(revision), s.Seed, n)
			}))
		}
		for n := range s.Fuzz {
			cases = append(cases, chapter.Generated(fmt.Sprintf("fuzz-%04d", n+1), s.Seed, chapter.CorpusSize+n))
		}
		return cases
	}, nil
}

// explored returns the number of conversations. No cassette answers those.
func (s *Suite) explored() int {
	switch {
	case s.Source != nil:
		return 0
	case s.Explore == 0:
		return hooks.DefaultExplore
	}
	return max(s.Explore, 0)
}

// onlyConversation makes the run one of the kept conversation alone.
func (s *Suite) onlyConversation() (generated, error) {
	c, err := conversation.Open(s.Conversation)
	if err != nil {
		return nil, &ConversationError{err}
	}
	revision := server.Revision(c.Revision)
	if !slices.Contains(server.AllRevisions(), revision) {
		return nil, &ConversationError{fmt.Errorf("%s: unknown revision %q: use one of %v", s.Conversation,
			c.Revision, server.AllRevisions())}
	}
	one, err := caseOf(c, keptName)
	if err != nil {
		return nil, &ConversationError{fmt.Errorf("%s: %w", s.Conversation, err)}
	}
	s.Revisions, s.Only, s.Skip, s.Keep = []server.Revision{revision}, []string{one.ID}, nil, ""
	return func(server.Revision) []harness.Case { return []harness.Case{one} }, nil
}

// caseOf returns the case that plays a conversation: of scenario malformed if it is hostile, else of scenario explore.
// It returns an error if the conversation is invalid.
func caseOf(c *conversation.Conversation, name string) (harness.Case, error) {
	if err := c.Validate(); err != nil {
		return harness.Case{}, err
	}
	if !c.Hostile() {
		return explore.Case(name, func() *conversation.Conversation { return c }), nil
	}
	f, err := malformed.NewFrame(c.Steps[0][0].Params)
	return chapter.HostileCase(name, func(*server.Session) (json.RawMessage, bool, error) {
		return chapter.Addressed(f.Params, name), f.Tools, nil
	}), err
}

// withGenerated adds the malformed requests of traces that are not in the catalogue to the scenarios. Conversations
// need no place there: only the rules of every case judge them.
func withGenerated(scenarios check.Catalogue, traces []*trace.Trace) check.Catalogue {
	i := slices.IndexFunc(scenarios, func(s check.Scenario) bool { return s.ID == chapter.MalformedID })
	known := map[string]bool{}
	for _, c := range scenarios[i].Cases {
		known[c.ID] = true
	}
	for _, t := range traces {
		for _, c := range t.Header.Cases {
			kept := c.ID == chapter.MalformedID+"/"+keptName || strings.HasPrefix(c.ID, fuzzCase) ||
				strings.HasPrefix(c.ID, chapter.MalformedID+"/"+shrinking)
			if kept && !known[c.ID] {
				known[c.ID] = true
				scenarios[i].Cases = append(slices.Clip(scenarios[i].Cases), harness.Case{ID: c.ID})
			}
		}
	}
	return scenarios
}
