package native

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func decode(t testing.TB, body string) *dialect.Request {
	t.Helper()
	req, err := Codec.Decode(&http.Request{Header: http.Header{"X": {"y"}}}, []byte(body))
	require.Nil(t, err)
	require.Nil(t, Codec.Check(req))
	return req
}

func TestDecodeReadsEveryMember(t *testing.T) {
	body := `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"systemPrompt":"be brief",
	"maxTokens":7,"temperature":0.5,
		"modelPreferences":{"hints":[{},{"name":"small"},{"name":"large"}]},"stopSequences":["a"],
		"toolChoice":{"mode":"required"},
		"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"}}],"metadata":{},"_meta":{}}`
	maxTokens, temperature := int64(7), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "native", Model: "small", System: "be brief",
		Messages: []dialect.Message{{Role: dialect.User, Path: "messages[0]", Content: []dialect.Block{
			{Type: dialect.Text, Text: "hi", Raw: []byte(`{"type":"text","text":"hi"}`), Path: "messages[0].content"}}}},
		Tools: []dialect.Tool{{Name: "add", Description: "adds", InputSchema: []byte(`{"type":"object"}`),
			Path: "tools[0]"}},
		ToolChoice: "required", MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"a"},
		Body: []byte(body), Header: http.Header{"X": {"y"}},
	}, decode(t, body))
}

func TestDecodeReadsContent(t *testing.T) {
	codectest.Messages(t, Codec, "testdata/messages.txtar", "")
}

// The codec accepts what the specification forbids: the client must refuse it.
func TestDecodeIsLenient(t *testing.T) {
	for name, body := range map[string]string{
		"no messages":   `{}`,
		"null messages": `{"messages":null}`,
		"null message":  `{"messages":[null]}`,
		"no message":    `{"messages":["hi"]}`,
		"unknown role":  `{"messages":[{"role":"system","content":[]}]}`,
		"wrong types": `{"messages":[{"role":1,"content":1}],"maxTokens":1.5,"temperature":"x","stopSequences":"x",` +
			`"tools":"x","toolChoice":7,"modelPreferences":[],"systemPrompt":{}}`,
		"orphan result": `{"messages":[{"role":"assistant","content":{"type":"tool_result","toolUseId":"u"}}]}`,
		"null tool":     `{"messages":[],"tools":[null,"x"],"toolChoice":{}}`,
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, DefaultModel, decode(t, body).Model) })
	}
	require.Equal(t, dialect.Role("system"), decode(t, `{"messages":[{"role":"system"}]}`).Messages[0].Role)
	require.Equal(t, "auto", decode(t, `{"messages":[],"toolChoice":{}}`).ToolChoice)
	require.Nil(t, decode(t, `{"messages":[],"maxTokens":1.5}`).MaxTokens)
}

func TestDecodeRefusesUnreadableBodies(t *testing.T) {
	for body, want := range map[string]string{
		``:                  "the body is not a JSON object: expected the params of sampling/createMessage",
		`null`:              "the body is not a JSON object",
		`[]`:                "the body is not a JSON object",
		`{"messages":`:      "the body is not a JSON object",
		`{"messages":{}}`:   "messages is not an array",
		`{"messages":"hi"}`: "messages is not an array",
	} {
		_, err := Codec.Decode(&http.Request{}, []byte(body))
		require.NotNil(t, err, body)
		require.Equal(t, http.StatusBadRequest, err.Status)
		require.Contains(t, err.Message, want)
	}
}

func TestEncode(t *testing.T) {
	golden := codectest.Golden(t, "testdata/answers.txtar")
	text := func(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }
	use := func(id, input string) dialect.Block {
		return dialect.Block{Type: dialect.ToolUse, ID: id, Name: "add", Input: []byte(input)}
	}
	for _, c := range []struct {
		name  string
		reply dialect.Reply
	}{
		{"one text", dialect.Reply{Content: []dialect.Block{text("a < b")}}},
		{"two texts", dialect.Reply{Content: []dialect.Block{text("a"), text("b")}, Model: "big", StopReason: "maxTokens"}},
		{"nothing", dialect.Reply{}},
		{"a use", dialect.Reply{Content: []dialect.Block{use("u", `{"a": 1}`)}}},
		{"a use without id or input", dialect.Reply{Serial: 3, Content: []dialect.Block{use("", "")}}},
		{"invalid JSON input", dialect.Reply{Content: []dialect.Block{use("u", `{"a`)}}},
		{"an image", dialect.Reply{Content: []dialect.Block{{Type: dialect.Image, Data: []byte("hi"),
			MimeType: "image/png"}}}},
		{"a block with invalid raw JSON",
			dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Text: "a", Raw: []byte(`{"type"`)}}}},
		{"a raw block",
			dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Raw: []byte(`{"type":"text"}`)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Codec.Encode(&dialect.Request{Model: "small", Stream: true}, &c.reply)
			golden(t, c.name, []string{string(a.Chunks[0])})
			require.Len(t, a.Chunks, 1)
			require.Equal(t, http.StatusOK, a.Status)
			require.False(t, a.Stream)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
		})
	}
}

func TestErrorsAreJSONRPC(t *testing.T) {
	for _, c := range []struct {
		err  dialect.Error
		want string
	}{
		{dialect.Error{Status: 400, Message: "bad"}, `{"error":{"code":-32602,"message":"bad"}}`},
		{dialect.Error{Status: 404, Message: "miss"}, `{"error":{"code":-32603,"message":"miss"}}`},
		{dialect.Error{Status: 403, Code: "-1", Message: "no"}, `{"error":{"code":-1,"message":"no"}}`},
	} {
		c.err.Header = http.Header{"Retry-After": {"1"}}
		a := Codec.EncodeError(&c.err)
		require.Equal(t, c.err.Status, a.Status)
		require.Equal(t, c.want, string(a.Chunks[0]))
		require.Equal(t, "1", a.Header.Get("Retry-After"))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"u","content":[{"type":` +
		`"image","data":"aGk="}]}]}],"tools":[{"name":"a"}],"toolChoice":{}}`))
	f.Add([]byte(`{"messages":[null,1,{"content":"x"}],"modelPreferences":{"hints":[null]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := Codec.Decode(&http.Request{}, body)
		if (req == nil) == (err == nil) {
			t.Fatalf("want a request or an error, got %v and %v", req, err)
		}
		if err != nil {
			return
		}
		if err := Codec.Check(req); err != nil {
			t.Fatalf("refused: %+v", err)
		}
		reply := &dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Text: string(body)},
			{Type: dialect.ToolUse, Input: body}}}
		if a := Codec.Encode(req, reply); !json.Valid(a.Chunks[0]) {
			t.Fatalf("no JSON: %s", a.Chunks[0])
		}
	})
}
