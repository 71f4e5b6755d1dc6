package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

// event is a stream event, read from its JSON.
type event struct {
	Type                        string
	Arguments, Text, Refusal    *string
	Delta                       string
	Error, Item, Part, Response json.RawMessage
	OutputIndex                 *int `json:"output_index"`
	ContentIndex                *int `json:"content_index"`
	SummaryIndex                *int `json:"summary_index"`
	Sequence                    int  `json:"sequence_number"`
}

// eventsOf reads a stream's events and checks their names and sequence numbers.
func eventsOf(t testing.TB, a dialect.Answer) []event {
	t.Helper()
	require.True(t, a.Stream)
	require.Equal(t, "text/event-stream; charset=utf-8", a.Header.Get("Content-Type"))
	var all []event
	for i, chunk := range a.Chunks {
		e := readEvent(t, string(chunk))
		require.Equal(t, i, e.Sequence)
		all = append(all, e)
	}
	return all
}

func readEvent(t testing.TB, chunk string) event {
	t.Helper()
	chunk, ends := strings.CutSuffix(chunk, "\n\n")
	name, data, found := strings.Cut(chunk, "\ndata: ")
	name, named := strings.CutPrefix(name, "event: ")
	require.True(t, ends && found && named && !strings.Contains(data, "\n"), "%q", chunk)
	var e event
	require.NoError(t, json.Unmarshal([]byte(data), &e), data)
	require.Equal(t, name, e.Type)
	return e
}

// short returns an event's name, indexes and content on one line.
func (e *event) short() string {
	line := strings.TrimPrefix(e.Type, "response.")
	for _, at := range []*int{e.OutputIndex, e.ContentIndex, e.SummaryIndex} {
		if at != nil {
			line += fmt.Sprint(" ", *at)
		}
	}
	if e.Delta != "" {
		line += " " + e.Delta
	}
	for _, text := range []*string{e.Arguments, e.Text, e.Refusal} {
		if text != nil {
			line += " " + *text
		}
	}
	for _, raw := range []json.RawMessage{e.Item, e.Part} {
		if raw != nil {
			line += " " + string(raw)
		}
	}
	return line
}

func ask(id, name, arguments string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, ID: id, Name: name, Input: []byte(arguments)}
}

func TestResponsesStreamEvents(t *testing.T) {
	golden := codectest.Golden(t, "testdata/responses_streams.txtar")
	for _, c := range []struct {
		name  string
		more  string
		reply dialect.Reply
	}{
		{"nothing", "", dialect.Reply{}},
		{"text", "", dialect.Reply{Content: []dialect.Block{says("sunny")}}},
		{"two texts are parts of one message", "", dialect.Reply{Content: []dialect.Block{says("a"), says("b")}}},
		{"calls", "", dialect.Reply{Content: []dialect.Block{ask("a", "add", `{"a":2}`), ask("", "add", "")}}},
		{"thinking, text and a call in their order", "",
			dialect.Reply{LateUse: true, Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm", Signature: "sealed"},
				ask("a", "add", `{}`), says("so")}}},
		{"sealed thinking without a summary", `,"include":["reasoning.encrypted_content"]`,
			dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Signature: "sealed"}}}},
		{"a refusal", "", dialect.Reply{StopReason: dialect.StopRefusal, Content: []dialect.Block{says("no")}}},
		{"truncated", "", dialect.Reply{StopReason: dialect.StopMaxTokens, Content: []dialect.Block{says("a")}}},
		{"invalid JSON arguments", "", dialect.Reply{Content: []dialect.Block{ask("a", "add", `{"`)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range eventsOf(t, Responses.Encode(decodeResponses(t, input(userItem, `,"stream":true`+c.more)),
				&c.reply)) {
				got = append(got, e.short())
			}
			golden(t, c.name, got)
		})
	}
}

// spokenByResponses decodes a plain answer.
func spokenByResponses(t *testing.T, more string, reply dialect.Reply) map[string]any {
	t.Helper()
	a := Responses.Encode(decodeResponses(t, input(userItem, more)), &reply)
	require.Equal(t, http.StatusOK, a.Status)
	require.False(t, a.Stream)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "2020-10-01", a.Header.Get("Openai-Version"))
	var got map[string]any
	require.NoError(t, json.Unmarshal(join(a), &got))
	return got
}

func TestResponsesStopReasons(t *testing.T) {
	for reason, want := range map[dialect.StopReason][2]any{
		"": {"completed", nil}, "endTurn": {"completed", nil}, "toolUse": {"completed", nil},
		"stopSequence": {"completed", nil}, "refusal": {"completed", nil},
		"maxTokens": {"incomplete", "max_output_tokens"}, "contentFilter": {"incomplete", "content_filter"},
		"cancelled": {"cancelled", nil}, "failed": {"failed", nil}, "completed": {"completed", nil},
		"of its own": {"incomplete", "of its own"},
	} {
		got := spokenByResponses(t, "", dialect.Reply{StopReason: reason, Content: []dialect.Block{says("hi")}})
		require.Equal(t, want[0], got["status"])
		if want[1] == nil {
			require.Nil(t, got["incomplete_details"])
		} else {
			require.Equal(t, map[string]any{"reason": want[1]}, got["incomplete_details"])
		}
		stream := eventsOf(t, Responses.Encode(decodeResponses(t, input(userItem, `,"stream":true`)),
			&dialect.Reply{StopReason: reason}))
		require.Equal(t, fmt.Sprint("response.", want[0]), stream[len(stream)-1].Type)
	}
}

func TestResponseEchoesTheRequest(t *testing.T) {
	got := spokenByResponses(t, "", dialect.Reply{})
	for name, want := range map[string]any{
		"instructions": nil, "max_output_tokens": nil, "store": true, "temperature": 1.0, "tool_choice": "auto",
		"tools": []any{}, "metadata": map[string]any{}, "parallel_tool_calls": true,
		"reasoning": map[string]any{"context": nil, "effort": nil, "summary": nil},
		"text":      map[string]any{"format": map[string]any{"type": "text"}, "verbosity": "medium"},
		"output":    []any{}, "model": "gpt-4o", "object": "response", "truncation": "disabled",
	} {
		require.Equal(t, want, got[name], name)
	}
	got = spokenByResponses(t, `,"instructions":"i","max_output_tokens":70,"store":false,"temperature":0.5,
	"tool_choice":"none","metadata":{"a":"b"},"parallel_tool_calls":false,
		"reasoning":{"effort":"low"},"text":{"verbosity":"low"},"tools":[`+flatAdd+`,{"type":"function","name":"sub",
		"description":"d","strict":false},{"type":"web_search"}]`, dialect.Reply{Model: "gpt-4o-2024-08-06"})
	for name, want := range map[string]any{
		"instructions": "i", "max_output_tokens": 70.0, "store": false, "temperature": 0.5, "tool_choice": "none",
		"metadata": map[string]any{"a": "b"}, "parallel_tool_calls": false,
		"reasoning": map[string]any{"context": nil, "effort": "low", "summary": nil},
		"text":      map[string]any{"format": map[string]any{"type": "text"}, "verbosity": "low"},
		"model":     "gpt-4o-2024-08-06",
		"tools": []any{
			map[string]any{"type": "function", "name": "add", "description": nil, "strict": true,
				"parameters": map[string]any{"type": "object", "properties": map[string]any{}}},
			map[string]any{"type": "function", "name": "sub", "description": "d", "strict": false, "parameters": nil},
			map[string]any{"type": "web_search"},
		},
	} {
		require.Equal(t, want, got[name], name)
	}
}

func TestResponsesErrorBody(t *testing.T) {
	a := Responses.EncodeError(codectest.Refusal(Responses, nil, input(userItem+`,`+itemA, "")))
	require.Equal(t, http.StatusBadRequest, a.Status)
	require.Equal(t, "false", a.Header.Get("X-Should-Retry"))
	require.JSONEq(t, `{"error":{"message":"No tool output found for function call a.","type":`+
		`"invalid_request_error","param":"input","code":null}}`, string(join(a)))
}

func TestStreamErrorIsFollowedByFailedResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time is fixed
		req := decodeResponses(t, input(userItem, `,"stream":true`))
		for code, given := range map[string]dialect.Error{
			"rate_limit_exceeded": {Status: 429, Kind: "tokens", Code: "rate_limit_exceeded", Message: "slow"},
			"server_error":        {Status: 500, Message: "slow"},
		} {
			reply := &dialect.Reply{Serial: 7, Content: []dialect.Block{says("Well")}}
			begun := Responses.Encode(req, reply).Chunks
			chunks := strings.SplitAfter(string(Responses.EncodeErrorEvent(req, reply, 4, &given)), "\n\n")
			require.Len(t, chunks, 3)
			first, second := readEvent(t, chunks[0]), readEvent(t, chunks[1])
			kind, _ := openAI.words(&given)
			require.Equal(t, "error", first.Type)
			require.JSONEq(t, `{"type":"`+kind+`","code":"`+code+`","message":"slow","param":null}`, string(first.Error))
			require.Equal(t, "response.failed", second.Type)
			require.Equal(t, []int{readEvent(t, string(begun[3])).Sequence + 1, 5}, []int{first.Sequence, second.Sequence})
			var failed map[string]any
			require.NoError(t, json.Unmarshal(second.Response, &failed))
			require.Equal(t, "failed", failed["status"])
			require.Contains(t, string(begun[0]), `"id":"`+failed["id"].(string)+`"`)
			require.Equal(t, map[string]any{"code": code, "message": "slow"}, failed["error"])
			require.Nil(t, failed["usage"])
			require.Nil(t, failed["completed_at"])
		}
	})
}

func TestResponsesIDsAreUniqueAndReproducible(t *testing.T) {
	seen := map[string]bool{}
	for serial := range int64(50) {
		reply := dialect.Reply{Serial: serial, Content: []dialect.Block{says("a"), asks("add", ""), {Type: dialect.Thinking},
			asks("add", ""), ask("mine", "add", "")}}
		got := spokenByResponses(t, "", reply)["output"].([]any)
		require.Equal(t, got, spokenByResponses(t, "", reply)["output"])
		var ids []string
		for _, raw := range got {
			it := raw.(map[string]any)
			ids = append(ids, it["id"].(string))
			if callID, ok := it["call_id"].(string); ok && callID != "mine" {
				ids = append(ids, callID)
			}
		}
		require.Regexp(t, "^msg_[0-9a-f]{50} fc_[0-9a-f]{50} call_[A-Za-z0-9]{24} rs_[0-9a-f]{50} "+
			"fc_[0-9a-f]{50} call_[A-Za-z0-9]{24} fc_[0-9a-f]{50}$", strings.Join(ids, " "))
		require.Equal(t, "mine", got[4].(map[string]any)["call_id"])
		for _, id := range ids {
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
}

// Every reply gives readable events. The deltas together are the final event's text, and the output is the plain
// answer's.
func FuzzResponsesStream(f *testing.F) {
	f.Add("hi <b>", "hm", "add", []byte(`{"a":1}`), "endTurn")
	f.Add("", "", "", []byte(`{"`), "refusal")
	f.Add("\xff\n\ndata: x", "\x00", "a\"b", []byte("\r\n\r\n"), "maxTokens")
	f.Fuzz(func(t *testing.T, text, thought, name string, arguments []byte, reason string) {
		reply := &dialect.Reply{StopReason: dialect.StopReason(reason), Content: []dialect.Block{
			{Type: dialect.Thinking, Text: thought}, says(text), asks(name, string(arguments)), asks(name, ""),
		}}
		pieces, wholes := "", ""
		var output json.RawMessage
		for _, chunk := range Responses.Encode(&dialect.Request{Stream: true}, reply).Chunks {
			if strings.Count(string(chunk), "\n") != 3 {
				t.Fatalf("not one event: %q", chunk)
			}
			name, data, _ := strings.Cut(strings.TrimSuffix(string(chunk), "\n\n"), "\ndata: ")
			var e event
			if err := json.Unmarshal([]byte(data), &e); err != nil || !strings.HasPrefix(name, "event: ") {
				t.Fatalf("no event: %q (%v)", chunk, err)
			}
			pieces += e.Delta
			for _, whole := range []*string{e.Arguments, e.Text, e.Refusal} {
				if whole != nil {
					wholes += *whole
				}
			}
			if e.Response != nil {
				var r struct{ Output json.RawMessage }
				if err := json.Unmarshal(e.Response, &r); err != nil {
					t.Fatal(err)
				}
				output = r.Output
			}
		}
		if pieces != wholes && !strings.Contains(pieces, "\ufffd") {
			t.Fatalf("pieces %q, wholes %q", pieces, wholes)
		}
		var plain struct{ Output json.RawMessage }
		if err := json.Unmarshal(join(Responses.Encode(&dialect.Request{}, reply)), &plain); err != nil {
			t.Fatal(err)
		}
		require.JSONEq(t, string(plain.Output), string(output))
	})
}
