package jsonvalue

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Plain returns an error of [json.Unmarshal] in words of JSON, without those of Go: which member, what was expected
// there, and what was found. Names of members begin with a small letter. Nil stays nil.
func Plain(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		if text, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return errors.New("unknown member " + text)
		}
		return err
	}
	text := fmt.Sprintf("expected %s, found %s", kindOf(wrong.Type), foundKind(wrong.Value))
	embedded := func(name string) bool { return strings.ToLower(name[:1]) != name[:1] } // which JSON does not have
	path := slices.DeleteFunc(strings.FieldsFunc(wrong.Field, func(r rune) bool { return r == '.' }), embedded)
	if len(path) > 0 {
		text = strings.Join(path, ".") + ": " + text
	}
	return errors.New(text)
}

// kindOf names the kind of JSON that a type is decoded from.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}

func foundKind(value string) string {
	switch value {
	case "object", "array":
		return "an " + value
	case "bool":
		return "true or false"
	case "string", "number":
		return "a " + value
	}
	return "the " + value // a number that does not fit
}
