package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func TestCodecImitatesRecordedTraffic(t *testing.T) {
	all := sharedtest.Needed(t, "openai-chat")
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			req := decode(t, r.Request)
			require.Nil(t, Chat.Check(req))
			if r.Status != 200 {
				ours := Chat.EncodeError(&dialect.Error{Status: r.Status, Code: "model_not_found", Message: "m"})
				require.Equal(t, keys(t, r.Answer), keys(t, string(join(ours))))
				return
			}
			// Our codec must imitate the recorded answers.
			theirs := shape(t, r.Answer)
			codectest.Reads(t, Chat, r.Answer, theirs.reply())
			ours := shape(t, string(join(Chat.Encode(req, theirs.reply()))))
			require.Equal(t, theirs.kinds, ours.kinds)
			for kind, members := range theirs.members {
				require.Equal(t, members, ours.members[kind], kind)
			}
			require.Equal(t, theirs.text, ours.text)
			require.Equal(t, theirs.arguments, ours.arguments)
			require.Equal(t, theirs.finish, ours.finish)
		})
	}
}

// shaped is the structure of an answer.
type shaped struct {
	kinds        []string            // of its events; repeats count once
	members      map[string][]string // by kind: every member's path
	text, finish string
	names        []string
	arguments    []string
	model        string
}

// reply returns the scripted reply with the same content.
func (s *shaped) reply() *dialect.Reply {
	reply := &dialect.Reply{Model: s.model}
	if s.text != "" {
		reply.Content = append(reply.Content, says(s.text))
	}
	for i, name := range s.names {
		reply.Content = append(reply.Content, asks(name, s.arguments[i]))
	}
	return reply
}

func shape(t *testing.T, body string) *shaped {
	t.Helper()
	s := &shaped{members: map[string][]string{}}
	if !strings.HasPrefix(body, "data:") {
		s.add(t, body)
		return s
	}
	for _, event := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		data, isData := strings.CutPrefix(event, "data: ")
		require.True(t, isData && !strings.Contains(data, "\n"), "%q", event)
		if data == "[DONE]" {
			s.kinds = append(s.kinds, data)
			continue
		}
		s.add(t, data)
	}
	return s
}

func (s *shaped) add(t *testing.T, data string) {
	type said struct {
		Role      string
		Content   *string
		ToolCalls []struct {
			Index    int
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	var c struct {
		Model   string
		Choices []struct {
			Delta, Message said
			Finish         *string `json:"finish_reason"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(data), &c), data)
	s.model = c.Model
	kind := "usage"
	if len(c.Choices) == 1 {
		choice := c.Choices[0]
		kind = "delta"
		for _, m := range []said{choice.Delta, choice.Message} {
			if m.Role != "" {
				kind += " role"
			}
			if m.Content != nil {
				kind += " content"
				s.text += *m.Content
			}
			for _, call := range m.ToolCalls {
				if call.ID != "" {
					kind += " opens"
					s.names, s.arguments = append(s.names, call.Function.Name), append(s.arguments, "")
				} else {
					kind += " arguments"
				}
				s.arguments[len(s.names)-1] += call.Function.Arguments
			}
		}
		if choice.Finish != nil {
			kind += " finish"
			s.finish = *choice.Finish
		}
	}
	if len(s.kinds) == 0 || s.kinds[len(s.kinds)-1] != kind {
		s.kinds = append(s.kinds, kind)
	}
	s.members[kind] = keys(t, data)
}

// younger are members that the API added after some recordings.
var younger = map[string]bool{"service_tier": true, "choices.message.annotations": true}

// keys returns the path of every member except random padding, and whether it is null.
func keys(t *testing.T, text string) []string {
	t.Helper()
	return codectest.Members(t, text, "", func(path string, v any) (words []string) {
		if v == nil {
			words = append(words, path+" null")
		}
		if path != "obfuscation" && !younger[path] {
			words = append(words, path)
		}
		return words
	})
}
