package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Check applies the rules that the API is known to enforce: members, parameters, model, tools, messages, history. The
// order is our own.
func (c chat) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parse)
	if refused != nil {
		return refused
	}
	q.style, q.model = c.style, req.Model
	return codecs.First(q,
		checkMembers, checkParameters, checkFormat, checkModel, checkTools, checkToolChoice, checkMessages, checkHistory)
}

func checkMembers(q *request) *dialect.Error {
	if q.style.isOpenAI {
		if err := chatAPI.CheckKnown(q.node, "chat", ""); err != nil {
			return err
		}
	}
	switch {
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
		return cmp.Or(chatAPI.CheckValues(q.node, "chat", "", "temperature"), checkStreamOptions(q.node))
	}
	for _, names := range [][]string{{"temperature", "n"}, nil} {
		if err := chatAPI.CheckValues(q.node, "chat", "", names...); err != nil {
			return err
		}
	}
	switch stop := q.Strings("stop"); {
	case q.Has("max_tokens") && q.Has("max_completion_tokens"):
		return invalid("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case len(stop) > 4:
		return tooLong("stop", "array", "an", 4, len(stop))
	case q.Has("stream_options") && !q.Bool("stream"):
		return streamOnly()
	}
	return checkStreamOptions(q.node)
}

// checkFormat refuses JSON mode without the word in a message, and an invalid schema. Compatible servers differ.
func checkFormat(q *request) *dialect.Error {
	if format := q.Object("response_format"); !q.style.isOpenAI || mentionsJSON(format, q.Raw("messages")) {
		return checkSchema(q, format, "response_format")
	}
	return invalid("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of "+
		"type 'json_object'.")
}

// checkFlatFormat is the same rule for Responses, where the instructions do not count.
func checkFlatFormat(q *request) *dialect.Error {
	if format := q.Object("text").Object("format"); !q.style.isOpenAI || mentionsJSON(format, q.Raw("input")) {
		return checkSchema(q, format, "text.format")
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

func checkStreamOptions(body *node) *dialect.Error {
	raw := body.Raw("stream_options")
	if !jsonvalue.IsGiven(raw) {
		return nil
	}
	_, err := chatAPI.ReadAt("stream_options", raw)
	return err
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
	if m.Kind == "tool" {
		ids = append(ids, m.Text("tool_call_id"))
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
	if err := chatAPI.CheckValues(m.node, "message", m.Path); err != nil {
		return err
	}
	switch {
	case m.Has("tool_calls") && m.Kind != "assistant":
		return ours(m.Path+".tool_calls", "", "%s has tool_calls: only an assistant's message may", m.Path)
	case m.Has("tool_calls") && len(m.calls) == 0 && s.isOpenAI:
		return emptyArray(m.Path + ".tool_calls")
	case m.Kind == "function" && m.Text("name") == "":
		return invalid(fmt.Sprintf("messages.[%d].name", i), "missing_required_parameter",
			"Missing required parameter: '%s.name'.", m.Path)
	case m.empty():
		return invalid(fmt.Sprintf("messages.[%d].content", i), "",
			"Invalid value for 'content': expected a string, got null.")
	}
	for _, p := range m.List("content") {
		if err := checkPart(&p, allowedParts[m.Kind], s); err != nil {
			return err
		}
	}
	return codecs.Each(m.calls, func(c *toolCall) *dialect.Error { return c.check(s) })
}

// empty reports whether a message has no content, and nothing that replaces an assistant's.
func (m *message) empty() bool {
	if m.Kind == "assistant" && (len(m.calls) > 0 || m.Has("refusal") || m.Has("audio") || reasoningOf(m.node) != "") {
		return false
	}
	return !m.IsText("content") && len(m.List("content")) == 0
}

// checkPart leaves it to compatible servers which parts they know. They also accept the URL of an image as a string.
func checkPart(p *node, allowed []string, s *style) *dialect.Error {
	kind := p.Kind
	if s.isOpenAI && !slices.Contains(allowed, kind) {
		return unsupported(p.Path+".type", kind, allowed...)
	}
	if kind == "text" && !jsonvalue.IsKind(p.Raw("text"), '"') {
		return missing(p.Path, "text")
	}
	if kind != "image_url" {
		return nil
	}
	image := p.Object("image_url")
	url := image.Text("url")
	if !s.isOpenAI {
		url = imageURL(p)
	}
	if url == "" {
		return missing(p.Path, "image_url.url")
	}
	if _, data, err := dataURI(url); !errors.Is(err, errNotData) && len(data) == 0 { // sipherxyz/comfyui-art-venture#75
		return invalid(p.Path+".image_url.url", "invalid_base64", "Invalid base64 image_url.")
	}
	if s.isOpenAI {
		return checkDetail(image, p.Path+".image_url.detail")
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
		return wrongType(c.inner()+".arguments", "a string", c.arguments)
	}
	return checkName(c.inner()+".name", c.name)
}

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
		if m.Kind == "tool" {
			id := m.Text("tool_call_id")
			switch {
			case len(called) == 0 && q.style.isMistral && i > 0:
				return disordered("Unexpected role 'tool' after role '%s'", q.messages[i-1].Kind)
			case len(called) == 0:
				return invalid(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a "+
					"response to a prece"+"eding message with 'tool_calls'.")
			case !slices.Contains(called, id):
				return invalid(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: 'tool_call_id' of '%s' not "+
					"found in 'tool_calls' of previous message.", id)
			}
			unanswered = slices.DeleteFunc(unanswered, func(open string) bool { return open == id })
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

// withoutStop matches models that refuse stop sequences; o1 and o3-mini accept them.
var withoutStop = regexp.MustCompile(`^(o1-mini|o3($|-[^m])|(o4|gpt-5)($|-))`)

// chatModel matches models that do not reason, although they have the name of a reasoning model.
var chatModel = regexp.MustCompile(`-chat($|-)`)

// withoutSystem matches models that refuse system messages: BetterChatGPT-PLUS#90, QuantumNous/new-api#847.
var withoutSystem = regexp.MustCompile(`^o1-(mini|preview)($|-)`)

// checkModel refuses what reasoning models do not accept: max_tokens, temperature, stop sequences, efforts, a search.
func checkModel(q *request) *dialect.Error {
	if !q.style.isOpenAI || !reasoning(q.model) || chatModel.MatchString(q.model) {
		return nil
	}
	for _, m := range q.messages {
		if withoutSystem.MatchString(q.model) && (m.Kind == "system" || m.Kind == "developer") {
			return invalid(m.Path+".role", "unsupported_value",
				"Unsupported value: '%s.role' does not support '%s' with this model.", m.Path, m.Kind)
		}
	}
	if err := checkEffort("reasoning_effort", q.Text("reasoning_effort"), q.model); err != nil {
		return err
	}
	switch {
	case q.Has("web_search_options") && !strings.Contains(q.model, "search"): // pydantic/pydantic-ai#2822
		return unknown("web_search_options")
	case q.Has("max_tokens"):
		return invalid("max_tokens", "unsupported_parameter",
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	case fixesTemperature(q):
		return invalid("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support %v with this "+
			"model. Only the default (1) value is supported.", *q.Number("temperature"))
	case len(stops(q.node)) > 0 && withoutStop.MatchString(q.model):
		return unsupportedParameter("stop")
	}
	return nil
}

func fixesTemperature(q *request) bool {
	return codecs.Outside(q.Number("temperature"), 1, 1) && fixedTemperature.MatchString(q.model)
}

// efforts are those of some models. Codex models, and those after GPT-5.1, differ.
var efforts = []struct {
	models    *regexp.Regexp
	supported []string
}{
	{regexp.MustCompile(`^o[134]($|-)`), []string{"low", "medium", "high"}},
	{regexp.MustCompile(`^gpt-5($|-(\d|mini|nano))`), []string{"minimal", "low", "medium", "high"}},
	{regexp.MustCompile(`^gpt-5\.1($|-\d)`), []string{"none", "low", "medium", "high"}},
}

// checkEffort refuses an effort that the model does not support: CortexReach/memory-lancedb-pro#201.
func checkEffort(path, effort, model string) *dialect.Error {
	for _, e := range efforts {
		if effort != "" && e.models.MatchString(model) && !slices.Contains(e.supported, effort) {
			return invalid(path, "unsupported_value",
				"Unsupported value: '%s' is not supported with the '%s' model. Supported values are: %s.", effort, model,
				inWords(e.supported))
		}
	}
	return nil
}

// checkFlatModel is the same rule for Responses.
func checkFlatModel(q *request) *dialect.Error {
	if q.style.isOpenAI {
		if err := checkEffort("reasoning.effort", q.Object("reasoning").Text("effort"), q.model); err != nil {
			return err
		}
	}
	if fixesTemperature(q) && !chatModel.MatchString(q.model) {
		return unsupportedParameter("temperature")
	}
	return nil
}
