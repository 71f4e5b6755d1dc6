package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Tool is a tool that the server offers to the client, or that a sampling request offers to the model.
type Tool struct {
	// Name has 1 to 128 characters of A-Z, a-z, 0-9, "_", "-", "." (2025-11-25, server/tools#tool-names). The name of a
	// prompt may have any characters.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// InputSchema marshals to a JSON Schema of type object, in 2020-12 unless its $schema differs. Nil allows any
	// object.
	InputSchema any `json:"inputSchema"`
	// Handler runs when the client calls the tool. A tool of the server requires it.
	Handler Handler `json:"-"`
	// Carrier is the request that starts the handler: "" is tools/call. With [PromptsGet] or [ResourcesRead]
	// (2026-07-28) it is not a tool but the prompt of that name, or the resource at its [ResourceURI]; legacy revisions
	// do not offer it, and InputSchema is ignored.
	Carrier Carrier `json:"-"`
	// Mark is a word that [Session.Ask] adds to its texts, so that the model's side can tell conversations apart. May
	// be empty.
	Mark string `json:"-"`
	// Responses selects how the server responds to calls of the tool; [Auto] is [Options.Responses].
	ResponseMode ResponseMode `json:"-"`
}

// MarshalJSON implements [json.Marshaler]: the tool as in tools/list and in sampling requests.
func (t Tool) MarshalJSON() ([]byte, error) {
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
	}
	type plain Tool
	return encode(plain(t))
}

// Handler is the code of a tool. Its value becomes the result of the call: a [CallToolResult] or [RawResult] as it is,
// a string or nil as text, anything else as the text of its JSON. An error becomes a result with isError, which the
// client's model can read. A handler runs on its own goroutine and should return when s.Context() is done.
type Handler func(s *Session) (any, error)

// CallToolResult is the result of a tools/call.
type CallToolResult struct {
	Content           []any `json:"content"`
	StructuredContent any   `json:"structuredContent,omitempty"`
	IsError           bool  `json:"isError,omitempty"`

	raw json.RawMessage // replaces all other fields
}

// RawResult is the result of a call, sent byte for byte, valid or not; the trace marks it as hostile.
type RawResult json.RawMessage

type serverTool struct {
	Tool
	index  int
	schema *jsonschema.Schema
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func compileTool(t Tool, index int) (*serverTool, error) {
	if !toolName.MatchString(t.Name) && (t.Carrier != PromptsGet || t.Name == "") {
		return nil, fmt.Errorf("tool name %q: want 1 to 128 characters of [A-Za-z0-9_.-]", t.Name)
	}
	if t.Handler == nil {
		return nil, fmt.Errorf("tool %s has no Handler", t.Name)
	}
	if !slices.Contains([]Carrier{"", PromptsGet, ResourcesRead}, t.Carrier) {
		return nil, fmt.Errorf("tool %s: unknown Carrier %q: want %s, %s, or \"\" for tools/call",
			t.Name, t.Carrier, PromptsGet, ResourcesRead)
	}
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
		return &serverTool{Tool: t, index: index, schema: anyObject()}, nil
	}
	schema, err := compileInputSchema(t)
	if err != nil {
		return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	return &serverTool{Tool: t, index: index, schema: schema}, nil
}

func compileInputSchema(t Tool) (*jsonschema.Schema, error) {
	raw, err := encode(t.InputSchema)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if object, ok := doc.(map[string]any); !ok || object["type"] != "object" {
		return nil, fmt.Errorf(`want a schema with "type": "object", got %s`, raw)
	}
	if n := hugeNumber(doc); n != "" {
		return nil, fmt.Errorf("a number is out of range: %s", clip([]byte(n)))
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	url := "tool:" + t.Name
	if err := compiler.AddResource(url, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(url)
}

// anyObject is the schema of tools without their own, compiled once.
var anyObject = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tool:", map[string]any{"type": "object"}); err != nil {
		panic(fmt.Sprintf("server: the default input schema: %v", err))
	}
	return compiler.MustCompile("tool:")
})

// noLoader keeps the $ref of a tool from reading files or the network (2026-07-28, basic/index#ref-resolution).
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema, and references are not followed", url)
}

// responses returns how the server responds to calls of the tool; nil is any other request.
func (s *Server) responses(t *serverTool) ResponseMode {
	if t != nil && t.ResponseMode != Auto {
		return t.ResponseMode
	}
	return s.opts.ResponseMode
}

// checkArguments returns why the arguments of a call are invalid, in words that a model can act on, or "".
func (t *serverTool) checkArguments(arguments json.RawMessage) string {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return fmt.Sprintf("the arguments of %s are invalid JSON: %v", t.Name, err)
	}
	if n := hugeNumber(value); n != "" {
		return fmt.Sprintf("the arguments of %s have a number out of range: %s", t.Name, clip([]byte(n)))
	}
	err = t.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return ""
	}
	faults := faultsOf(invalid)
	slices.Sort(faults) // the validator visits objects in random order
	return fmt.Sprintf("the arguments of %s do not fit its input schema: %s", t.Name, strings.Join(faults, "; "))
}

// faultsOf returns what the validator found, without the errors that only group others.
func faultsOf(e *jsonschema.ValidationError) []string {
	if len(e.Causes) > 0 {
		var faults []string
		for _, cause := range e.Causes {
			faults = append(faults, faultsOf(cause)...)
		}
		return faults
	}
	where := strings.Join(append([]string{"arguments"}, e.InstanceLocation...), ".")
	return []string{where + ": " + e.BasicOutput().Error.String()}
}

// hugeNumber returns a number on which the validator's exact arithmetic would crash or take forever, or "".
func hugeNumber(value any) json.Number {
	switch v := value.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if e, err := strconv.Atoi(exponent); len(v) > 1000 || exponent != "" && (err != nil || e > 1000 || e < -1000) {
			return v
		}
	case map[string]any:
		return hugeNumber(slices.Collect(maps.Values(v)))
	case []any:
		for _, item := range v {
			if n := hugeNumber(item); n != "" {
				return n
			}
		}
	}
	return ""
}

// callResult turns the values of a handler into a CallToolResult.
func callResult(value any, err error) CallToolResult {
	if err != nil {
		return CallToolResult{Content: []any{Text(err.Error())}, IsError: true}
	}
	if v, ok := value.(*CallToolResult); ok && v != nil {
		value = *v
	}
	switch v := value.(type) {
	case CallToolResult:
		if v.Content == nil {
			v.Content = []any{}
		}
		return v
	case RawResult:
		return CallToolResult{raw: json.RawMessage(v)}
	case nil:
		return CallToolResult{Content: []any{}}
	case string:
		return CallToolResult{Content: []any{Text(v)}}
	}
	raw, err := encode(value)
	if err != nil {
		return callResult(nil, fmt.Errorf("the handler returned a %T that does not marshal to JSON: %w", value, err))
	}
	return CallToolResult{Content: []any{Text(string(raw))}}
}
