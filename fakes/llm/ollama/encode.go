package ollama

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// response is a plain answer or a line of a stream.
type response struct {
	Model      string    `json:"model"`
	CreatedAt  time.Time `json:"created_at"`
	Message    said      `json:"message"`
	Done       bool      `json:"done"`
	DoneReason string    `json:"done_reason,omitempty"`
	metrics
}

type said struct {
	Role      dialect.Role `json:"role"`
	Content   string       `json:"content"`
	Thinking  string       `json:"thinking,omitempty"`
	ToolCalls []wanted     `json:"tool_calls,omitempty"`
}

// wanted is a tool call.
type wanted struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     *int            `json:"index,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// metrics are on the last line of an answer; times are in nanoseconds.
type metrics struct {
	TotalDuration      time.Duration `json:"total_duration,omitempty"`
	LoadDuration       time.Duration `json:"load_duration,omitempty"`
	PromptEvalCount    int           `json:"prompt_eval_count,omitempty"`
	PromptEvalDuration time.Duration `json:"prompt_eval_duration,omitempty"`
	EvalCount          int           `json:"eval_count,omitempty"`
	EvalDuration       time.Duration `json:"eval_duration,omitempty"`
}

// Encode writes thinking, text and tool uses in order; in a stream each call has a line. Arguments must be objects
// here: a call with others becomes text, as in Ollama when it cannot parse a call. A late use is on the last line. A
// request without messages loads the model, or unloads it if keep_alive is 0; the reply is ignored.
func (chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	a := &answer{model: reply.Model, reason: doneReason(reply.Reason())}
	if a.model == "" {
		a.model = req.Model
	}
	if len(req.Messages) == 0 && req.System == "" {
		return plain(response{Model: a.model, CreatedAt: now(), Message: said{Role: dialect.Assistant}, Done: true,
			DoneReason: loads(req)})
	}
	lines := a.lines(reply)
	if reply.LateUse && len(lines) > 0 && lines[len(lines)-1].ToolCalls != nil {
		last := len(lines) - 1
		lines, a.late = lines[:last], lines[last].ToolCalls
	}
	tokens := 1 // roughly four bytes each
	for _, b := range reply.Content {
		tokens += (len(b.Text) + len(b.Name) + len(b.Input)) / 4
	}
	end := a.end(8+len(req.Body)/4, tokens)
	if !req.Stream {
		for _, l := range lines {
			end.Message.Content += l.Content
			end.Message.Thinking += l.Thinking
		}
		end.Message.ToolCalls = a.calls
		return plain(end)
	}
	chunks := make([][]byte, 0, len(lines)+1)
	for _, l := range lines {
		chunks = append(chunks, line(response{Model: a.model, CreatedAt: now(), Message: l}))
	}
	return dialect.Answer{Status: http.StatusOK, Header: header("application/x-ndjson"),
		Chunks: append(chunks, line(end)), Stream: true}
}

// answer is a reply while it is encoded.
type answer struct {
	model, reason string
	calls, late   []wanted
}

// lines returns the messages of a stream without the last line.
func (a *answer) lines(reply *dialect.Reply) []said {
	var lines []said
	say := func(text string) {
		for _, fragment := range dialect.Fragments(text) {
			lines = append(lines, said{Role: dialect.Assistant, Content: fragment})
		}
	}
	for i, b := range reply.Content {
		switch b.Type {
		case dialect.Thinking:
			for _, fragment := range dialect.Fragments(b.Text) {
				lines = append(lines, said{Role: dialect.Assistant, Thinking: fragment})
			}
		case dialect.Text:
			say(b.Text)
		case dialect.ToolUse:
			if arguments := given(b.Input); !json.Valid(arguments) || arguments[0] != '{' {
				say(fmt.Sprintf(`{"name": %q, "parameters": %s}`, b.Name, arguments))
				continue
			}
			c := a.call(b, strings.ToLower(dialect.GenerateID("call_", 8, reply.Serial, i)))
			a.calls = append(a.calls, c)
			lines = append(lines, said{Role: dialect.Assistant, ToolCalls: []wanted{c}})
		}
	}
	return lines
}

// call writes a tool use, with an id and index unless the model is one without ids.
func (a *answer) call(b dialect.Block, id string) wanted {
	index := len(a.calls)
	c := wanted{ID: b.ID, Function: function{Index: &index, Name: b.Name, Arguments: given(b.Input)}}
	switch {
	case withoutIDs(a.model):
		c.ID = ""
		if index == 0 {
			c.Function.Index = nil
		}
	case c.ID == "":
		c.ID = id
	}
	return c
}

// end returns the last line, with the times of a small model.
func (a *answer) end(prompt, tokens int) response {
	const perToken = 10 * time.Millisecond
	m := metrics{
		LoadDuration: 25 * time.Millisecond, PromptEvalCount: prompt, PromptEvalDuration: 200 * time.Millisecond,
		EvalCount: tokens, EvalDuration: time.Duration(tokens) * perToken,
	}
	m.TotalDuration = m.LoadDuration + m.PromptEvalDuration + m.EvalDuration
	return response{Model: a.model, CreatedAt: now(), Message: said{Role: dialect.Assistant, ToolCalls: a.late},
		Done: true, DoneReason: a.reason, metrics: m}
}

// loads returns the done reason of a request without messages.
func loads(req *dialect.Request) string {
	if q, _ := parsed(req); q != nil && q.KeepAlive != nil && *q.KeepAlive == 0 {
		return "unload"
	}
	return "load"
}

func now() time.Time { return time.Now().UTC() }

func plain(v any) dialect.Answer {
	return dialect.Answer{Status: http.StatusOK, Header: header(contentJSON), Chunks: [][]byte{marshal(v)}}
}

func line(v any) []byte { return append(marshal(v), '\n') }

// marshal writes JSON with HTML escapes, as Ollama does.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ollama: a codec built what is not JSON: %v", err))
	}
	return raw
}

// EncodeError writes {"error":TEXT}. Ollama has no kind, code or parameter.
func (chat) EncodeError(e *dialect.Error) dialect.Answer {
	h := header(contentJSON)
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{marshal(map[string]string{"error": e.Message})}}
}

// EncodeErrorEvent writes the error as a line.
func (chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return line(map[string]string{"error": e.Message})
}
