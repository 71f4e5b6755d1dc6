package openai

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// responsesMembers are the members of a request: API reference of 2026.
var responsesMembers = jsonvalue.Set(`
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

var includable = jsonvalue.Set(`
	file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url
	computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content
	message.output_text.logprobs
`)

// minOutputTokens is the minimum of max_output_tokens; no other provider has one.
const minOutputTokens = 16

// Check applies the rules that the API is known to enforce: members, stored objects, parameters, tools, items, history.
// Unknown stored objects give 404, all else 400. The order is our own.
func (o responses) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parseResponses)
	if refused != nil {
		return refused
	}
	type of = responsesRequest
	q.style = o.style
	return codecs.First(q, (*of).checkMembers, (*of).checkNames, (*of).checkStored, (*of).checkParameters,
		(*of).checkFormat, (*of).checkModel, (*of).checkTools, (*of).checkToolChoice, (*of).checkItems, (*of).checkHistory)
}

func (q *responsesRequest) checkMembers() *dialect.Error {
	if names := q.Unknown(responsesMembers); names != nil && q.style.isOpenAI {
		if name := names[0]; renamedMembers[name] != "" {
			return invalid(name, "unsupported_parameter", "Unsupported parameter: '%s'. In the Responses API, this parameter "+
				"has moved to '%s'. Try again with the new parameter. See the API documentation for more information: "+
				"https://platform.openai.com/docs/api-reference/responses/create.", name, renamedMembers[name])
		}
		return unknown(names[0])
	}
	if q.model == "" {
		return missing("", "model")
	}
	return nil
}

func unknown(path string) *dialect.Error {
	return invalid(path, "unknown_parameter", "Unknown parameter: '%s'.", path)
}

func onlyKnown(o jsonvalue.Members, path string, members map[string]bool) *dialect.Error {
	if names := o.Unknown(members); names != nil {
		return unknown(path + "." + names[0])
	}
	return nil
}

// checkStored refuses references to conversations and prompts, which the fake does not store. [responses.Complete]
// refuses unknown responses and items.
func (q *responsesRequest) checkStored() *dialect.Error {
	switch {
	case q.Has("conversation"):
		return notStored("conversation",
			"the conversation %s is not there, as this model server keeps none: send it as input"+dialect.OwnWords,
			q.Raw("conversation"))
	case q.Has("prompt"):
		return notStored("prompt", "the prompt %s is not there, as this model server keeps none: send it as input or "+
			"instructions"+dialect.OwnWords, q.Raw("prompt"))
	case q.background:
		return ours("background", "",
			"background is set: this model server answers at once and keeps nothing, so leave it out")
	case q.prompt == nil && !q.Has("input"):
		return missing("", "input")
	case q.prompt == nil && len(q.items) == 0:
		return emptyArray("input")
	}
	return nil
}

func notStored(param, format string, args ...any) *dialect.Error {
	err := invalid(param, "", format, args...)
	err.Status = http.StatusNotFound
	return err
}

// checkParameters checks the ranges, and for OpenAI what the answer may include and how long it is at least.
func (q *responsesRequest) checkParameters() *dialect.Error {
	if !q.style.isOpenAI {
		return cmp.Or(outOfRange("temperature", q.temperature, 0, 2), outOfRange("top_p", q.topP, 0, 1),
			checkStreamOptions(q.Members))
	}
	for _, err := range []*dialect.Error{outOfRange("temperature", q.temperature, 0, 2), outOfRange("top_p", q.topP, 0, 1),
		outOfRange("max_output_tokens", q.maxTokens, minOutputTokens, math.MaxInt64),
		outOfRange("top_logprobs", q.topLogprobs, 0, 20)} {
		if err != nil {
			return err
		}
	}
	if q.Has("stream_options") && !q.stream {
		return streamOnly()
	}
	for i, name := range q.include {
		if !includable[name] {
			return unsupported(jsonvalue.At("include", i), name, slices.Sorted(maps.Keys(includable))...)
		}
	}
	return checkStreamOptions(q.Members)
}

const hostedItemWords = `
	additional_tools apply_patch_call apply_patch_call_output code_interpreter_call compaction compaction_trigger
	computer_call computer_call_output configuration_update file_search_call image_generation_call local_shell_call
	local_shell_call_output mcp_approval_request mcp_approval_response mcp_call mcp_list_tools program
	program_output shell_call shell_call_output tool_search_call tool_search_output web_search_call
`

// Members of items and parts by type. Items of the provider's own tools are not inspected.
var (
	itemMembers = map[string]map[string]bool{
		"message":                 jsonvalue.Set("type role content id status phase"),
		"function_call":           jsonvalue.Set("type id call_id name arguments status namespace async caller"),
		"function_call_output":    jsonvalue.Set("type id call_id name output status namespace caller"),
		"custom_tool_call":        jsonvalue.Set("type id call_id name input status namespace caller"),
		"custom_tool_call_output": jsonvalue.Set("type id call_id name output status namespace caller"),
		"reasoning":               jsonvalue.Set("type id summary content encrypted_content status"),
		"item_reference":          jsonvalue.Set("type id"),
	}
	partMembers = map[string]map[string]bool{
		"input_text":   jsonvalue.Set("type text prompt_cache_breakpoint"),
		"input_image":  jsonvalue.Set("type image_url file_id detail prompt_cache_breakpoint"),
		"input_file":   jsonvalue.Set("type file_data file_id file_url filename detail prompt_cache_breakpoint"),
		"input_audio":  jsonvalue.Set("type input_audio"),
		"output_text":  jsonvalue.Set("type text annotations logprobs"),
		"refusal":      jsonvalue.Set("type refusal"),
		"summary_text": jsonvalue.Set("type text"),
	}
	hostedItems = jsonvalue.Set(hostedItemWords)

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

// checkNames refuses unknown members, and ids with another prefix than OpenAI's. Compatible servers accept both.
func (q *responsesRequest) checkNames() *dialect.Error {
	if !q.style.isOpenAI {
		return nil
	}
	for _, it := range q.items {
		members := itemMembers[it.kind]
		if members == nil {
			continue
		}
		if err := onlyKnown(it.Members, it.path, members); err != nil {
			return err
		}
		if it.kind == "reasoning" && jsonvalue.IsKind(it.Raw("status"), 'n') { // copied from an SDK's object
			return unknown(it.path + ".status")
		}
		if prefix := idPrefixes[it.kind]; it.id != "" && !strings.HasPrefix(it.id, prefix) {
			return invalid(it.path+".id", "invalid_value", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.",
				it.path, it.id, prefix)
		}
		for _, p := range it.parts {
			if known := partMembers[p.Text("type")]; known != nil {
				if err := onlyKnown(p.Members, p.path, known); err != nil {
					return err
				}
			}
		}
	}
	return codecs.Each(q.tools, func(t *tool) *dialect.Error {
		if toolMembers[t.kind] == nil || t.name == "" {
			return nil // refused for that
		}
		return onlyKnown(t.flat, t.path, toolMembers[t.kind])
	})
}

func (q *responsesRequest) checkItems() *dialect.Error {
	return codecs.Each(q.items, func(it *item) *dialect.Error { return it.check(q.style) })
}

func (it *item) check(s *style) *dialect.Error {
	switch {
	case hostedItems[it.kind]:
		return nil
	case itemMembers[it.kind] == nil:
		if !s.isOpenAI {
			return nil // of a tool that the server runs
		}
		return unsupported(it.path, it.kind, sorted(hostedItemWords+" message function_call function_call_output "+
			"custom_tool_call custom_tool_call_output reasoning item_reference")...)
	}
	switch it.kind {
	case "message":
		parts, known := messageParts[it.role]
		if !known {
			return unsupported(it.path+".role", it.role, "assistant", "system", "developer", "user")
		}
		return it.checkContent(parts)
	case "function_call", "custom_tool_call":
		return it.checkCall()
	case "function_call_output", "custom_tool_call_output":
		if err := it.checkCallID(); err != nil {
			return err
		}
		return it.checkContent(resultParts)
	case "reasoning":
		if !it.Has("summary") {
			return missing(it.path, "summary")
		}
		return it.checkContent([]string{"summary_text"})
	}
	return nil // item_reference
}

func (it *item) checkCallID() *dialect.Error {
	switch {
	case it.callID == "":
		return missing(it.path, "call_id")
	case len(it.callID) > maxCallID:
		return tooLong(it.path+".call_id", "string", "a", maxCallID, len(it.callID))
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
		return noMatch(it.path+".name", identifier.String())
	case !it.Has(member):
		return missing(it.path, member)
	case !jsonvalue.IsKind(it.Raw(member), '"'):
		return wrongType(it.path+"."+member, "a string", jsonvalue.JSONName(it.Raw(member)))
	}
	return nil
}

// checkContent requires a text, or parts of the allowed types.
func (it *item) checkContent(allowed []string) *dialect.Error {
	if it.text == nil && !it.Has(contents[it.kind]) {
		return missing(it.path, contents[it.kind])
	}
	return codecs.Each(it.parts, func(p *part) *dialect.Error { return p.checkFlat(allowed) })
}

func (p *part) checkFlat(allowed []string) *dialect.Error {
	kind := p.Text("type")
	if !slices.Contains(allowed, kind) {
		return unsupported(p.path, kind, allowed...)
	}
	switch kind {
	case "input_text", "output_text", "summary_text", "refusal":
		member := "text"
		if kind == "refusal" {
			member = kind
		}
		if !jsonvalue.IsKind(p.Raw(member), '"') {
			return missing(p.path, member)
		}
	case "input_image":
		url := p.Raw("image_url")
		if p.Has("image_url") && !jsonvalue.IsKind(url, '"') {
			return wrongType(p.path+".image_url", "a string", jsonvalue.JSONName(url))
		}
		if !p.Has("image_url") && !p.Has("file_id") {
			return missing(p.path, "image_url")
		}
		if _, data, err := dataURI(p.Text("image_url")); !errors.Is(err, errNotData) && len(data) == 0 {
			return notImage(p.path+".image_url", err)
		}
		return checkDetail(p.Members, p.path+".detail", "original")
	case "input_audio":
		if !jsonvalue.IsKind(p.Raw("input_audio"), '{') {
			return missing(p.path, "input_audio")
		}
	}
	return nil
}

// notImage refuses an image without data, or whose data cannot be read: anomalyco/opencode#23983.
func notImage(path string, err error) *dialect.Error {
	const expected = "Invalid '%s'. Expected a base64-encoded data URL with an image MIME type (e.g. " +
		"'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got "
	if err != nil {
		return ours(path, "invalid_value", expected+"%v.", path, err)
	}
	return invalid(path, "invalid_value", expected+"empty base64-encoded bytes.", path)
}

// checkHistory enforces the API's rules: each call has an output, each output follows its call, and reasoning precedes
// what it led to.
func (q *responsesRequest) checkHistory() *dialect.Error {
	if !q.refers() { // else Complete has done so
		if err := q.checkOutputs(); err != nil {
			return err
		}
	}
	var unanswered []string
	for i := range q.items {
		it := &q.items[i]
		switch it.kind {
		case "function_call", "custom_tool_call":
			if q.style.isOpenAI || it.kind == "function_call" { // xAI's own tools may have custom calls
				unanswered = append(unanswered, it.callID)
			}
		case "function_call_output", "custom_tool_call_output":
			unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == it.callID })
		case "reasoning":
			if q.style.isOpenAI && (i == len(q.items)-1 || !q.items[i+1].followsReasoning()) {
				return invalid("input", "",
					"Item '%s' of type 'reasoning' was provided without its required following item.", it.id)
			}
		}
	}
	if len(unanswered) > 0 {
		return invalid("input", "", "No tool output found for function call %s.", unanswered[0])
	}
	return nil
}

// checkOutputs refuses the output of a call that does not come before it.
func (q *responsesRequest) checkOutputs() *dialect.Error {
	var called []string
	for i := range q.items {
		it := &q.items[i]
		switch it.kind {
		case "function_call", "custom_tool_call":
			called = append(called, it.callID)
		case "function_call_output", "custom_tool_call_output":
			if !slices.Contains(called, it.callID) {
				return invalid("input", "", "No tool call found for function call output with call_id %s.", it.callID)
			}
		}
	}
	return nil
}

func (it *item) followsReasoning() bool {
	_, turn := it.speaker()
	return turn == string(dialect.Assistant)
}
