package openai

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

// standIns are requests for recordings without one, from what the response echoes.
var standIns = map[string]string{
	"prism__openai__stream-rate-limited-1.json": input(userItem, `,"stream":true,"max_output_tokens":2048`),
	"ai__openai-error.1.chunks.txt":             input(userItem, `,"stream":true,"reasoning":{"effort":"medium"}`),
	"ai__openai-error.1.json":                   input(userItem, ""),
}

// responsesDeviations are members that differ from recordings, by path in a response, with reasons.
var responsesDeviations = []struct {
	recordings, reason string
	members            []string
}{
	{"prism__openai__stream-rate-limited-1.json ai__openai-error.1.chunks.txt",
		"responses came to have them after these recordings were made", []string{
			"completed_at", "completed_at null", "frequency_penalty", "moderation", "moderation null", "presence_penalty",
			"reasoning.context", "reasoning.context null"}},
	{"fantasy__TestOpenAIResponsesCommon__openai-gpt-4o__multi_tool.yaml/0 " +
		"fantasy__TestOpenAIResponsesCommon__openai-gpt-4o__multi_tool.yaml/1 " +
		"fantasy__TestOpenAIResponsesCommon__openai-gpt-4o__multi_tool_streaming.yaml/0 " +
		"fantasy__TestOpenAIResponsesCommon__openai-gpt-4o__multi_tool_streaming.yaml/1",
		"it is younger: OpenAI's SDK v3.95 requires it", []string{"usage.input_tokens_details.cache_write_tokens"}},
	{"prism__openai__stream-rate-limited-1.json", "and these before the other", []string{
		"prompt_cache_key", "prompt_cache_key null", "prompt_cache_retention", "safety_identifier", "safety_identifier null",
		"text.verbosity"}},
	{"ai__openai-error.1.chunks.txt", "gpt-5 has no such default, and we have one for all models",
		[]string{"prompt_cache_retention null"}},
}

func deviatesFromResponses(recording, member string, unseen map[string]bool) bool {
	member = strings.TrimPrefix(member, "response.")
	for _, d := range responsesDeviations {
		if slices.Contains(strings.Fields(d.recordings), recording) && slices.Contains(d.members, member) {
			delete(unseen, recording+" "+member)
			return true
		}
	}
	return false
}

func TestCodecImitatesRecordedResponses(t *testing.T) {
	all := sharedtest.Needed(t, "openai-responses")
	unseen := map[string]bool{}
	for _, d := range responsesDeviations {
		for _, recording := range strings.Fields(d.recordings) {
			for _, m := range d.members {
				unseen[recording+" "+m] = true
			}
		}
	}
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			if r.Request == "" {
				r.Request = standIns[r.Name]
			}
			req := decodeResponses(t, r.Request)
			require.Nil(t, Responses.Check(req))
			if strings.Contains(r.Answer[:min(20, len(r.Answer))], `"error"`) {
				ours := Responses.EncodeError(&dialect.Error{Status: 400, Code: "c", Message: "m"})
				require.Equal(t, withoutNull(keys(t, r.Answer)), withoutNull(keys(t, string(join(ours)))))
				return
			}
			theirs := shapeOfResponses(t, r.Answer)
			if theirs.failure == nil {
				codectest.Reads(t, Responses, r.Answer, theirs.reply())
			}
			ours := shapeOfResponses(t, string(join(Responses.Encode(req, theirs.reply()))))
			if theirs.failure != nil {
				// A stream that fails at once ends with these events.
				begun := Responses.Encode(req, &dialect.Reply{}).Chunks[:2]
				begun = append(begun, Responses.EncodeErrorEvent(req, &dialect.Reply{}, len(begun), theirs.failure))
				ours = shapeOfResponses(t, string(join(dialect.Answer{Chunks: begun})))
			}
			require.Equal(t, theirs.kinds, ours.kinds)
			for kind, members := range theirs.members {
				for _, m := range append(lacking(members, ours.members[kind]), lacking(ours.members[kind], members)...) {
					require.True(t, deviatesFromResponses(r.Name, m, unseen), "%s: %s", kind, m)
				}
			}
			theirs.kinds, ours.kinds, theirs.members, ours.members = nil, nil, nil, nil
			require.Equal(t, theirs, ours)
		})
	}
	require.Empty(t, unseen, "deviations that no recording shows")
}

func lacking(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(m string) bool { return slices.Contains(others, m) })
}

// withoutNull drops members that are null, in which errors differ.
func withoutNull(members []string) []string {
	return slices.DeleteFunc(members, func(m string) bool { return strings.HasSuffix(m, " null") })
}

// shapedResponse is the structure of an answer.
type shapedResponse struct {
	kinds   []string            // of its events; repeats count once
	members map[string][]string // by kind: every member's path
	items   []string
	failure *dialect.Error
}

// reply returns the scripted reply with the same content.
func (s *shapedResponse) reply() *dialect.Reply {
	reply := &dialect.Reply{}
	for _, it := range s.items {
		if name, arguments, isCall := strings.Cut(it, "\x00"); isCall {
			reply.Content = append(reply.Content, asks(name, arguments))
		} else {
			reply.Content = append(reply.Content, says(it))
		}
	}
	return reply
}

// shapeOfResponses reads a plain answer, a stream, or its data with one event a line.
func shapeOfResponses(t *testing.T, text string) *shapedResponse {
	t.Helper()
	s := &shapedResponse{members: map[string][]string{}}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "event:"):
		for chunk := range strings.SplitSeq(text, "\n\n") {
			readEvent(t, chunk+"\n\n")
			_, data, _ := strings.Cut(chunk, "\ndata: ")
			s.add(t, data)
		}
	case strings.HasPrefix(text, `{"type"`):
		for data := range strings.SplitSeq(text, "\n") {
			s.add(t, data)
		}
	default:
		s.members["whole"] = keys(t, text)
		s.takeOutput(t, []byte(text))
	}
	return s
}

func (s *shapedResponse) add(t *testing.T, data string) {
	t.Helper()
	var e event
	require.NoError(t, json.Unmarshal([]byte(data), &e), data)
	kind := e.Type
	if e.Item != nil {
		var it struct{ Type string }
		require.NoError(t, json.Unmarshal(e.Item, &it))
		kind += " " + it.Type
	}
	if len(s.kinds) == 0 || s.kinds[len(s.kinds)-1] != kind {
		s.kinds = append(s.kinds, kind)
	}
	s.members[kind] = keys(t, data)
	if e.Error != nil {
		var failure struct{ Type, Code, Message string }
		require.NoError(t, json.Unmarshal(e.Error, &failure))
		s.failure = &dialect.Error{Kind: failure.Type, Code: failure.Code, Message: failure.Message}
	}
	if e.Type == "response.completed" {
		s.takeOutput(t, e.Response)
	}
}

func (s *shapedResponse) takeOutput(t *testing.T, response []byte) {
	t.Helper()
	var r struct {
		Output []struct {
			Type, Name, Arguments string
			Content               []struct{ Text string }
		}
	}
	require.NoError(t, json.Unmarshal(response, &r))
	for _, it := range r.Output {
		s.kinds = append(s.kinds, "item "+it.Type)
		if it.Type == "function_call" {
			s.items = append(s.items, fmt.Sprintf("%s\x00%s", it.Name, it.Arguments))
		}
		for _, p := range it.Content {
			s.items = append(s.items, p.Text)
		}
	}
}
