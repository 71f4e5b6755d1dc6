package openai

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var includable = jsonvalue.Set(`
	file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url
	computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content
	message.output_text.logprobs
`)

// Check applies the rules that the API is known to enforce: members, stored objects, parameters, tools, items,
// history.
// Unknown stored objects give 404, all else 400. The order is our own.
func (o responses) Check(req *dialect.Request) *dialect.Error {
	q, refused := dialect.Parsed(req, parseResponses)
	if refused != nil {
		return refused
	}
	q.style, q.model = o.style, req.Model
	return codecs.First(q, checkFlatMembers, checkNames, checkStored,
		checkFlatParameters, checkFlatFormat, checkFlatModel, checkFlatTools, checkFlatChoice, checkItems, checkFlatHistory)
}

func checkFlatMembers(q *request) *dialect.Error {
	if q.style.isOpenAI {
		if err := responsesAPI.CheckKnown(q.node, "responses", ""); err != nil {
			return err
		}
	}
	if q.model == "" && !q.Has("prompt") { // a stored prompt has a model
		return missing("", "model")
	}
	return nil
}

func unknown(path string) *dialect.Error {
	return invalid(path, "unknown_parameter", "Unknown parameter: '%s'.", path)
}

// checkStored refuses references to conversations and prompts, which the fake does not store. [responses.Complete]
// refuses unknown responses and items.
func checkStored(q *request) *dialect.Error {
	switch {
	case q.Has("conversation"):
		return notStored("conversation",
			"the conversation %s is not there, as this model server keeps none: send it as input"+dialect.OwnWords,
			q.Raw("conversation"))
	case q.Has("prompt"):
		return notStored("prompt", "the prompt %s is not supported, as this model server keeps none: send it as input or "+
			"instructions"+dialect.OwnWords, q.Raw("prompt"))
	case q.Bool("background"):
		return ours("background", "",
			"background is set: this model server answers at once and keeps nothing, so leave it out")
	case !q.Has("input"):
		return missing("", "input")
	case !q.IsText("input") && len(q.List("input")) == 0:
		return emptyArray("input")
	}
	return nil
}

func notStored(param, format string, args ...any) *dialect.Error {
	err := invalid(param, "", format, args...)
	err.Status = http.StatusNotFound
	return err
}

// checkFlatParameters checks the ranges, and for OpenAI what the answer may include and how long it is at least.
func checkFlatParameters(q *request) *dialect.Error {
	if !q.style.isOpenAI {
		return cmp.Or(responsesAPI.CheckValues(q.node, "responses", "", "temperature", "top_p"), checkStreamOptions(q.node))
	}
	if err := responsesAPI.CheckValues(q.node, "responses", ""); err != nil {
		return err
	}
	if q.Has("stream_options") && !q.Bool("stream") {
		return streamOnly()
	}
	for i, name := range q.Strings("include") {
		if !includable[name] {
			return unsupported(jsonvalue.At("include", i), name, slices.Sorted(maps.Keys(includable))...)
		}
	}
	return checkStreamOptions(q.node)
}

const hostedItemWords = `
	additional_tools apply_patch_call apply_patch_call_output code_interpreter_call compaction compaction_trigger
	computer_call computer_call_output configuration_update file_search_call image_generation_call local_shell_call
	local_shell_call_output mcp_approval_request mcp_approval_response mcp_call mcp_list_tools program
	program_output shell_call shell_call_output tool_search_call tool_search_output web_search_call
`

var (
	// Items of the provider's own tools are not inspected.
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
func checkNames(q *request) *dialect.Error {
	if !q.style.isOpenAI {
		return nil
	}
	err := codecs.Each(q.List("input"), func(it *node) *dialect.Error {
		if !responsesAPI.Has("item", it.Kind) {
			return nil
		}
		if err := responsesAPI.CheckKnown(it, "item", it.Path); err != nil {
			return err
		}
		if it.Kind == "reasoning" && jsonvalue.IsKind(it.Raw("status"), 'n') { // copied from an SDK's object
			return unknown(it.Path + ".status")
		}
		id := it.Text("id")
		if prefix := idPrefixes[it.Kind]; id != "" && !strings.HasPrefix(id, prefix) {
			return invalid(it.Path+".id", "invalid_value", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.",
				it.Path, id, prefix)
		}
		return codecs.Each(it.List(contents[it.Kind]), func(p *node) *dialect.Error {
			if !responsesAPI.Has("flat_part", p.Kind) {
				return nil
			}
			return responsesAPI.CheckKnown(p, "flat_part", p.Path)
		})
	})
	if err != nil {
		return err
	}
	return codecs.Each(q.tools, func(t *tool) *dialect.Error {
		if !isFlatTool(t.kind) || t.name == "" {
			return nil // refused for that
		}
		return responsesAPI.CheckKnown(t.flat, "flat_tool", t.path)
	})
}

func checkItems(q *request) *dialect.Error {
	return codecs.Each(q.List("input"), func(it *node) *dialect.Error { return checkItem(it, q.style) })
}

func checkItem(it *node, s *style) *dialect.Error {
	switch {
	case hostedItems[it.Kind]:
		return nil
	case !responsesAPI.Has("item", it.Kind):
		if !s.isOpenAI {
			return nil // of a tool that the server runs
		}
		return unsupported(it.Path, it.Kind, sorted(hostedItemWords+" message function_call function_call_output "+
			"custom_tool_call custom_tool_call_output reasoning item_reference")...)
	}
	switch it.Kind {
	case "message":
		parts, known := messageParts[it.Text("role")]
		if !known {
			return unsupported(it.Path+".role", it.Text("role"), "assistant", "system", "developer", "user")
		}
		return checkContent(it, parts)
	case "function_call", "custom_tool_call":
		return checkCall(it)
	case "function_call_output", "custom_tool_call_output":
		if err := checkCallID(it); err != nil {
			return err
		}
		return checkContent(it, resultParts)
	case "reasoning":
		if !it.Has("summary") {
			return missing(it.Path, "summary")
		}
		return checkContent(it, []string{"summary_text"})
	}
	return nil // item_reference
}

func checkCallID(it *node) *dialect.Error {
	switch {
	case it.Text("call_id") == "":
		return missing(it.Path, "call_id")
	case len(it.Text("call_id")) > maxCallID:
		return tooLong(it.Path+".call_id", "string", "a", maxCallID, len(it.Text("call_id")))
	}
	return nil
}

func checkCall(it *node) *dialect.Error {
	if err := checkCallID(it); err != nil {
		return err
	}
	member := "arguments"
	if it.Kind == "custom_tool_call" {
		member = "input"
	}
	switch {
	case it.Text("name") == "":
		return missing(it.Path, "name")
	case !identifier.MatchString(it.Text("name")):
		return noMatch(it.Path+".name", identifier.String())
	case !it.Has(member):
		return missing(it.Path, member)
	case !jsonvalue.IsKind(it.Raw(member), '"'):
		return wrongType(it.Path+"."+member, "a string", it.Raw(member))
	}
	return nil
}

func checkContent(it *node, allowed []string) *dialect.Error {
	if !it.Has(contents[it.Kind]) {
		return missing(it.Path, contents[it.Kind])
	}
	return codecs.Each(it.List(contents[it.Kind]), func(p *node) *dialect.Error { return checkFlatPart(p, allowed) })
}

func checkFlatPart(p *node, allowed []string) *dialect.Error {
	kind := p.Kind
	if !slices.Contains(allowed, kind) {
		return unsupported(p.Path, kind, allowed...)
	}
	switch kind {
	case "input_text", "output_text", "summary_text":
		return needs(p, "text", '"')
	case "refusal":
		return needs(p, kind, '"')
	case "input_image":
		return checkFlatImage(p)
	case "input_file":
		if kind := audioFile(p); kind != "" {
			return ours(p.Path, "unsupported_file", "%s is a file of the type %s: this API reads documents, not sound",
				p.Path, kind)
		}
	case "input_audio":
		return needs(p, "input_audio", '{')
	}
	return nil
}

// needs refuses a node without a member of the given kind (see jsonvalue.IsKind).
func needs(n *node, member string, kind byte) *dialect.Error {
	if !jsonvalue.IsKind(n.Raw(member), kind) {
		return missing(n.Path, member)
	}
	return nil
}

func checkFlatImage(p *node) *dialect.Error {
	url := p.Raw("image_url")
	if p.Has("image_url") && !jsonvalue.IsKind(url, '"') {
		return wrongType(p.Path+".image_url", "a string", url)
	}
	if !p.Has("image_url") && !p.Has("file_id") {
		return missing(p.Path, "image_url")
	}
	if _, data, err := dataURI(p.Text("image_url")); !errors.Is(err, errNotData) && len(data) == 0 {
		return notImage(p.Path+".image_url", err)
	}
	return checkDetail(p.Members, p.Path+".detail", "original")
}

// audioFile returns the type of a file that is a sound; "" for any other.
func audioFile(p *node) string {
	data := p.Text("file_data")
	kind, _, _ := strings.Cut(strings.TrimPrefix(data, "data:"), ";")
	if strings.HasPrefix(data, "data:audio/") {
		return kind
	}
	if kind := strings.ToLower(path.Ext(p.Text("filename"))); slices.Contains([]string{".mp3", ".wav"}, kind) {
		return kind
	}
	return ""
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

// checkFlatHistory enforces the API's rules: each call has an output, each output follows its call, and reasoning
// precedes what it led to.
func checkFlatHistory(q *request) *dialect.Error {
	if !refers(q.node) { // else Complete has done so
		if err := checkOutputs(q.node); err != nil {
			return err
		}
	}
	var unanswered []string
	items := q.List("input")
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case "function_call", "custom_tool_call":
			if q.style.isOpenAI || it.Kind == "function_call" { // xAI's own tools may have custom calls
				unanswered = append(unanswered, it.Text("call_id"))
			}
		case "function_call_output", "custom_tool_call_output":
			unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == it.Text("call_id") })
		case "reasoning":
			if q.style.isOpenAI && (i == len(items)-1 || !followsReasoning(it, &items[i+1])) {
				return invalid("input", "",
					"Item '%s' of type 'reasoning' was provided without its required following item.", it.Text("id"))
			}
		}
	}
	if len(unanswered) > 0 {
		return invalid("input", "", "No tool output found for function call %s.", unanswered[0])
	}
	return nil
}

// checkOutputs refuses the output of a call that does not come before it.
func checkOutputs(q *node) *dialect.Error {
	var called []string
	items := q.List("input")
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case "function_call", "custom_tool_call", "tool_search_call":
			called = append(called, it.Text("call_id"))
		case "function_call_output", "custom_tool_call_output":
			if !slices.Contains(called, it.Text("call_id")) {
				return invalid("input", "", "No tool call found for function call output with call_id %s.", it.Text("call_id"))
			}
		}
	}
	return nil
}

// followsReasoning reports whether an item can be what the reasoning led to. Reasoning that the provider has stored,
// and that is not encrypted in the request, needs the stored message, with its id: openai/openai-node#1567.
func followsReasoning(reasoning, it *node) bool {
	_, turn := speaker(it)
	isStored := reasoning.Text("id") != "" && !reasoning.Has("encrypted_content")
	return turn == string(dialect.Assistant) && !(isStored && it.Kind == "message" && it.Text("id") == "")
}
