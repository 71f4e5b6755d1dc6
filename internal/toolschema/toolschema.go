// Package toolschema checks the arguments of a tool call against the tool's input schema. The fake server and the
// client that calls tools for a model share it.
package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is an input schema: JSON Schema of type object, in 2020-12 unless its $schema differs.
type Schema struct{ compiled *jsonschema.Schema }

// AnyObject returns the schema of tools without their own, compiled once.
var AnyObject = sync.OnceValue(func() *Schema {
	schema, err := Compile([]byte(`{"type":"object"}`))
	if err != nil {
		panic(fmt.Sprintf("toolschema: the default schema: %v", err))
	}
	return schema
})

// Compile reads a schema. References to other documents are not followed.
func Compile(raw []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if object, ok := doc.(map[string]any); !ok || object["type"] != "object" {
		return nil, fmt.Errorf(`expected a schema with "type": "object", found %s`, raw)
	}
	if n := hugeNumber(doc); n != "" {
		return nil, fmt.Errorf("a number is out of range: %s", clip(n))
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource("tool:", doc); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile("tool:")
	return &Schema{compiled}, err
}

// Check returns why the arguments of a call of the tool are invalid, in words that a model can act on; "" if they are
// valid. Missing arguments are {}.
func (s *Schema) Check(tool string, arguments json.RawMessage) string {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return fmt.Sprintf("the arguments of %s are invalid JSON: %v", tool, err)
	}
	if n := hugeNumber(value); n != "" {
		return fmt.Sprintf("the arguments of %s have a number out of range: %s", tool, clip(n))
	}
	err = s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return ""
	}
	faults := faultsOf(invalid)
	slices.Sort(faults) // the validator visits objects in random order
	return fmt.Sprintf("the arguments of %s do not fit its input schema: %s", tool, strings.Join(faults, "; "))
}

// noLoader keeps the $ref of a tool from reading files or the network (2026-07-28, basic/index#ref-resolution).
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema, and references are not followed", url)
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
	what := e.BasicOutput().Error.String()
	if wrong, ok := e.ErrorKind.(*kind.Type); ok {
		what = fmt.Sprintf("expected %s, found %s", strings.Join(wrong.Want, " or "), wrong.Got)
	}
	return []string{where + ": " + what}
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

func clip(n json.Number) string {
	const most = 80
	if len(n) > most {
		return string(n[:most]) + "…"
	}
	return string(n)
}
