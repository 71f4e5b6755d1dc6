package server_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// play runs a play in a session with a client that declares everything, and answers its samples one after the other.
func play(t *testing.T, revision server.Revision, tool server.Tool, answers ...string) (asked []string, text string) {
	synctest.Test(t, func(t *testing.T) {
		tool.Name = "tool"
		r := inMemory(t, server.Options{}, tool)
		text = r.converse(revision, tools, "tool", func(params string) string {
			asked = append(asked, params)
			return answers[len(asked)-1]
		}).call(t).text(t)
	})
	return asked, text
}

func TestAskWeavesTheMarkIn(t *testing.T) {
	asked, _ := play(t, server.V20251125, server.Tool{Mark: "m7", Handler: func(s *server.Session) (any, error) {
		for _, text := range []string{"one", "two"} {
			if _, err := s.Sample(s.Ask(text, server.Tool{Name: "t", Description: "d"})); err != nil {
				return nil, err
			}
		}
		return "", nil
	}}, sampled("a"), sampled("b"))
	require.Equal(t, []string{
		`{"messages":[{"role":"user","content":{"type":"text","text":"one (conversation m7n1)"}}],"systemPrompt":"You are a helpful assistant. (conversation m7n1)","maxTokens":1000,"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}`,
		`{"messages":[{"role":"user","content":{"type":"text","text":"two (conversation m7n2)"}}],"systemPrompt":"You are a helpful assistant. (conversation m7n2)","maxTokens":1000,"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}`,
	}, asked)
}

// results gives each tool use its name as a result.
func results(uses []server.ToolUseContent) []server.ToolResultContent {
	var given []server.ToolResultContent
	for _, use := range uses {
		given = append(given, use.Result(server.Text(use.Name)))
	}
	return given
}

func TestAfterGoesOnFromTheAnswer(t *testing.T) {
	const use = `{"type":"tool_use","id":"c1","name":"t","input":{"a": 1.0}}`
	for name, answer := range map[string]string{
		"one block": use,
		"array":     `[{"type":"text","text":"let me see"},` + use + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
				asked, text := play(t, revision, server.Tool{Handler: func(s *server.Session) (any, error) {
					ask := s.Ask("?", server.Tool{Name: "t"})
					first, err := s.Sample(ask)
					if err != nil {
						return nil, err
					}
					again := ask.After(first, results)
					require.Len(t, ask.Messages, 1, "the request gone on from is left as it was")
					return s.Sample(again)
				}}, `{"role":"user","model":"m","content":`+answer+`}`, sampled("done"))
				require.Equal(t, sampled("done"), text)
				var p struct {
					Messages []json.RawMessage `json:"messages"`
				}
				require.NoError(t, json.Unmarshal([]byte(asked[1]), &p))
				require.Len(t, p.Messages, 3)
				require.JSONEq(t, `{"role":"assistant","content":`+answer+`}`, string(p.Messages[1]))
				require.JSONEq(t, `{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"t"}]}]}`, string(p.Messages[2]))
			}
		})
	}
}

func TestAfterAnAnswerThatCannotBeGoneOnFrom(t *testing.T) {
	for answer, want := range map[string]string{
		`{"role":"assistant","model":"m","content":{"type":"text","text":"no"}}`: "the client's answer has no tool use to go on from",
		`{"role":"assistant","model":"m","content":[]}`:                          "the client's answer has no tool use to go on from",
		`{"role":"assistant","model":"m"}`:                                       "the client's answer has no tool use to go on from",
		`"text"`:                                                                 "the client's answer cannot be read: want an object, got \"text\"",
		`null`:                                                                   "the client's answer cannot be read: want an object, got null",
		`{"role":"assistant","model":"m","content":{"type":"tool_use","id":"c","name":"t","input":7}}`:               "the client's answer cannot be gone on from: the request is not valid by the protocol's schema: messages[1].content.input: want object, got number",
		`{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"t","input":{}},{"type":1}]}`: "the client's answer cannot be gone on from: the request is not valid by the protocol's schema: messages[1].content[1].type: want \"audio\", \"image\", \"text\", \"tool_result\" or \"tool_use\", got 1",
	} {
		t.Run(answer, func(t *testing.T) {
			_, text := play(t, server.V20251125, server.Tool{Handler: func(s *server.Session) (any, error) {
				ask := s.Ask("?", server.Tool{Name: "t"})
				first, err := s.Sample(ask)
				require.NoError(t, err)
				_, err = s.Sample(ask.After(first, results))
				require.False(t, server.Refused(err))
				return nil, err
			}}, answer)
			require.Equal(t, want, text)
		})
	}
}

func TestToolUses(t *testing.T) {
	for result, want := range map[string][]server.ToolUseContent{
		``:              nil,
		`null`:          nil,
		`7`:             nil,
		`{}`:            nil,
		`{"content":7}`: nil,
		`{"content":[7,null,{"type":"text"},{"Type":"tool_use"}]}`:                                  nil,
		`{"content":{"type":"tool_use","id":"a","name":"b","input":{"c": 1}}}`:                      {{Type: "tool_use", ID: "a", Name: "b", Input: json.RawMessage(`{"c": 1}`)}},
		`{"content":[{"type":"tool_use","id":"a"},{"type":"text"},{"type":"tool_use","name":"b"}]}`: {{Type: "tool_use", ID: "a"}, {Type: "tool_use", Name: "b"}},
		`{"content":[{"type":"tool_use","id":1,"name":"b"}]}`:                                       nil,
	} {
		require.Equal(t, want, server.ToolUses(json.RawMessage(result)), result)
	}
}

func TestBlocksAreWrittenAsTheProtocolHasThem(t *testing.T) {
	use := server.ToolUseContent{ID: "a"}
	failed := use.Result()
	failed.IsError, failed.StructuredContent = true, map[string]int{"b": 1}
	for want, block := range map[string]any{
		`{"type":"text","text":""}`:                                                                      server.Text(""),
		`{"type":"image","data":"AP8=","mimeType":"image/png"}`:                                          server.Image("image/png", []byte{0, 255}),
		`{"type":"image","data":"","mimeType":"image/png"}`:                                              server.Image("image/png", nil),
		`{"type":"tool_result","toolUseId":"a","content":[]}`:                                            use.Result(),
		`{"type":"tool_result","toolUseId":"a","content":[],"structuredContent":{"b":1},"isError":true}`: failed,
	} {
		raw, err := json.Marshal(block)
		require.NoError(t, err)
		require.Equal(t, want, string(raw))
	}
}
