package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// chatMembers are the members of a request: API reference of 2026.
var chatMembers = jsonvalue.Set(`
	audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata
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
	return codecs.First(q,
		checkMembers, checkParameters, checkFormat, checkModel, checkTools, checkToolChoice, checkMessages, checkHistory)
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
		return invalid("", "", "you must provide a model parameter")
	case !q.Has("messages"):
		return missing("", "messages")
	case len(q.messages) == 0:
		return emptyArray("messages")
	}
	return nil
}

// checkParameters leaves it to compatible servers how many tokens, answers and stop sequences they give, and which
// parameters need others. Ollama takes max_tokens -1, and OpenRouter both limits of tokens.
func checkParameters(q *request) *dialect.Error {
	if !q.style.isOpenAI {
		return cmp.Or(outOfRange("temperature", q.temperature, 0, 2), checkStreamOptions(q.Members))
	}
	for _, err := range []*dialect.Error{outOfRange("temperature", q.temperature, 0, 2), outOfRange("n", q.n, 1, 128),
		outOfRange("max_tokens", q.maxTokens, 1, math.MaxInt64),
		outOfRange("max_completion_tokens", q.maxCompleted, 1, math.MaxInt64)} {
		if err != nil {
			return err
		}
	}
	switch {
	case q.maxTokens != nil && q.maxCompleted != nil:
		return invalid("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case len(q.stop) > 4:
		return tooLong("stop", "array", "an", 4, len(q.stop))
	case q.Has("stream_options") && !q.stream:
		return streamOnly()
	}
	return checkStreamOptions(q.Members)
}

// checkFormat refuses JSON mode without the word in a message. Compatible servers differ.
func checkFormat(q *request) *dialect.Error {
	if !q.style.isOpenAI || mentionsJSON(q.Object("response_format"), q.Raw("messages")) {
		return nil
	}
	return invalid("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of "+
		"type 'json_object'.")
}

// checkFormat is the same rule for Responses, where the instructions do not count.
func (q *responsesRequest) checkFormat() *dialect.Error {
	if !q.style.isOpenAI || mentionsJSON(q.Object("text").Object("format"), q.Raw("input")) {
		return nil
	}
	return invalid("text.format", "", "Response input messages must contain the word 'json' in some form to use "+
		"'text.format' of type 'json_object'.")
}

// mentionsJSON reports whether the messages mention JSON, if the format demands that.
func mentionsJSON(format jsonvalue.Members, messages json.RawMessage) bool {
	return format.Text("type") != "json_object" || bytes.Contains(bytes.ToLower(messages), []byte("json"))
}

func streamOnly() *dialect.Error {
	return invalid("stream_options", "",
		"The 'stream_options' parameter is only allowed when 'stream' is enabled.")
}

// checkStreamOptions refuses options of a wrong type.
func checkStreamOptions(body jsonvalue.Members) *dialect.Error {
	var options jsonvalue.Members
	r := newReader()
	r.Read(body, "", "stream_options", &options)
	r.ReadAll(options, "stream_options", "include_usage", new(bool), "include_obfuscation", new(bool))
	return r.Err
}

func checkMessages(q *request) *dialect.Error {
	for i := range q.messages {
		if err := q.messages[i].check(i, q.style); err != nil {
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
	if !q.style.isMistral {
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
			return invalid("", "3280", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
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
	"function":  {"text"},
}

func (m *message) check(i int, s *style) *dialect.Error {
	allowed, known := allowedParts[m.role]
	if !known {
		return unsupported(m.path+".role", m.role, "system", "assistant", "user", "function", "tool", "developer")
	}
	switch {
	case m.Has("tool_calls") && m.role != "assistant":
		return ours(m.path+".tool_calls", "", "%s has tool_calls: only an assistant's message may", m.path)
	case m.Has("tool_calls") && len(m.calls) == 0 && s.isOpenAI:
		return emptyArray(m.path + ".tool_calls")
	case m.role == "function" && m.name == "":
		return invalid(fmt.Sprintf("messages.[%d].name", i), "missing_required_parameter",
			"Missing required parameter: '%s.name'.", m.path)
	case m.empty():
		return invalid(fmt.Sprintf("messages.[%d].content", i), "",
			"Invalid value for 'content': expected a string, got null.")
	}
	for _, p := range m.parts {
		if err := p.check(allowed, s); err != nil {
			return err
		}
	}
	return codecs.Each(m.calls, func(c *toolCall) *dialect.Error { return c.check(s) })
}

// empty reports whether a message has no content, and nothing that replaces an assistant's.
func (m *message) empty() bool {
	if m.role == "assistant" && (len(m.calls) > 0 || m.refusal != nil || m.Has("audio") || m.reasoning != "") {
		return false
	}
	return !m.hasText && len(m.parts) == 0
}

// check leaves it to compatible servers which parts they know. They also accept the URL of an image as a string.
func (p *part) check(allowed []string, s *style) *dialect.Error {
	kind := p.Text("type")
	if s.isOpenAI && !slices.Contains(allowed, kind) {
		return unsupported(p.path+".type", kind, allowed...)
	}
	if kind == "text" && !jsonvalue.IsKind(p.Raw("text"), '"') {
		return missing(p.path, "text")
	}
	if kind != "image_url" {
		return nil
	}
	image := p.Object("image_url")
	url := image.Text("url")
	if !s.isOpenAI {
		url = p.imageURL()
	}
	if url == "" {
		return missing(p.path, "image_url.url")
	}
	if _, data, err := dataURI(url); !errors.Is(err, errNotData) && len(data) == 0 { // sipherxyz/comfyui-art-venture#75
		return invalid(p.path+".image_url.url", "invalid_base64", "Invalid base64 image_url.")
	}
	if s.isOpenAI {
		return checkDetail(image, p.path+".image_url.detail")
	}
	return nil
}

// checkDetail checks how closely the model looks at an image. Responses have "original" too (API reference of 2026).
func checkDetail(image jsonvalue.Members, path string, also ...string) *dialect.Error {
	known := append([]string{"low", "high", "auto"}, also...)
	if detail := image.Text("detail"); jsonvalue.IsKind(image.Raw("detail"), '"') && !slices.Contains(known, detail) {
		return unsupported(path, detail, known...)
	}
	return nil
}

// check accepts calls without a type from compatible servers: Mistral sends such calls. It also takes arguments that
// are an object there (its SDK's FunctionCall).
func (c *toolCall) check(s *style) *dialect.Error {
	switch {
	case c.kind != "function" && c.kind != "custom" && s.isOpenAI:
		return unsupported(c.path+".type", c.kind, "function", "custom")
	case c.id == "" && !c.legacy:
		return missing(c.path, "id")
	case len(c.id) > maxCallID && s.isOpenAI:
		return tooLong(c.path+".id", "string", "a", maxCallID, len(c.id))
	case c.name == "":
		return missing(c.inner(), "name")
	case !jsonvalue.IsKind(c.arguments, '"') && !(s.isMistral && jsonvalue.IsKind(c.arguments, '{')):
		return wrongType(c.inner()+".arguments", "a string", jsonvalue.JSONName(c.arguments))
	}
	return checkName(c.inner()+".name", c.name)
}

// inner returns the path of the object with name and arguments.
func (c *toolCall) inner() string {
	if c.legacy {
		return c.path
	}
	return c.path + "." + c.kind
}

// checkHistory enforces the API's rule for tool calls: tool messages answer all of them before any other message, and
// each tool message answers a call.
func checkHistory(q *request) *dialect.Error {
	var called, unanswered []string // ids of the last assistant message's calls
	for i := range q.messages {
		m := &q.messages[i]
		if m.role == "tool" {
			switch {
			case len(called) == 0 && q.style.isMistral && i > 0:
				return disordered("Unexpected role 'tool' after role '%s'", q.messages[i-1].role)
			case len(called) == 0:
				return invalid(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a "+
					"response to a prece"+"eding message with 'tool_calls'.")
			case !slices.Contains(called, m.toolCallID):
				return invalid(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: 'tool_call_id' of '%s' not "+
					"found in 'tool_calls' of previous message.", m.toolCallID)
			}
			unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == m.toolCallID })
			continue
		}
		if err := q.checkAnswered(unanswered, i); err != nil {
			return err
		}
		called = nil
		for _, c := range m.calls {
			if !c.legacy {
				called = append(called, c.id)
			}
		}
		unanswered = slices.Clone(called)
	}
	return q.checkAnswered(unanswered, len(q.messages))
}

// checkAnswered refuses calls that have no answer before message i.
func (q *request) checkAnswered(unanswered []string, i int) *dialect.Error {
	switch {
	case len(unanswered) == 0:
		return nil
	case q.style.isMistral:
		return disordered("Not the same number of function calls and responses")
	}
	return invalid(fmt.Sprintf("messages.[%d].role", i), "",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "+
			"following tool_call_ids did not have response messages: %s", strings.Join(unanswered, ", "))
}

// disordered refuses a history as Mistral does: charmbracelet/crush#279, and mistralai/mistral-common for the number of
// responses.
func disordered(format string, args ...any) *dialect.Error {
	err := invalid("", "3230", format, args...)
	err.Kind = "invalid_request_message_order"
	return err
}

func unsupportedParameter(name string) *dialect.Error {
	return invalid(name, "unsupported_parameter",
		"Unsupported parameter: '%s' is not supported with this model.", name)
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
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	case codecs.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model):
		return invalid("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support %v with this "+
			"model. Only the default (1) value is supported.", *q.temperature)
	case len(q.stop) > 0 && withoutStop.MatchString(q.model):
		return unsupportedParameter("stop")
	}
	return nil
}

// checkModel is the same rule for Responses.
func (q *responsesRequest) checkModel() *dialect.Error {
	if codecs.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model) && !chatModel.MatchString(q.model) {
		return unsupportedParameter("temperature")
	}
	return nil
}
