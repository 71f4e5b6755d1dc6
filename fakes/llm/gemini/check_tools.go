package gemini

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)

// checkTools accepts an object schema without properties. The API refused it at times, so hosts omit parameters.
func checkTools(q *node) *dialect.Error {
	seen := map[string]bool{}
	for _, d := range declarations(q) {
		name := d.text("name")
		switch {
		case !functionName.MatchString(name):
			return violation(d.below("name"), "Invalid function name. Must start with a letter or an underscore. Must be "+
				"alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of "+
				"128.")
		case seen[name]:
			return invalid("", "Duplicate function declaration found: %s", name)
		case d.at("parameters") != nil && d.at("parametersJsonSchema") != nil:
			return ours("%s has both parameters and parametersJsonSchema: expected one of them", d.path)
		}
		seen[name] = true
		if schema := d.at("parameters"); schema != nil {
			if err := checkParameters(schema, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasBuiltIn reports whether a tool is the provider's own, such as googleSearch.
func hasBuiltIn(q *node) bool {
	return slices.ContainsFunc(q.list("tools"), func(t *node) bool {
		for name := range t.fields {
			if name != "functionDeclarations" {
				return true
			}
		}
		return false
	})
}

// checkCombination refuses what generation 2 cannot combine with functions: JSON output and the provider's own tools
// (symfony/ai#803). Generation 3 can.
func checkCombination(q *node) *dialect.Error {
	switch kind := q.at("generationConfig").text("responseMimeType"); {
	case len(declarations(q)) == 0:
		return nil
	case kind == "application/json":
		return invalid("", "Function calling with a response mime type: 'application/json' is unsupported")
	case hasBuiltIn(q):
		return invalid("", "Tool use with function calling is unsupported")
	}
	return nil
}

// checkParameters refuses another type than OBJECT in the words of vercel/ai and of Google's Vertex AI.
func checkParameters(schema *node, function string) *dialect.Error {
	if err := checkSchema(schema); err != nil {
		return err
	}
	if schema.text("type") != "" && typeName(schema.at("type")) != "object" {
		return invalid("", "Unable to submit request because `%s` functionDeclaration `parameters` schema should be of type "+
			"OBJECT.", function)
	}
	return nil
}

// modeOf returns the mode of function calling in capitals. The API accepts any case.
func modeOf(config *node) string { return strings.ToUpper(config.text("mode")) }

var modes = []string{"AUTO", "ANY", "NONE", "VALIDATED"}

func checkToolConfig(q *node) *dialect.Error {
	config := q.at("toolConfig").at("functionCallingConfig")
	mode := config.at("mode")
	word, allowed := modeOf(config), config.strings("allowedFunctionNames")
	if mode != nil && jsonvalue.IsKind(mode.raw, '"') && word != "MODE_UNSPECIFIED" && !slices.Contains(modes, word) {
		return notInEnum(mode, "FunctionCallingConfig.Mode")
	}
	declared := declarations(q)
	forces := word == "ANY" || word == "VALIDATED"
	switch {
	case forces && len(declared) == 0 && !hasBuiltIn(q): // musistudio/claude-code-router#1207
		return invalid("", "Function calling config is set without function_declarations.")
	case !forces && len(allowed) > 0:
		return ours("allowedFunctionNames is set, and the mode is %q: expected it with ANY or VALIDATED only",
			word)
	}
	for _, name := range allowed {
		if !slices.ContainsFunc(declared, func(d *node) bool { return d.text("name") == name }) {
			return invalid("", "allowed_function_names should be a subset of the provided function_declarations")
		}
	}
	return nil
}
