package openai

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// chatMembers are the members of a request: API reference of 2026, without functions and function_call (see the package
// comment).
var chatMembers = dialect.Set(`
	audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens messages metadata
	modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
	prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed
	service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user
	verbosity web_search_options
`)

// Check applies the rules that the API is known to enforce: members, parameters, model, tools, messages, history. The
// order is our own.
func (c chat) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parse)
	if refused != nil {
		return refused
	}
	q.style = c.style
	return dialect.First(q,
		checkMembers, checkParameters, checkModel, checkTools, checkToolChoice, checkMessages, checkHistory)
}

func checkMembers(q *request) *dialect.Error {
	var unknown []string
	if q.style.isOpenAI {
		unknown = q.Unknown(chatMembers)
	}
	switch {
	case len(unknown) == 1:
		return invalid("", "", "Unrecognized request argument supplied: %s", unknown[0])
	case len(unknown) > 1:
		return invalid("", "", "Unrecognized request arguments supplied: %s", strings.Join(unknown, ", "))
	case q.model == "":
		return invalid("model", "missing_required_parameter", "no model is named: set model")
	case !q.Has("messages"):
		return invalid("messages", "missing_required_parameter", "messages are missing: want at least one")
	case len(q.messages) == 0:
		return invalid("messages", "empty_array", "messages is empty: want at least one")
	}
	return nil
}

func checkParameters(q *request) *dialect.Error {
	switch {
	case dialect.Outside(q.temperature, 0, 2):
		return invalid("temperature", "decimal_out_of_range", "temperature is %v: want 0 to 2", *q.temperature)
	case dialect.Outside(q.n, 1, 128):
		return invalid("n", "integer_out_of_range", "n is %d: want 1 to 128", *q.n)
	case q.maxTokens != nil && q.maxCompleted != nil:
		return invalid("max_tokens", "invalid_parameter_combination",
			"max_tokens and max_completion_tokens are both set: want one of them")
	case len(q.stop) > 4:
		return invalid("stop", "array_above_max_length", "stop has %d sequences: want at most 4", len(q.stop))
	case q.Has("stream_options") && !q.stream:
		return invalid("stream_options", "", "stream_options is set without stream: want it only with stream: true")
	}
	if err := checkLimit("max_tokens", q.maxTokens); err != nil {
		return err
	}
	return checkLimit("max_completion_tokens", q.maxCompleted)
}

func checkLimit(name string, tokens *int64) *dialect.Error {
	if tokens != nil && *tokens < 1 {
		return invalid(name, "integer_below_min_value", "%s is %d: want at least 1", name, *tokens)
	}
	return nil
}

func checkMessages(q *request) *dialect.Error {
	for i := range q.messages {
		if err := q.messages[i].check(i); err != nil {
			return err
		}
		if err := q.checkIDs(&q.messages[i]); err != nil {
			return err
		}
	}
	return nil
}

var mistralCallID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func (q *request) checkIDs(m *message) *dialect.Error {
	if q.style.callIDs == nil {
		return nil
	}
	ids := []string{}
	for _, c := range m.calls {
		ids = append(ids, c.id)
	}
	if m.role == "tool" {
		ids = append(ids, m.toolCallID)
	}
	for _, id := range ids {
		if !mistralCallID.MatchString(id) {
			return invalid(m.path, "", "%s has the tool call id %q: want 9 of a-z, A-Z and 0-9", m.path, id)
		}
	}
	return nil
}

var allowedParts = map[string][]string{
	"system":    {"text"},
	"developer": {"text"},
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal"},
	"tool":      {"text"},
}

func (m *message) check(i int) *dialect.Error {
	allowed, known := allowedParts[m.role]
	if !known {
		return invalid(fmt.Sprintf("messages.[%d].role", i), "invalid_value",
			"%s has the role %q: want system, developer, user, assistant or tool", m.path, m.role)
	}
	switch {
	case m.hasCalls && m.role != "assistant":
		return invalidAt(m.path, "tool_calls", "", "has tool_calls: only an assistant's message may")
	case m.hasCalls && len(m.calls) == 0:
		return invalid(m.path+".tool_calls", "empty_array",
			"%s.tool_calls is empty: want at least one call, or no tool_calls", m.path)
	case m.empty():
		return invalid(fmt.Sprintf("messages.[%d].content", i), "",
			"%s, role %s, has no content: want a string or an array of parts", m.path, m.role)
	}
	for _, p := range m.parts {
		if err := p.check(m.role, allowed); err != nil {
			return err
		}
	}
	return dialect.Each(m.calls, (*toolCall).check)
}

// empty reports whether a message has no content, and nothing that replaces an assistant's.
func (m *message) empty() bool {
	if m.role == "assistant" && (len(m.calls) > 0 || m.refusal != nil || m.hasAudio) {
		return false
	}
	return !m.hasText && len(m.parts) == 0
}

func (p *part) check(role string, allowed []string) *dialect.Error {
	kind := p.Text("type")
	if !slices.Contains(allowed, kind) {
		return invalidAt(p.path, "type", "invalid_value", "has the type %q: want %s in a message of the role %s", kind,
			strings.Join(allowed, " or "), role)
	}
	if kind == "text" && !dialect.IsKind(p.Raw("text"), '"') {
		return invalidAt(p.path, "text", "missing_required_parameter", "has no text: want a string")
	}
	if kind != "image_url" {
		return nil
	}
	var image dialect.Members
	_ = p.Read("image_url", &image)
	url := image.Text("url")
	if url == "" {
		return invalidAt(p.path, "image_url", "missing_required_parameter",
			"has no url: want image_url as an object with a url")
	}
	if _, _, err := dataURI(url); err != nil && !errors.Is(err, errNotData) {
		return invalidAt(p.path, "image_url.url", "invalid_base64", "has an image that cannot be read: %v", err)
	}
	return nil
}

func (c *toolCall) check() *dialect.Error {
	switch {
	case c.kind != "function" && c.kind != "custom":
		return invalidAt(c.path, "type", "invalid_value", "has the type %q: want function", c.kind)
	case c.id == "":
		return invalidAt(c.path, "id", "missing_required_parameter", "has no id")
	case len(c.id) > maxCallID:
		return invalidAt(c.path, "id", "string_above_max_length", "has an id of %d characters: want at most %d",
			len(c.id), maxCallID)
	case c.name == "":
		return invalidAt(c.path, "function.name", "missing_required_parameter", "has no function.name")
	case !isToolName(c.name):
		return invalidAt(c.path, "function.name", "invalid_value", "has the name %q: want a match of %s", c.name, toolName)
	case !dialect.IsKind(c.arguments, '"'):
		return invalidAt(c.path, "function.arguments", "invalid_type",
			"has arguments that are no string: want the JSON text of the arguments, got %s", dialect.JSONName(c.arguments))
	}
	return nil
}

// checkHistory enforces the API's rule for tool calls: tool messages answer all of them before any other message, and
// each tool message answers a call.
func checkHistory(q *request) *dialect.Error {
	var called, unanswered []string // ids of the last assistant message's calls
	for i := range q.messages {
		m := &q.messages[i]
		if m.role == "tool" {
			switch {
			case len(called) == 0:
				return invalid(fmt.Sprintf("messages.[%d].role", i), "",
					"%s has the role tool and answers no call: want it after an assistant message with tool_calls", m.path)
			case !slices.Contains(called, m.toolCallID):
				return invalid(fmt.Sprintf("messages.[%d].tool_call_id", i), "",
					"%s answers the call %q: the assistant message before it made only %s", m.path, m.toolCallID,
					strings.Join(called, ", "))
			}
			unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == m.toolCallID })
			continue
		}
		if err := checkAnswered(unanswered, i); err != nil {
			return err
		}
		called = nil
		for _, c := range m.calls {
			called = append(called, c.id)
		}
		unanswered = slices.Clone(called)
	}
	return checkAnswered(unanswered, len(q.messages))
}

// checkAnswered refuses calls that have no answer before message i.
func checkAnswered(unanswered []string, i int) *dialect.Error {
	if len(unanswered) == 0 {
		return nil
	}
	return invalid(fmt.Sprintf("messages.[%d].role", i), "",
		"tool calls without an answer before messages[%d]: want a tool message for each of %s", i,
		strings.Join(unanswered, ", "))
}

// fixedTemperature matches models that accept only temperature 1. Later GPT-5 models accept others at some efforts.
var fixedTemperature = regexp.MustCompile(`^(o[134]|gpt-5)($|-)`)

var withoutStop = regexp.MustCompile(`^(o[34]|gpt-5)($|-)`)

// chatModel matches models that do not reason, although they have the name of a reasoning model.
var chatModel = regexp.MustCompile(`-chat($|-)`)

// checkModel refuses what reasoning models do not accept: max_tokens, temperature, stop sequences.
func checkModel(q *request) *dialect.Error {
	if !q.style.isOpenAI || !reasoning(q.model) || chatModel.MatchString(q.model) {
		return nil
	}
	switch {
	case q.maxTokens != nil:
		return invalid("max_tokens", "unsupported_parameter",
			"max_tokens is set, which the model %s does not take: want max_completion_tokens", q.model)
	case dialect.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model):
		return invalid("temperature", "unsupported_value", "temperature is %v: the model %s takes only 1, the default",
			*q.temperature, q.model)
	case len(q.stop) > 0 && withoutStop.MatchString(q.model):
		return invalid("stop", "unsupported_parameter", "stop is set, which the model %s does not take", q.model)
	}
	return nil
}

// checkModel is the same rule for Responses.
func (q *responsesRequest) checkModel() *dialect.Error {
	if dialect.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model) && !chatModel.MatchString(q.model) {
		return invalid("temperature", "", "temperature is %v, which the model %s does not take", *q.temperature, q.model)
	}
	return nil
}
