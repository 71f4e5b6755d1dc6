package openai

import (
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// responsesMembers are the members of a request: API reference of 2026.
var responsesMembers = dialect.Set(`
	access_programs background context_management conversation include input instructions max_output_tokens
	max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key
	prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
	temperature text tool_choice tools top_logprobs top_p truncation user
`)

// renamedMembers maps members of Chat Completions to their names in Responses.
var renamedMembers = map[string]string{
	"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
	"response_format":  "text.format",
	"reasoning_effort": "reasoning.effort", "verbosity": "text.verbosity", "functions": "tools",
	"function_call": "tool_choice",
}

var includable = dialect.Set(`
	file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url
	computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content
	message.output_text.logprobs
`)

// minOutputTokens is the minimum of max_output_tokens; no other provider has one.
const minOutputTokens = 16

// Check applies the rules that the API is known to enforce: members, stored objects, parameters, tools, items, history.
// Unknown stored objects give 404, all else 400. The order is our own.
func (responses) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parseResponses)
	if refused != nil {
		return refused
	}
	type of = responsesRequest
	return dialect.First(q, (*of).checkMembers, (*of).checkStored, (*of).checkParameters, (*of).checkModel,
		(*of).checkTools, (*of).checkToolChoice, (*of).checkItems, (*of).checkHistory)
}

func (q *responsesRequest) checkMembers() *dialect.Error {
	if names := q.Unknown(responsesMembers); names != nil {
		if name := names[0]; renamedMembers[name] != "" {
			return invalid(name, "unsupported_parameter", "%s is not a parameter here: in Responses it is %s", name,
				renamedMembers[name])
		}
		return unknown(names[0])
	}
	if q.model == "" {
		return invalid("model", "missing_required_parameter", "no model is named: set model")
	}
	return nil
}

func unknown(path string) *dialect.Error {
	return invalid(path, "unknown_parameter", "the parameter %s is unknown: leave it out", path)
}

func onlyKnown(o dialect.Members, path string, members map[string]bool) *dialect.Error {
	if names := o.Unknown(members); names != nil {
		return unknown(path + "." + names[0])
	}
	return nil
}

// checkStored refuses references to stored objects: this server stores nothing.
func (q *responsesRequest) checkStored() *dialect.Error {
	switch {
	case q.Has("previous_response_id"):
		return invalid("previous_response_id", "previous_response_not_found",
			"the response %s is not there, as this model server keeps none: send the whole conversation as input",
			q.Raw("previous_response_id"))
	case q.Has("conversation"):
		return notStored("conversation",
			"the conversation %s is not there, as this model server keeps none: send it as input", q.Raw("conversation"))
	case q.Has("prompt"):
		return notStored("prompt", "the prompt %s is not there, as this model server keeps none: send it as input or "+
			"instructions", q.Raw("prompt"))
	case q.background:
		return invalid("background", "",
			"background is set: this model server answers at once and keeps nothing, so leave it out")
	case q.prompt == nil && !q.Has("input"):
		return invalid("input", "missing_required_parameter", "input is missing: want a string or an array of items")
	case q.prompt == nil && len(q.items) == 0:
		return invalid("input", "empty_array", "input is empty: want at least one item")
	}
	return nil
}

func notStored(param, format string, args ...any) *dialect.Error {
	err := invalid(param, "", format, args...)
	err.Status = http.StatusNotFound
	return err
}

func (q *responsesRequest) checkParameters() *dialect.Error {
	switch {
	case dialect.Outside(q.temperature, 0, 2):
		return invalid("temperature", "decimal_out_of_range", "temperature is %v: want 0 to 2", *q.temperature)
	case dialect.Outside(q.topP, 0, 1):
		return invalid("top_p", "decimal_out_of_range", "top_p is %v: want 0 to 1", *q.topP)
	case q.maxTokens != nil && *q.maxTokens < minOutputTokens:
		return invalid("max_output_tokens", "integer_below_min_value", "max_output_tokens is %d: want at least %d",
			*q.maxTokens, minOutputTokens)
	case dialect.Outside(q.topLogprobs, 0, 20):
		return invalid("top_logprobs", "integer_out_of_range", "top_logprobs is %d: want 0 to 20", *q.topLogprobs)
	case q.Has("stream_options") && !q.stream:
		return invalid("stream_options", "", "stream_options is set without stream: want it only with stream: true")
	}
	for _, name := range q.include {
		if !includable[name] {
			return invalid("include", "invalid_value", "include has %q: want %s", name,
				strings.Join(slices.Sorted(maps.Keys(includable)), ", "))
		}
	}
	return nil
}

// Members of items and parts by type. Items of the provider's own tools are not inspected.
var (
	itemMembers = map[string]map[string]bool{
		"message":                 dialect.Set("type role content id status phase"),
		"function_call":           dialect.Set("type id call_id name arguments status namespace async caller"),
		"function_call_output":    dialect.Set("type id call_id name output status namespace caller"),
		"custom_tool_call":        dialect.Set("type id call_id name input status namespace caller"),
		"custom_tool_call_output": dialect.Set("type id call_id name output status namespace caller"),
		"reasoning":               dialect.Set("type id summary content encrypted_content"),
		"item_reference":          dialect.Set("type id"),
	}
	partMembers = map[string]map[string]bool{
		"input_text":   dialect.Set("type text prompt_cache_breakpoint"),
		"input_image":  dialect.Set("type image_url file_id detail prompt_cache_breakpoint"),
		"input_file":   dialect.Set("type file_data file_id file_url filename detail prompt_cache_breakpoint"),
		"input_audio":  dialect.Set("type input_audio"),
		"output_text":  dialect.Set("type text annotations logprobs"),
		"refusal":      dialect.Set("type refusal"),
		"summary_text": dialect.Set("type text"),
	}
	hostedItems = dialect.Set(`
		additional_tools apply_patch_call apply_patch_call_output code_interpreter_call compaction compaction_trigger
		computer_call computer_call_output configuration_update file_search_call image_generation_call local_shell_call
		local_shell_call_output mcp_approval_request mcp_approval_response mcp_call mcp_list_tools program
		program_output shell_call shell_call_output tool_search_call tool_search_output web_search_call
	`)

	messageParts = map[string][]string{
		"user":      {"input_text", "input_image", "input_file", "input_audio"},
		"system":    {"input_text", "input_image", "input_file"},
		"developer": {"input_text", "input_image", "input_file"},
		"assistant": {"output_text", "refusal"},
	}
	resultParts = []string{"input_text", "input_image", "input_file"}

	// idPrefixes are the prefixes of item ids. A call's item id is not its call_id.
	idPrefixes = map[string]string{"message": "msg", "function_call": "fc", "reasoning": "rs"}

	identifier = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

const maxCallID = 64

func (q *responsesRequest) checkItems() *dialect.Error {
	return dialect.Each(q.items, (*item).check)
}

func (it *item) check() *dialect.Error {
	members, known := itemMembers[it.kind]
	switch {
	case hostedItems[it.kind]:
		return nil
	case !known:
		return invalid(it.path+".type", "invalid_value",
			"%s has the type %q: want message, function_call, function_call_output, reasoning, "+
				"item_reference, or the item of a tool that the provider runs", it.path, it.kind)
	}
	if err := onlyKnown(it.Members, it.path, members); err != nil {
		return err
	}
	if prefix := idPrefixes[it.kind]; it.id != "" && !strings.HasPrefix(it.id, prefix) {
		return invalidAt(it.path, "id", "invalid_value", "has the id %q: want one that begins with %q, or none",
			it.id, prefix)
	}
	switch it.kind {
	case "message":
		parts, known := messageParts[it.role]
		if !known {
			return invalidAt(it.path, "role", "invalid_value", "has the role %q: want assistant, system, developer or user",
				it.role)
		}
		return it.checkContent(parts, "a message of the role "+it.role)
	case "function_call", "custom_tool_call":
		return it.checkCall()
	case "function_call_output", "custom_tool_call_output":
		if err := it.checkCallID(); err != nil {
			return err
		}
		return it.checkContent(resultParts, "the output of a call")
	case "reasoning":
		if !it.Has("summary") {
			return missing(it.path, "summary")
		}
		return it.checkContent([]string{"summary_text"}, "the summary of reasoning")
	}
	return notStored("input", "%s refers to the item %q, which is not there, as this model server keeps none: send the "+
		"item itself", it.path, it.id)
}

func missing(path, name string) *dialect.Error {
	return invalid(path+"."+name, "missing_required_parameter", "%s has no %s", path, name)
}

func (it *item) checkCallID() *dialect.Error {
	switch {
	case it.callID == "":
		return missing(it.path, "call_id")
	case len(it.callID) > maxCallID:
		return invalidAt(it.path, "call_id", "string_above_max_length", "has a call_id of %d characters: want at most %d",
			len(it.callID), maxCallID)
	}
	return nil
}

func (it *item) checkCall() *dialect.Error {
	if err := it.checkCallID(); err != nil {
		return err
	}
	member := "arguments"
	if it.kind == "custom_tool_call" {
		member = "input"
	}
	switch {
	case it.name == "":
		return missing(it.path, "name")
	case !identifier.MatchString(it.name):
		return invalidAt(it.path, "name", "invalid_value", "has the name %q: want a match of %s", it.name, identifier)
	case !it.Has(member):
		return missing(it.path, member)
	case !dialect.IsKind(it.Raw(member), '"'):
		return invalid(it.path+"."+member, "invalid_type", "%s.%s has the wrong type: want a string, got %s", it.path,
			member, dialect.JSONName(it.Raw(member)))
	}
	return nil
}

// checkContent requires a text, or parts of the allowed types.
func (it *item) checkContent(allowed []string, where string) *dialect.Error {
	if it.text == nil && !it.Has(contents[it.kind]) {
		return missing(it.path, contents[it.kind])
	}
	return dialect.Each(it.parts, func(p *part) *dialect.Error { return p.checkFlat(allowed, where) })
}

func (p *part) checkFlat(allowed []string, where string) *dialect.Error {
	kind := p.Text("type")
	if !slices.Contains(allowed, kind) {
		return invalidAt(p.path, "type", "invalid_value", "has the type %q: want %s in %s", kind,
			strings.Join(allowed, " or "), where)
	}
	if err := onlyKnown(p.Members, p.path, partMembers[kind]); err != nil {
		return err
	}
	switch kind {
	case "input_text", "output_text", "summary_text", "refusal":
		member := "text"
		if kind == "refusal" {
			member = kind
		}
		if !dialect.IsKind(p.Raw(member), '"') {
			return missing(p.path, member)
		}
	case "input_image":
		url := p.Raw("image_url")
		if p.Has("image_url") && !dialect.IsKind(url, '"') {
			return invalid(p.path+".image_url", "invalid_type",
				"%s.image_url has the wrong type: want a URL as a string, got %s", p.path, dialect.JSONName(url))
		}
		if !p.Has("image_url") && !p.Has("file_id") {
			return missing(p.path, "image_url")
		}
		if _, _, err := dataURI(p.Text("image_url")); err != nil && !errors.Is(err, errNotData) {
			return invalidAt(p.path, "image_url", "invalid_value", "has an image that cannot be read: %v", err)
		}
	case "input_audio":
		if !dialect.IsKind(p.Raw("input_audio"), '{') {
			return missing(p.path, "input_audio")
		}
	}
	return nil
}

// checkHistory enforces the API's rules: each call has an output, each output follows its call, and reasoning precedes
// what it led to.
func (q *responsesRequest) checkHistory() *dialect.Error {
	var called, unanswered []string
	for i := range q.items {
		it := &q.items[i]
		switch it.kind {
		case "function_call", "custom_tool_call":
			called, unanswered = append(called, it.callID), append(unanswered, it.callID)
		case "function_call_output", "custom_tool_call_output":
			if !slices.Contains(called, it.callID) {
				return invalid("input", "", "%s is the output of the call %q: no such call comes before it", it.path, it.callID)
			}
			unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == it.callID })
		case "reasoning":
			if i == len(q.items)-1 || !q.items[i+1].followsReasoning() {
				return invalid("input", "", "%s is reasoning (%s) that nothing comes of: want the item that followed it after it",
					it.path, it.id)
			}
		}
	}
	if len(unanswered) > 0 {
		return invalid("input", "", "calls without an output: want a function_call_output for each of %s",
			strings.Join(unanswered, ", "))
	}
	return nil
}

func (it *item) followsReasoning() bool {
	_, turn := it.speaker()
	return turn == string(dialect.Assistant)
}
