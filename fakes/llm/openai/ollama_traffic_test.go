package openai

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// ollamaDeviations are members that only Ollama's endpoint for OpenAI clients has, or only our codec, with reasons.
var ollamaDeviations = map[string]string{
	"choices.delta.reasoning": "it streams its models' thinking, which this script does not have",
	"system_fingerprint":      "it has a constant one",
}

// ollamaKinds are known differences in the kinds of chunks, theirs and ours, with reasons.
var ollamaKinds = map[string]struct{ ours, reason string }{
	"delta role content|delta content|delta content opens|delta finish|usage|[DONE]": {"delta role content|delta opens|" +
		"delta arguments|delta finish|usage|[DONE]",
		"it thinks first, and then has a call in one piece, with its arguments"},
}

func TestCompatibleResemblesOllamasOpenAIEndpoint(t *testing.T) {
	all := sharedtest.Needed(t, "ollama-openai")
	unseen := maps.Clone(ollamaDeviations)
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			req := decode(t, r.Request)
			require.Nil(t, Compatible.Check(req))
			if r.Status != 200 {
				ours := Compatible.EncodeError(&dialect.Error{Status: r.Status, Message: "m"})
				require.Equal(t, keys(t, r.Answer), keys(t, string(join(ours))))
				return
			}
			theirs := shape(t, r.Answer)
			codectest.Reads(t, Compatible, r.Answer, theirs.reply())
			ours := shape(t, string(join(Compatible.Encode(req, theirs.reply()))))
			kinds := strings.Join(theirs.kinds, "|")
			if d, deviates := ollamaKinds[kinds]; deviates {
				kinds = d.ours
			}
			require.Equal(t, kinds, strings.Join(ours.kinds, "|"))
			require.Equal(t, theirs.text, ours.text)
			require.Equal(t, theirs.names, ours.names)
			require.Equal(t, theirs.arguments, ours.arguments)
			require.Equal(t, theirs.finish, ours.finish)
			a, b := everyMember(theirs), everyMember(ours)
			for _, m := range append(lacking(a, b), lacking(b, a)...) {
				require.Contains(t, ollamaDeviations, m)
				delete(unseen, m)
			}
		})
	}
	require.Empty(t, unseen, "deviations that no recording shows")
}

// everyMember returns the members of all chunks.
func everyMember(s *shaped) []string {
	all := slices.Concat(slices.Collect(maps.Values(s.members))...)
	slices.Sort(all)
	return slices.Compact(all)
}
