package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// deviations are known differences from recordings, with reasons. member is a path in an event's data that only our
// events have; "" is the event itself.
var deviations = []struct{ member, why string }{
	{"", "a ping may come anywhere, and again; ours stands once, at its usual place behind the start of the first block"},
	{"", "recorded data is padded with blanks before its last brace, at random; ours is not, which no reader of JSON " +
		"can tell"},
	{"stop_details", "younger than some recordings"},
	{"message.stop_details", "younger than the recorded streams"},
	{"delta.stop_details", "younger than the recorded streams"},
	{"message.usage.inference_geo", "younger than some recordings"},
	{"content_block.caller", "younger than some recordings"},
	{"content_block.caller.type", "younger than some recordings"},
}

// stream is a recorded stream: each event has the name of its type.
func stream(t *testing.T, r *sharedtest.Exchange) string {
	if !r.IsChunks() {
		return r.Answer
	}
	var events strings.Builder
	for line := range strings.Lines(r.Answer) {
		var typed struct{ Type string }
		require.NoError(t, json.Unmarshal([]byte(line), &typed))
		fmt.Fprintf(&events, "event: %s\ndata: %s\n\n", typed.Type, strings.TrimSpace(line))
	}
	return events.String()
}

func TestCodecImitatesRecordedTraffic(t *testing.T) {
	all := sharedtest.Needed(t, "anthropic")
	added := map[string]bool{} // members that only our answers have
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			request := r.Request
			if request == "" {
				request = body(user, `,"stream":true`)
			}
			if r.Header.Get("Anthropic-Version") == "" { // one recorder removed them
				r.Header = keyed()
			}
			req, err := Messages.Decode(&http.Request{Header: r.Header}, []byte(request))
			require.Nil(t, err)
			require.Nil(t, Messages.Check(req))
			if r.Status != 200 {
				ours := Messages.EncodeError(&dialect.Error{Status: r.Status, Message: "m"})
				require.Equal(t, members(t, r.Answer), members(t, join(ours)))
				require.Equal(t, errorType(t, r.Answer), errorType(t, join(ours)))
				return
			}
			theirs := shape(t, stream(t, &r))
			codectest.Reads(t, Messages, stream(t, &r), theirs.reply())
			ours := shape(t, join(Messages.Encode(req, theirs.reply())))
			require.Equal(t, req.Stream, theirs.streamed)
			require.Equal(t, theirs.kinds, ours.kinds)
			require.Equal(t, slices.Sorted(maps.Keys(theirs.members)), slices.Sorted(maps.Keys(ours.members)))
			for kind, members := range theirs.members {
				require.Subset(t, ours.members[kind], members, kind)
				for _, member := range ours.members[kind] {
					if !slices.Contains(members, member) {
						name, _, _ := strings.Cut(member, " ")
						added[name] = true
					}
				}
			}
			require.Equal(t, theirs.blocks, ours.blocks)
			require.Equal(t, theirs.reason, ours.reason)
			require.Equal(t, theirs.streamed, theirs.pings > 0)
			require.Equal(t, theirs.streamed, ours.pings == 1)
		})
	}
	told := map[string]bool{}
	for _, d := range deviations {
		if d.member != "" {
			told[d.member] = true
		}
	}
	require.Equal(t, told, added, "the table says where we differ, and nothing else")
}

// shaped is the structure of an answer.
type shaped struct {
	streamed bool
	pings    int
	kinds    []string            // of its events without pings; repeats count once
	members  map[string][]string // by kind: every member's path and type
	blocks   []dialect.Block
	reason   dialect.StopReason
	model    string
}

// reply returns the scripted reply with the same content.
func (s *shaped) reply() *dialect.Reply {
	return &dialect.Reply{Model: s.model, StopReason: s.reason, Content: s.blocks}
}

func shape(t *testing.T, answer string) *shaped {
	t.Helper()
	s := &shaped{members: map[string][]string{}}
	if !strings.HasPrefix(answer, "event: ") {
		var m struct {
			Model   string
			Reason  string `json:"stop_reason"`
			Content []wireBlock
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &m))
		s.model, s.reason = m.Model, dialect.StopReason(m.Reason)
		for _, b := range m.Content {
			s.kinds = append(s.kinds, b.Type)
			s.blocks = append(s.blocks, dialect.Block{Type: dialect.BlockType(b.Type), Text: b.Text, ID: b.ID, Name: b.Name,
				Input: b.Input})
		}
		s.members["message"] = members(t, answer)
		return s
	}
	s.streamed = true
	require.True(t, strings.HasSuffix(answer, "\n\n"))
	for event := range strings.SplitAfterSeq(answer, "\n\n") {
		if event != "" {
			s.add(t, event)
		}
	}
	return s
}

type wireBlock struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
}

func (s *shaped) add(t *testing.T, event string) {
	name, data := cutEvent(t, event)
	var e struct {
		Index   int
		Message struct{ Model string }
		Block   wireBlock `json:"content_block"`
		Delta   struct {
			Type, Text string
			JSON       string  `json:"partial_json"`
			Reason     *string `json:"stop_reason"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(data), &e), data)
	kind := strings.TrimSpace(name + " " + e.Block.Type + e.Delta.Type)
	switch name {
	case "ping":
		require.Equal(t, `{"type": "ping"}`, strings.ReplaceAll(data, `{"type":"ping"}`, `{"type": "ping"}`))
		s.pings++
		return
	case "message_start":
		s.model = e.Message.Model
	case "content_block_start":
		require.Equal(t, len(s.blocks), e.Index, "blocks come one after the other")
		s.blocks = append(s.blocks, dialect.Block{Type: dialect.BlockType(e.Block.Type), Text: e.Block.Text, ID: e.Block.ID,
			Name: e.Block.Name})
	case "content_block_delta":
		require.Equal(t, len(s.blocks)-1, e.Index, "a delta is of the last block that began")
		last := &s.blocks[e.Index]
		last.Text += e.Delta.Text
		if e.Delta.Type == "input_json_delta" {
			if last.Input == nil {
				require.Empty(t, e.Delta.JSON, "the first delta of an input is empty")
				last.Input = json.RawMessage{}
			}
			last.Input = append(last.Input, e.Delta.JSON...)
		}
	case "message_delta":
		s.reason = dialect.StopReason(*e.Delta.Reason)
	}
	if len(s.kinds) == 0 || s.kinds[len(s.kinds)-1] != kind {
		s.kinds = append(s.kinds, kind)
	}
	s.members[kind] = members(t, data)
}

func errorType(t *testing.T, text string) string {
	var e struct{ Error struct{ Type string } }
	require.NoError(t, json.Unmarshal([]byte(text), &e))
	return e.Error.Type
}

// members returns the path and type of every member, except inside an input, which the caller defines.
func members(t *testing.T, text string) []string {
	t.Helper()
	return codectest.Members(t, text, "input", func(path string, v any) []string {
		kind, _, _ := strings.Cut(jsonvalue.JSONName(jsonvalue.Marshal(v)), " number ")
		return []string{path + " " + kind}
	})
}
