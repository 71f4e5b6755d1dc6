package openai

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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
	failure              json.RawMessage // nil without an error
	created              int64
	request              jsonvalue.Members // the request
	output               []outputItem
	usage                usage
	plain                bool

	sequence int
	events   events
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
		created:   dialect.Created.Unix(),
		plain:     !req.Stream,
	}
	r.request, _ = jsonvalue.ReadMembers(req.Body) // empty for a hand-made request
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

// write returns an item, empty if it is just opened.
func (it *outputItem) write(opened bool) any {
	status := it.status
	if opened {
		status = "in_progress"
	}
	switch {
	case it.call != nil:
		call := callItem{it.id, "function_call", status, string(it.call.Input), it.call.ID, it.call.Name}
		if opened {
			call.Arguments = ""
		}
		return call
	case it.thought != nil:
		thought := reasoningItem{it.id, "reasoning", it.thought.Signature, []textPart{}}
		if it.thought.Text != "" && !opened {
			thought.Summary = append(thought.Summary, summaryPart(it.thought.Text))
		}
		return thought
	}
	message := messageItem{it.id, "message", status, []any{}, "assistant"}
	for _, p := range it.parts {
		if !opened {
			message.Content = append(message.Content, p.write(p.text))
		}
	}
	return message
}

// write returns a part with the text so far.
func (p outputPart) write(text string) any {
	if p.refusal {
		return refusalPart{"refusal", text}
	}
	return outputText{"output_text", []string{}, []string{}, text}
}

func summaryPart(text string) textPart { return textPart{"summary_text", text} }

// echo returns a member of the request or the API's default.
func (r *response) echo(name, fallback string) json.RawMessage {
	if r.request.Has(name) {
		return r.request.Raw(name)
	}
	return json.RawMessage(fallback)
}

// completed returns an object of the request, completed with defaults.
func (r *response) completed(name string, members map[string]any) map[string]any {
	var given jsonvalue.Object
	_ = r.request.Read(name, &given) // a wrong type counts as missing
	for member, value := range given {
		members[member] = value
	}
	return members
}

// tools echoes the tools like the API: functions with all members, strict by default.
func (r *response) tools() []any {
	var given []jsonvalue.Object
	_ = r.request.Read("tools", &given) // invalid only on a lenient server
	tools := []any{}
	for _, t := range given {
		if t.Text("type") != "function" {
			tools = append(tools, t)
			continue
		}
		or := func(name, fallback string) json.RawMessage {
			if t.Has(name) {
				return t[name]
			}
			return json.RawMessage(fallback)
		}
		tools = append(tools, echoedFunction{"function", or("description", "null"), t.Text("name"), or("parameters", "null"),
			or("strict", "true")})
	}
	return tools
}

// object returns the response at a status. It has output and usage only at the end.
func (r *response) object(status string) *responseBody {
	zero := json.RawMessage("0.0")
	b := &responseBody{
		ID: r.id, Object: "response", CreatedAt: r.created, Status: status, Error: r.failure, FrequencyPenalty: zero,
		Instructions: r.echo("instructions", "null"), MaxOutputTokens: r.echo("max_output_tokens", "null"),
		MaxToolCalls: r.echo("max_tool_calls", "null"), Model: r.model, Output: []any{},
		ParallelToolCalls: r.echo("parallel_tool_calls", "true"), PresencePenalty: zero,
		PreviousResponse:     r.echo("previous_response_id", "null"),
		PromptCacheKey:       r.echo("prompt_cache_key", "null"),
		PromptCacheRetention: r.echo("prompt_cache_retention", `"in_memory"`),
		Reasoning:            r.completed("reasoning", map[string]any{"context": nil, "effort": nil, "summary": nil}),
		SafetyIdentifier:     r.echo("safety_identifier", "null"), Tier: "auto", Store: r.echo("store", "true"),
		Temperature: r.echo("temperature", "1.0"),
		Text: r.completed("text", map[string]any{"format": map[string]string{"type": "text"},
			"verbosity": "medium"}),
		ToolChoice: r.echo("tool_choice", `"auto"`), Tools: r.tools(), TopLogprobs: r.echo("top_logprobs", "0"),
		TopP: r.echo("top_p", "1.0"), Truncation: r.echo("truncation", `"disabled"`), User: r.echo("user", "null"),
		Metadata: r.echo("metadata", "{}"),
	}
	if r.plain {
		b.Billing = &billing{"developer"}
	}
	if status != r.status {
		return b
	}
	for i := range r.output {
		b.Output = append(b.Output, r.output[i].write(false))
	}
	if status == "completed" {
		b.CompletedAt = &r.created
	}
	if r.incomplete != "" {
		b.Incomplete = &incompleteDetails{r.incomplete}
	}
	if r.failure == nil {
		b.Usage, b.Tier = r.usage.responses(), "default"
	}
	return b
}

func (u usage) responses() *responseUsage {
	b := &responseUsage{Input: u.prompt, Output: u.completion, Total: u.prompt + u.completion}
	b.InputDetails.Cached, b.OutputDetails.Reasoning = u.cached, u.reasoning
	return b
}
