package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Tool is a tool: one that this server offers to the client, or one that a sampling request offers to the model.
type Tool struct {
	// Name is 1 to 128 characters of A-Z, a-z, 0-9, "_", "-", "." (2025-11-25, server/tools#tool-names). That of a prompt may hold any characters.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// InputSchema is a JSON Schema of type object, in 2020-12 unless its $schema says otherwise: anything that marshals to one. Nil
	// takes any object.
	InputSchema any `json:"inputSchema"`
	// Play is what happens when the client calls the tool; required for a tool that the server offers.
	Handler Handler `json:"-"`
	// Carrier is the request by which a client starts the play: "" for tools/call, or one of those of 2026-07-28 that it may come with
	// besides, [PromptsGet] and [ResourcesRead]. Then this is no tool but a prompt of that name, or the resource at [ResourceURI] of it; older
	// revisions do not offer it, and InputSchema means nothing.
	Carrier Carrier `json:"-"`
	// Mark is a word woven into what [Session.Ask] asks, by which the model's side tells conversations apart. May be empty.
	Mark string `json:"-"`
	// Responses says how calls of the tool are answered, where that is not [Options.Responses]; [Auto] for what that says.
	Responses Responses `json:"-"`
}

// MarshalJSON implements [json.Marshaler]: the tool as tools/list and sampling requests have it.
func (t Tool) MarshalJSON() ([]byte, error) {
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
	}
	type plain Tool
	return encode(plain(t))
}

// Play is what happens behind a tool. Its result becomes the result of the call: a [CallToolResult] or [RawResult] as it is, a string or
// nil as text, and anything else as the text of its JSON. An error becomes a result with isError, which the client's model can
// read. A play runs on a goroutine of its own and should return when s.Context() ends.
type Handler func(s *Session) (any, error)

// CallToolResult is the result of a tools/call, for a play that wants it just so.
type CallToolResult struct {
	Content           []any `json:"content"`
	StructuredContent any   `json:"structuredContent,omitempty"`
	IsError           bool  `json:"isError,omitempty"`

	raw json.RawMessage // in place of all the others
}

// RawResult is the result of a call as the wire is to have it, byte for byte: whatever it is, the trace says that it was meant.
type RawResult json.RawMessage

// offered is a tool of the server, its schema compiled.
type offered struct {
	Tool
	index  int
	schema *jsonschema.Schema
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func compileTool(t Tool, index int) (*offered, error) {
	if !toolName.MatchString(t.Name) && (t.Carrier != PromptsGet || t.Name == "") {
		return nil, fmt.Errorf("tool name %q: want 1 to 128 characters of [A-Za-z0-9_.-]", t.Name)
	}
	if t.Handler == nil {
		return nil, fmt.Errorf("tool %s has no play", t.Name)
	}
	if !slices.Contains([]Carrier{"", PromptsGet, ResourcesRead}, t.Carrier) {
		return nil, fmt.Errorf("tool %s: no request %q carries a play: want %s, %s, or \"\" for tools/call", t.Name, t.Carrier, PromptsGet, ResourcesRead)
	}
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
		return &offered{Tool: t, index: index, schema: anyObject()}, nil
	}
	raw, err := encode(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	if object, ok := doc.(map[string]any); !ok || object["type"] != "object" {
		return nil, fmt.Errorf(`input schema of tool %s: want a schema with "type": "object", got %s`, t.Name, raw)
	}
	if n := endless(doc); n != "" {
		return nil, fmt.Errorf("input schema of tool %s: a number is out of all bounds: %s", t.Name, clip([]byte(n)))
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	url := "tool:" + t.Name
	if err := compiler.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	schema, err := compiler.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	return &offered{Tool: t, index: index, schema: schema}, nil
}

// anyObject is the schema of a tool that has none of its own, compiled once for all of them.
var anyObject = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tool:", map[string]any{"type": "object"}); err != nil {
		panic(fmt.Sprintf("server: our own input schema: %v", err))
	}
	return compiler.MustCompile("tool:")
})

// noLoader keeps a tool's $ref from reaching for files or the network (2026-07-28, basic/index#ref-resolution).
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema, and references are not followed", url)
}

// responses is the way in which calls of the tool are answered; those of nil like anything else.
func (s *Server) responses(t *offered) Responses {
	if t != nil && t.Responses != Auto {
		return t.Responses
	}
	return s.opts.Responses
}

// checkArguments returns what is wrong with the arguments of a call, as text that a model can act on, or "".
func (t *offered) checkArguments(arguments json.RawMessage) string {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return fmt.Sprintf("the arguments of %s cannot be read: %v", t.Name, err)
	}
	if n := endless(value); n != "" {
		return fmt.Sprintf("the arguments of %s hold a number out of all bounds: %s", t.Name, clip([]byte(n)))
	}
	err = t.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return ""
	}
	faults := faultsOf(invalid)
	slices.Sort(faults) // the validator goes through objects in any order
	return fmt.Sprintf("the arguments of %s do not fit its input schema: %s", t.Name, strings.Join(faults, "; "))
}

// faultsOf returns what the validator found, without what only groups it.
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

// endless returns a number in the value with which the validator's exact arithmetic would never end, or crash, or "".
func endless(value any) json.Number {
	switch v := value.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if e, err := strconv.Atoi(exponent); len(v) > 1000 || exponent != "" && (err != nil || e > 1000 || e < -1000) {
			return v
		}
	case []any:
		for _, item := range v {
			if n := endless(item); n != "" {
				return n
			}
		}
	case map[string]any:
		for _, item := range v {
			if n := endless(item); n != "" {
				return n
			}
		}
	}
	return ""
}

// callResult turns what a play returned into a CallToolResult.
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
		return CallToolResult{Content: []any{Text(fmt.Sprintf("the play returned a %T that is not JSON: %v", value, err))}, IsError: true}
	}
	return CallToolResult{Content: []any{Text(string(raw))}}
}
