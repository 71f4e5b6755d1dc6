package openai

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// null is an explicit null. A nil json.RawMessage with omitempty is an absent member.
var null = json.RawMessage("null")

// Encode writes thinking, text and tool uses as items in order; adjacent texts are parts of one message. The texts of a
// refusal are refusal parts. Reasoning is encrypted if the request includes reasoning.encrypted_content. An incomplete
// response has an incomplete last item.
func (o responses) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	r := newResponse(req, reply)
	if req.Stream {
		return dialect.Answer{
			Status: http.StatusOK, Header: o.header("text/event-stream; charset=utf-8", r.requestID), Chunks: r.stream(), Stream: true,
		}
	}
	return dialect.Answer{Status: http.StatusOK, Header: o.header("application/json", r.requestID), Chunks: [][]byte{indented(r.object(r.status))}}
}

// response is an answer before encoding, plain or streamed.
type response struct {
	id, requestID, model string
	status, incomplete   string
	failure              json.RawMessage // null without an error
	created              int64
	asked                dialect.Members
	stored               []outputItem
	usage                responseUsage
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

// outputPart is a text or a refusal.
type outputPart struct {
	text    string
	refusal bool
}

type responseUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

func newResponse(req *dialect.Request, reply *dialect.Reply) *response {
	r := &response{
		id:        dialect.GenerateID("resp_", 32, reply.Serial, 0),
		requestID: dialect.GenerateID("req_", 32, reply.Serial, 0),
		model:     reply.Model,
		failure:   null,
		created:   time.Now().Unix(),
		plain:     !req.Stream,
	}
	if r.model == "" {
		r.model = req.Model
	}
	r.asked, _ = dialect.ReadMembers(req.Body) // empty for a hand-made request
	r.status, r.incomplete = outcome(reply.Reason())
	sealed := includes(req, "reasoning.encrypted_content")
	spoken := 0
	for i, b := range reply.Content {
		r.add(b, i, reply, sealed)
		n := len(b.Text) + len(b.Name) + len(b.Input)
		spoken += n
		if b.Type == dialect.Thinking {
			r.usage.OutputDetails.Reasoning += n / 4
		}
	}
	if n := len(r.stored); n > 0 && r.status == "incomplete" {
		r.stored[n-1].status = r.status
	}
	// Roughly four bytes a token; clients cannot rely on more.
	r.usage.Input, r.usage.Output = 8+len(req.Body)/4, 1+spoken/4
	r.usage.Total = r.usage.Input + r.usage.Output
	return r
}

// add makes an item of a block, or adds it to the previous message.
func (r *response) add(b dialect.Block, i int, reply *dialect.Reply, sealed bool) {
	mint := func(prefix string) outputItem {
		return outputItem{id: dialect.GenerateID(prefix, 32, reply.Serial, i), status: "completed"}
	}
	switch b.Type {
	case dialect.Text:
		if n := len(r.stored); n == 0 || r.stored[n-1].parts == nil {
			r.stored = append(r.stored, mint("msg_"))
		}
		message := &r.stored[len(r.stored)-1]
		message.parts = append(message.parts, outputPart{b.Text, reply.Reason() == dialect.StopRefusal})
	case dialect.ToolUse:
		if b.ID == "" {
			b.ID = dialect.GenerateID("call_", 24, reply.Serial, i)
		}
		made := mint("fc_")
		made.call = &b
		r.stored = append(r.stored, made)
	case dialect.Thinking:
		switch {
		case !sealed:
			b.Signature = ""
		case b.Signature == "":
			b.Signature = dialect.GenerateID("gAAAAA", 32, reply.Serial, i)
		}
		made := mint("rs_")
		made.thought = &b
		r.stored = append(r.stored, made)
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
		return dialect.Marshal(struct {
			ID        string `json:"id"`
			Type      string `json:"type"`
			Status    string `json:"status"`
			Arguments string `json:"arguments"`
			CallID    string `json:"call_id"`
			Name      string `json:"name"`
		}{it.id, "function_call", status, arguments, it.call.ID, it.call.Name})
	case it.thought != nil:
		summary := []json.RawMessage{}
		if it.thought.Text != "" && !opened {
			summary = append(summary, summaryPart(it.thought.Text))
		}
		return dialect.Marshal(struct {
			ID        string            `json:"id"`
			Type      string            `json:"type"`
			Encrypted string            `json:"encrypted_content,omitempty"`
			Summary   []json.RawMessage `json:"summary"`
		}{it.id, "reasoning", it.thought.Signature, summary})
	}
	content := []json.RawMessage{}
	for _, p := range it.parts {
		if !opened {
			content = append(content, p.write(false))
		}
	}
	return dialect.Marshal(struct {
		ID      string            `json:"id"`
		Type    string            `json:"type"`
		Status  string            `json:"status"`
		Content []json.RawMessage `json:"content"`
		Role    dialect.Role      `json:"role"`
	}{it.id, "message", status, content, dialect.Assistant})
}

func (p outputPart) write(opened bool) json.RawMessage {
	if opened {
		p.text = ""
	}
	if p.refusal {
		return dialect.Marshal(struct {
			Type    string `json:"type"`
			Refusal string `json:"refusal"`
		}{"refusal", p.text})
	}
	return dialect.Marshal(struct {
		Type        string   `json:"type"`
		Annotations []string `json:"annotations"`
		Logprobs    []string `json:"logprobs"`
		Text        string   `json:"text"`
	}{"output_text", []string{}, []string{}, p.text})
}

func summaryPart(text string) json.RawMessage {
	return dialect.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"summary_text", text})
}

// echo returns a member of the request or the API's default.
func (r *response) echo(name, otherwise string) json.RawMessage {
	if r.asked.Has(name) {
		return r.asked.Raw(name)
	}
	return json.RawMessage(otherwise)
}

// filled returns an object of the request completed with defaults.
func (r *response) filled(name string, otherwise map[string]json.RawMessage) map[string]json.RawMessage {
	var given dialect.Object
	_ = r.asked.Read(name, &given) // a wrong type counts as missing
	for member, value := range given {
		otherwise[member] = value
	}
	return otherwise
}

// tools echoes the tools like the API: functions with all members, strict by default.
func (r *response) tools() []json.RawMessage {
	var given []dialect.Object
	_ = r.asked.Read("tools", &given) // invalid only on a lenient server
	tools := []json.RawMessage{}
	for _, t := range given {
		raw := dialect.Marshal(t)
		if t.Text("type") == "function" {
			or := func(name, otherwise string) json.RawMessage {
				if t.Has(name) {
					return t[name]
				}
				return json.RawMessage(otherwise)
			}
			raw = dialect.Marshal(struct {
				Type        string          `json:"type"`
				Description json.RawMessage `json:"description"`
				Name        string          `json:"name"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      json.RawMessage `json:"strict"`
			}{"function", or("description", "null"), t.Text("name"), or("parameters", "null"), or("strict", "true")})
		}
		tools = append(tools, raw)
	}
	return tools
}

// object writes the response at a status. It has output and usage only at the end.
func (r *response) object(status string) json.RawMessage {
	over := status == r.status
	completed, incomplete, usage, tier := null, null, null, json.RawMessage(`"auto"`)
	output := []json.RawMessage{}
	if over {
		for i := range r.stored {
			output = append(output, r.stored[i].write(false))
		}
		if status == "completed" {
			completed = dialect.Marshal(r.created)
		}
		if r.incomplete != "" {
			incomplete = dialect.Marshal(map[string]string{"reason": r.incomplete})
		}
		if string(r.failure) == "null" {
			usage, tier = dialect.Marshal(r.usage), json.RawMessage(`"default"`)
		}
	}
	var billing json.RawMessage
	if r.plain {
		billing = json.RawMessage(`{"payer":"developer"}`)
	}
	return dialect.Marshal(struct {
		ID             string                     `json:"id"`
		Object         string                     `json:"object"`
		Created        int64                      `json:"created_at"`
		Status         string                     `json:"status"`
		Background     bool                       `json:"background"`
		Billing        json.RawMessage            `json:"billing,omitempty"`
		Completed      json.RawMessage            `json:"completed_at"`
		Error          json.RawMessage            `json:"error"`
		Frequency      json.RawMessage            `json:"frequency_penalty"`
		Incomplete     json.RawMessage            `json:"incomplete_details"`
		Instructions   json.RawMessage            `json:"instructions"`
		MaxTokens      json.RawMessage            `json:"max_output_tokens"`
		MaxToolCalls   json.RawMessage            `json:"max_tool_calls"`
		Model          string                     `json:"model"`
		Moderation     json.RawMessage            `json:"moderation"`
		Output         []json.RawMessage          `json:"output"`
		Parallel       json.RawMessage            `json:"parallel_tool_calls"`
		Presence       json.RawMessage            `json:"presence_penalty"`
		Previous       json.RawMessage            `json:"previous_response_id"`
		CacheKey       json.RawMessage            `json:"prompt_cache_key"`
		CacheRetention json.RawMessage            `json:"prompt_cache_retention"`
		Reasoning      map[string]json.RawMessage `json:"reasoning"`
		Safety         json.RawMessage            `json:"safety_identifier"`
		Tier           json.RawMessage            `json:"service_tier"`
		Store          json.RawMessage            `json:"store"`
		Temperature    json.RawMessage            `json:"temperature"`
		Text           map[string]json.RawMessage `json:"text"`
		ToolChoice     json.RawMessage            `json:"tool_choice"`
		Tools          []json.RawMessage          `json:"tools"`
		TopLogprobs    json.RawMessage            `json:"top_logprobs"`
		TopP           json.RawMessage            `json:"top_p"`
		Truncation     json.RawMessage            `json:"truncation"`
		Usage          json.RawMessage            `json:"usage"`
		User           json.RawMessage            `json:"user"`
		Metadata       json.RawMessage            `json:"metadata"`
	}{
		ID: r.id, Object: "response", Created: r.created, Status: status, Billing: billing, Completed: completed, Error: r.failure,
		Frequency: json.RawMessage("0.0"), Incomplete: incomplete, Instructions: r.echo("instructions", "null"),
		MaxTokens: r.echo("max_output_tokens", "null"), MaxToolCalls: r.echo("max_tool_calls", "null"), Model: r.model, Moderation: null,
		Output: output, Parallel: r.echo("parallel_tool_calls", "true"), Presence: json.RawMessage("0.0"),
		Previous: r.echo("previous_response_id", "null"), CacheKey: r.echo("prompt_cache_key", "null"),
		CacheRetention: r.echo("prompt_cache_retention", `"in_memory"`),
		Reasoning:      r.filled("reasoning", map[string]json.RawMessage{"context": null, "effort": null, "summary": null}),
		Safety:         r.echo("safety_identifier", "null"), Tier: tier, Store: r.echo("store", "true"), Temperature: r.echo("temperature", "1.0"),
		Text:       r.filled("text", map[string]json.RawMessage{"format": json.RawMessage(`{"type":"text"}`), "verbosity": json.RawMessage(`"medium"`)}),
		ToolChoice: r.echo("tool_choice", `"auto"`), Tools: r.tools(), TopLogprobs: r.echo("top_logprobs", "0"), TopP: r.echo("top_p", "1.0"),
		Truncation: r.echo("truncation", `"disabled"`), Usage: usage, User: r.echo("user", "null"), Metadata: r.echo("metadata", "{}"),
	})
}
