package story

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// refused matches the characters of tool names that some provider refuses.
var refused = regexp.MustCompile(`[^A-Za-z0-9]+`)

// IsNameOf reports whether a client may give the model another name for a tool: with the server before it, and with
// other characters in place of those that the provider refuses.
func IsNameOf(got, want string) bool {
	got, want = refused.ReplaceAllString(got, "_"), refused.ReplaceAllString(want, "_")
	bare := strings.TrimPrefix(want, "_")
	return got != "" && (got == want || bare != "" && strings.HasSuffix(got, "_"+bare))
}

// Offered returns the name under which the request offers a tool of the server; "" if it does not offer the tool.
func Offered(r *llm.Request, name string) string {
	for _, is := range []func(string) bool{
		func(got string) bool { return got == name },
		func(got string) bool { return IsNameOf(got, name) },
	} {
		if i := slices.IndexFunc(r.Tools, func(t dialect.Tool) bool { return is(t.Name) }); i >= 0 {
			return r.Tools[i].Name
		}
	}
	return ""
}

// Offers matches a request that offers a tool of the server, under any name that a client may give it.
func Offers(name string) llm.Matcher {
	return llm.MatcherFunc(func(r *llm.Request) error {
		if Offered(r, name) == "" {
			return fmt.Errorf("the tools offered are %s, expected %s among them", Names(r.Tools), name)
		}
		return nil
	})
}

// Answers returns the content of a reply for [llm.Rule.ReplyTo]: the blocks, in which each tool use has the name under
// which the request offers its tool. A tool that is not offered keeps its name.
func Answers(blocks ...llm.Block) func(*llm.Request) []llm.Block {
	return func(r *llm.Request) []llm.Block {
		answer := slices.Clone(blocks)
		for i := range answer {
			if b := &answer[i]; b.Type == dialect.ToolUse {
				if name := Offered(r, b.Name); name != "" {
					b.Name = name
				}
			}
		}
		return answer
	}
}

// WithResults matches a request whose last user turn has tool results. A script finds the rounds of a loop by what the
// server sent last, and not by their number: a client may put messages of its own before the conversation.
func WithResults() llm.Matcher {
	return llm.MatcherFunc(func(r *llm.Request) error {
		if len(dialect.Blocks(r.LastUserTurn(), dialect.ToolResult)) == 0 {
			return errors.New("the last user turn has no tool results")
		}
		return nil
	})
}
