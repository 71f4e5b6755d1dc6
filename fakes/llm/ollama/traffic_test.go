package ollama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// deviations are known differences from recordings, with reasons.
var deviations = []struct {
	recording, member string // a member's path, or "" for the order of lines
	reason            string
}{
	{"prism__ollama__generate-text-with-multiple-tools-1.json", "message.tool_calls.function.index",
		"that version counted calls only where it read them one after the other, in a stream; we count them in both"},
	{"prism__ollama__stream-with-tools-3.sse", "",
		"where tools are offered Ollama may hold text back, as it could become a call, until the last line; ours comes in " +
			"pieces before that"},
}

// deviates reports whether a difference is known, and marks it as seen.
func deviates(recording, member string, unseen map[string]bool) bool {
	for _, d := range deviations {
		if d.recording == recording && d.member == member {
			delete(unseen, recording+member)
			return true
		}
	}
	return false
}

func TestCodecImitatesRecordedTraffic(t *testing.T) {
	all := sharedtest.Needed(t, "ollama")
	unseen := map[string]bool{}
	for _, d := range deviations {
		require.NotEmpty(t, d.reason)
		unseen[d.recording+d.member] = true
	}
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			theirs := shape(t, r.Answer)
			codectest.Reads(t, Chat, r.Answer, theirs.reply())
			asked := r.Request
			if asked == "" {
				asked = body(user, fmt.Sprintf(`,"stream":%t`, strings.Contains(r.Name, "stream")))
			}
			req := decode(t, asked)
			require.Nil(t, Chat.Check(req))
			// The recordings predate call ids.
			req.Model += ":" + NoIDs
			a := Chat.Encode(req, theirs.reply())
			if r.ContentType != "" {
				require.Equal(t, r.ContentType, a.Header.Get("Content-Type"))
			}
			ours := shape(t, string(join(a)))
			if deviates(r.Name, "", unseen) {
				require.NotEqual(t, theirs.kinds, ours.kinds, "the deviation is none")
				return
			}
			require.Equal(t, theirs.kinds, ours.kinds)
			for kind, members := range theirs.members {
				for _, m := range symmetric(members, ours.members[kind]) {
					require.True(t, deviates(r.Name, m, unseen), "%s: member %s", kind, m)
				}
			}
			theirs.kinds, ours.kinds, theirs.members, ours.members = nil, nil, nil, nil
			require.Equal(t, theirs, ours)
		})
	}
	require.Empty(t, unseen, "deviations that no recording shows")
}

func symmetric(a, b []string) []string {
	var only []string
	for _, m := range slices.Concat(a, b) {
		if slices.Contains(a, m) != slices.Contains(b, m) {
			only = append(only, m)
		}
	}
	return only
}

// shaped is the structure of an answer.
type shaped struct {
	kinds                  []string            // of its lines; repeats except calls count once
	members                map[string][]string // by kind: every member's path
	text, thinking, reason string
	calls                  []string
}

// reply returns the scripted reply with the same content.
func (s *shaped) reply() *dialect.Reply {
	reply := &dialect.Reply{}
	if s.thinking != "" {
		reply.Content = append(reply.Content, dialect.Block{Type: dialect.Thinking, Text: s.thinking})
	}
	if s.text != "" {
		reply.Content = append(reply.Content, says(s.text))
	}
	for _, c := range s.calls {
		name, arguments, _ := strings.Cut(c, " ")
		reply.Content = append(reply.Content, asks(name, arguments))
	}
	return reply
}

func shape(t *testing.T, text string) *shaped {
	t.Helper()
	s := &shaped{members: map[string][]string{}}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var r response
		require.NoError(t, json.Unmarshal([]byte(line), &r), "%q", line)
		kind := "line"
		if r.Message.Content != "" {
			kind += " with content"
		}
		if r.Message.Thinking != "" {
			kind += " with thinking"
		}
		for range r.Message.ToolCalls {
			kind += " with a call"
		}
		if r.Done {
			kind += ", done"
			s.reason = r.DoneReason
		}
		if len(s.kinds) == 0 || s.kinds[len(s.kinds)-1] != kind || r.Message.ToolCalls != nil {
			s.kinds = append(s.kinds, kind)
		}
		s.text += r.Message.Content
		s.thinking += r.Message.Thinking
		for _, c := range r.Message.ToolCalls {
			s.calls = append(s.calls, c.Function.Name+" "+string(c.Function.Arguments))
		}
		s.members[kind] = append(s.members[kind], members(t, line)...)
	}
	for kind, all := range s.members {
		slices.Sort(all)
		s.members[kind] = slices.Compact(all)
	}
	return s
}

// members returns the path of every member, except inside arguments.
func members(t *testing.T, line string) []string {
	t.Helper()
	return codectest.Members(t, line, "arguments", func(path string, _ any) []string { return []string{path} })
}
