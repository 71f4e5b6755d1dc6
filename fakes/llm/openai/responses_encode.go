package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes thinking, text and tool uses as items in order; adjacent texts are parts of one message. The texts of a
// refusal are refusal parts. Reasoning is encrypted if the request includes reasoning.encrypted_content. An incomplete
// response has an incomplete last item.
func (o responses) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	r := newResponse(req, reply)
	a := dialect.Answer{Status: http.StatusOK, Stream: req.Stream}
	if req.Stream {
		a.Header, a.Chunks = o.header("text/event-stream; charset=utf-8", r.requestID), r.stream()
	} else {
		a.Header, a.Chunks = o.header("application/json", r.requestID), [][]byte{indented(r.object(r.status))}
	}
	return a
}

type response struct {
	id, requestID, model string
	status, incomplete   string
	failure              any // nil without an error
	created              int64
	request              dialect.Members // the request
	output               []outputItem
	usage                usage
	plain                bool

	sequence int
	events   [][]byte
}

// outputItem is an item of the output. One of parts, call and thought is set.
type outputItem struct {
	id, status string
	parts      []outputPart   // of a message
	call       *dialect.Block // its ID is the call_id
	thought    *dialect.Block // its Signature is the encrypted content or ""
}

type outputPart struct {
	text    string
	refusal bool
}

func newResponse(req *dialect.Request, reply *dialect.Reply) *response {
	r := &response{
		id:        dialect.GenerateHex("resp_", 50, reply.Serial, 0),
		requestID: dialect.GenerateID("req_", 32, reply.Serial, 0),
		model:     cmp.Or(reply.Model, req.Model),
		created:   time.Now().Unix(),
		plain:     !req.Stream,
	}
	r.request, _ = dialect.ReadMembers(req.Body) // empty for a hand-made request
	r.status, r.incomplete = outcome(reply.Reason())
	encrypted := includes(req, "reasoning.encrypted_content")
	for i, b := range reply.Content {
		r.add(b, i, reply, encrypted)
	}
	if n := len(r.output); n > 0 && r.status == "incomplete" {
		r.output[n-1].status = r.status
	}
	r.usage = usageOf(req, reply)
	return r
}

// add makes an item of a block, or adds it to the previous message.
func (r *response) add(b dialect.Block, i int, reply *dialect.Reply, encrypted bool) {
	item := func(prefix string) outputItem {
		return outputItem{id: dialect.GenerateHex(prefix, 50, reply.Serial, i), status: "completed"}
	}
	switch b.Type {
	case dialect.Text:
		if n := len(r.output); n == 0 || r.output[n-1].parts == nil {
			r.output = append(r.output, item("msg_"))
		}
		message := &r.output[len(r.output)-1]
		message.parts = append(message.parts, outputPart{b.Text, reply.Reason() == dialect.StopRefusal})
	case dialect.ToolUse:
		if b.ID == "" {
			b.ID = dialect.GenerateID("call_", 24, reply.Serial, i)
		}
		call := item("fc_")
		call.call = &b
		r.output = append(r.output, call)
	case dialect.Thinking:
		switch {
		case !encrypted:
			b.Signature = ""
		case b.Signature == "":
			b.Signature = dialect.GenerateID("gAAAAA", 32, reply.Serial, i)
		}
		thought := item("rs_")
		thought.thought = &b
		r.output = append(r.output, thought)
	}
}

// write writes an item, empty if it is just opened.
func (it *outputItem) write(opened bool) json.RawMessage {
	status := it.status
	if opened {
		status = "in_progress"
	}
	switch {
	case it.call != nil:
		arguments := string(it.call.Input)
		if opened {
			arguments = ""
		}
		return dialect.Ordered("id", it.id, "type", "function_call", "status", status, "arguments", arguments,
			"call_id", it.call.ID, "name", it.call.Name)
	case it.thought != nil:
		summary := []json.RawMessage{}
		if it.thought.Text != "" && !opened {
			summary = append(summary, summaryPart(it.thought.Text))
		}
		return dialect.Ordered("id", it.id, "type", "reasoning",
			"encrypted_content", dialect.OrAbsent(it.thought.Signature), "summary", summary)
	}
	content := []json.RawMessage{}
	for _, p := range it.parts {
		if !opened {
			content = append(content, p.write(p.text))
		}
	}
	return dialect.Ordered("id", it.id, "type", "message", "status", status, "content", content, "role", "assistant")
}

// write writes a part with the text so far.
func (p outputPart) write(text string) json.RawMessage {
	if p.refusal {
		return dialect.Ordered("type", "refusal", "refusal", text)
	}
	return dialect.Ordered("type", "output_text", "annotations", []string{}, "logprobs", []string{}, "text", text)
}

func summaryPart(text string) json.RawMessage {
	return dialect.Ordered("type", "summary_text", "text", text)
}

// echo returns a member of the request or the API's default.
func (r *response) echo(name, fallback string) json.RawMessage {
	if r.request.Has(name) {
		return r.request.Raw(name)
	}
	return json.RawMessage(fallback)
}

// completed returns an object of the request, completed with defaults.
func (r *response) completed(name string, members map[string]any) map[string]any {
	var given dialect.Object
	_ = r.request.Read(name, &given) // a wrong type counts as missing
	for member, value := range given {
		members[member] = value
	}
	return members
}

// tools echoes the tools like the API: functions with all members, strict by default.
func (r *response) tools() []json.RawMessage {
	var given []dialect.Object
	_ = r.request.Read("tools", &given) // invalid only on a lenient server
	tools := []json.RawMessage{}
	for _, t := range given {
		raw := json.RawMessage(dialect.Marshal(t))
		if t.Text("type") == "function" {
			or := func(name, fallback string) json.RawMessage {
				if t.Has(name) {
					return t[name]
				}
				return json.RawMessage(fallback)
			}
			raw = dialect.Ordered("type", "function", "description", or("description", "null"), "name", t.Text("name"),
				"parameters", or("parameters", "null"), "strict", or("strict", "true"))
		}
		tools = append(tools, raw)
	}
	return tools
}

// object writes the response at a status. It has output and usage only at the end.
func (r *response) object(status string) json.RawMessage {
	var completed, incomplete, usage any
	var billing any = dialect.Absent
	tier := "auto"
	output := []json.RawMessage{}
	if status == r.status {
		for i := range r.output {
			output = append(output, r.output[i].write(false))
		}
		if status == "completed" {
			completed = r.created
		}
		if r.incomplete != "" {
			incomplete = dialect.Ordered("reason", r.incomplete)
		}
		if r.failure == nil {
			usage, tier = r.usage.responses(), "default"
		}
	}
	if r.plain {
		billing = dialect.Ordered("payer", "developer")
	}
	zero := json.RawMessage("0.0")
	return dialect.Ordered("id", r.id, "object", "response", "created_at", r.created, "status", status,
		"background", false, "billing", billing, "completed_at", completed, "error", r.failure,
		"frequency_penalty", zero, "incomplete_details", incomplete, "instructions", r.echo("instructions", "null"),
		"max_output_tokens", r.echo("max_output_tokens", "null"), "max_tool_calls", r.echo("max_tool_calls", "null"),
		"model", r.model, "moderation", nil, "output", output,
		"parallel_tool_calls", r.echo("parallel_tool_calls", "true"), "presence_penalty", zero,
		"previous_response_id", r.echo("previous_response_id", "null"),
		"prompt_cache_key", r.echo("prompt_cache_key", "null"),
		"prompt_cache_retention", r.echo("prompt_cache_retention", `"in_memory"`),
		"reasoning", r.completed("reasoning", map[string]any{"context": nil, "effort": nil, "summary": nil}),
		"safety_identifier", r.echo("safety_identifier", "null"), "service_tier", tier, "store", r.echo("store", "true"),
		"temperature", r.echo("temperature", "1.0"),
		"text", r.completed("text", map[string]any{"format": map[string]string{"type": "text"}, "verbosity": "medium"}),
		"tool_choice", r.echo("tool_choice", `"auto"`), "tools", r.tools(), "top_logprobs", r.echo("top_logprobs", "0"),
		"top_p", r.echo("top_p", "1.0"), "truncation", r.echo("truncation", `"disabled"`), "usage", usage,
		"user", r.echo("user", "null"), "metadata", r.echo("metadata", "{}"))
}

func (u usage) responses() json.RawMessage {
	return dialect.Ordered("input_tokens", u.prompt,
		"input_tokens_details", dialect.Ordered("cache_write_tokens", 0, "cached_tokens", u.cached),
		"output_tokens", u.completion, "output_tokens_details", dialect.Ordered("reasoning_tokens", u.reasoning),
		"total_tokens", u.prompt+u.completion)
}
