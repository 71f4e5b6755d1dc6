package ollama

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Encode writes thinking, text and tool uses in order; in a stream each call has a line. Arguments must be objects
// here: a call with others becomes text, as in Ollama when it cannot parse a call. A late use is on the last line. A
// request without messages loads the model, or unloads it if keep_alive is 0; the reply is ignored.
func (chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	a := &answer{model: cmp.Or(reply.Model, req.Model)}
	if len(req.Messages) == 0 && req.System == "" {
		return plain(a.response(modelMessage{}, "done", true, "done_reason", loadReason(req)))
	}
	lines := a.lines(reply)
	var last modelMessage
	if n := len(lines); reply.LateUse && n > 0 && lines[n-1].calls != nil {
		lines, last.calls = lines[:n-1], lines[n-1].calls
	}
	used := dialect.Usage{Input: 8 + len(req.Body)/4, Output: 1} // roughly four bytes a token
	for _, b := range reply.Content {
		used.Output += (len(b.Text) + len(b.Name) + len(b.Input)) / 4
	}
	if reply.Usage != nil {
		used = *reply.Usage
	}
	end := append([]any{"done", true, "done_reason", reply.Word(reasons)}, metrics(used.Input, used.Output)...)
	if !req.Stream {
		for _, l := range lines {
			last.content += l.content
			last.thinking += l.thinking
		}
		last.calls = a.calls
		return plain(a.response(last, end...))
	}
	chunks := make([][]byte, 0, len(lines)+1)
	for _, l := range lines {
		chunks = append(chunks, line(a.response(l, "done", false)))
	}
	return dialect.Answer{Status: http.StatusOK, Header: header("application/x-ndjson"),
		Chunks: append(chunks, line(a.response(last, end...))), Stream: true}
}

type answer struct {
	model string
	calls []json.RawMessage
}

// modelMessage is the model's message in a plain answer or a line of a stream.
type modelMessage struct {
	content, thinking string
	calls             []json.RawMessage
}

// response returns a plain answer or a line of a stream; end are the members after the message.
func (a *answer) response(m modelMessage, end ...any) json.RawMessage {
	var calls any = jsonvalue.Absent
	if m.calls != nil {
		calls = m.calls
	}
	members := []any{"model", a.model, "created_at", dialect.Created, "message", jsonvalue.Ordered("role", "assistant",
		"content", m.content, "thinking", jsonvalue.OrAbsent(m.thinking), "tool_calls", calls)}
	return jsonvalue.Ordered(append(members, end...)...)
}

// metrics returns the times, in nanoseconds, and token counts of the last line, for a small model.
func metrics(prompt, tokens int) []any {
	const load, evalPrompt = 25 * time.Millisecond, 200 * time.Millisecond
	eval := time.Duration(tokens) * 10 * time.Millisecond
	return []any{"total_duration", load + evalPrompt + eval, "load_duration", load, "prompt_eval_count", prompt,
		"prompt_eval_duration", evalPrompt, "eval_count", tokens, "eval_duration", eval}
}

func (a *answer) lines(reply *dialect.Reply) (lines []modelMessage) {
	addText := func(text string) {
		for _, fragment := range dialect.Fragments(text) {
			lines = append(lines, modelMessage{content: fragment})
		}
	}
	for i, b := range reply.Content {
		switch b.Type {
		case dialect.Thinking:
			for _, fragment := range dialect.Fragments(b.Text) {
				lines = append(lines, modelMessage{thinking: fragment})
			}
		case dialect.Text:
			addText(b.Text)
		case dialect.ToolUse:
			arguments := orEmpty(b.Input)
			if !json.Valid(arguments) || arguments[0] != '{' {
				addText(fmt.Sprintf(`{"name": %q, "parameters": %s}`, b.Name, arguments))
				continue
			}
			c := a.call(b, arguments, strings.ToLower(dialect.GenerateID("call_", 8, reply.Serial, i)))
			a.calls = append(a.calls, c)
			lines = append(lines, modelMessage{calls: []json.RawMessage{c}})
		}
	}
	return lines
}

// call writes a tool use, with an id and index unless the model is one without ids.
func (a *answer) call(b dialect.Block, arguments json.RawMessage, id string) json.RawMessage {
	var index any = len(a.calls)
	if b.ID != "" {
		id = b.ID
	}
	if withoutIDs(a.model) {
		id = ""
		if len(a.calls) == 0 {
			index = jsonvalue.Absent
		}
	}
	function := jsonvalue.Ordered("index", index, "name", b.Name, "arguments", arguments)
	return jsonvalue.Ordered("id", jsonvalue.OrAbsent(id), "function", function)
}

// loadReason returns the done reason of a request without messages.
func loadReason(req *dialect.Request) string {
	if q, _ := dialect.Parsed(req, parse); q != nil && q.KeepAlive != nil && *q.KeepAlive == 0 {
		return "unload"
	}
	return "load"
}

func plain(v any) dialect.Answer {
	return dialect.Answer{Status: http.StatusOK, Header: header(contentJSON), Chunks: [][]byte{marshal(v)}}
}

func line(v any) []byte { return append(marshal(v), '\n') }

// marshal writes JSON with HTML escapes, as Ollama does.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ollama: a codec built invalid JSON: %v", err))
	}
	return raw
}

// EncodeError writes {"error":TEXT}. Ollama has no kind, code or parameter.
func (chat) EncodeError(e *dialect.Error) dialect.Answer {
	body := map[string]any{"error": e.Message}
	maps.Copy(body, e.Extra)
	h := header(contentJSON)
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{marshal(body)}}
}

// EncodeErrorEvent writes the error as a line.
func (chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return line(map[string]string{"error": e.Message})
}
