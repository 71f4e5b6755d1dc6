package openai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const maxFlatName = 128

const hostedToolWords = `
	apply_patch code_interpreter computer computer_use_preview file_search image_generation local_shell mcp
	namespace programmatic_tool_calling shell tool_search web_search web_search_2025_08_26 web_search_preview
	web_search_preview_2025_03_11
`

var hostedTools = jsonvalue.Set(hostedToolWords)

// isFlatTool reports whether the caller runs a kind of tool.
func isFlatTool(kind string) bool { return responsesAPI.Has("flat_tool", kind) }

// toolTypes are all types of tools.
var toolTypes = sorted(hostedToolWords + " function custom")

func sorted(words string) []string {
	all := strings.Fields(words)
	slices.Sort(all)
	return all
}

func checkFlatTools(q *request) *dialect.Error {
	if len(q.tools) > maxTools {
		return tooLong("tools", "array", "an", maxTools, len(q.tools))
	}
	return codecs.Each(q.tools, func(t *tool) *dialect.Error {
		if !q.style.isOpenAI && !isFlatTool(t.kind) {
			return nil // the server's own
		}
		return t.checkFlat()
	})
}

// checkFlat checks the name first: in a Chat Completions tool it is one level deeper.
func (t *tool) checkFlat() *dialect.Error {
	switch {
	case hostedTools[t.kind]:
		return nil
	case t.kind == "":
		return missing(t.path, "type")
	case !isFlatTool(t.kind):
		return unsupported(t.path+".type", t.kind, toolTypes...)
	case t.name == "":
		return missing(t.path, "name")
	case !identifier.MatchString(t.name):
		return noMatch(t.path+".name", identifier.String())
	case len(t.name) > maxFlatName:
		return tooLong(t.path+".name", "string", "a", maxFlatName, len(t.name))
	}
	if t.kind == "custom" || !jsonvalue.IsGiven(t.parameters) {
		return nil
	}
	return t.checkParameters("parameters", t.strict)
}

func checkFlatChoice(q *request) *dialect.Error {
	if !q.Has("tool_choice") {
		return nil
	}
	choice, refused := readChoice(q.Members)
	if refused == nil && q.Text("tool_choice") == dialect.ChoiceRequired && len(q.tools) == 0 {
		return invalid("tool_choice", "", "Tool choice 'required' must be specified with 'tools' parameter.")
	}
	if choice == nil {
		return refused
	}
	kind := choice.Text("type")
	switch {
	case kind == "allowed_tools":
		return checkAllowed(q, choice)
	case hostedTools[kind]:
		return nil
	case !isFlatTool(kind):
		if !q.style.isOpenAI {
			return nil // the server's own
		}
		return unsupported("tool_choice.type", kind, append([]string{"allowed_tools"}, toolTypes...)...)
	case !choice.Has("name"):
		return missing("tool_choice", "name")
	}
	return q.offered(choice, "tool_choice")
}

// checkAllowed requires a mode, and only offered tools.
func checkAllowed(q *request, choice jsonvalue.Members) *dialect.Error {
	if mode := choice.Text("mode"); mode != dialect.ChoiceAuto && mode != dialect.ChoiceRequired {
		return unsupported("tool_choice.mode", mode, dialect.ChoiceAuto, dialect.ChoiceRequired)
	}
	var tools []jsonvalue.Members
	if choice.Read("tools", &tools) != nil || len(tools) == 0 {
		return missing("tool_choice", "tools")
	}
	for i, t := range tools {
		if !isFlatTool(t.Text("type")) {
			continue // run by the provider
		}
		if err := q.offered(t, fmt.Sprintf("tool_choice.tools[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (q *request) offered(choice jsonvalue.Members, path string) *dialect.Error {
	kind, name := choice.Text("type"), choice.Text("name")
	if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.kind == kind && t.name == name }) {
		return invalid(strings.Split(path, ".")[0], "", "Tool choice '%s' not found in 'tools' parameter.", kind)
	}
	return nil
}
