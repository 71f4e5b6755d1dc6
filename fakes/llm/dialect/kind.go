package dialect

import "encoding/json"

// IsKind reports whether a JSON value, without leading white space, begins with the character of its type: {, [, ", t,
// f or n.
func IsKind(raw json.RawMessage, first byte) bool { return len(raw) > 0 && raw[0] == first }

// JSONName names the JSON type of an actual value for a message. A number is shown.
func JSONName(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case IsKind(raw, '"'):
		return "a string"
	case IsKind(raw, '{'):
		return "an object"
	case IsKind(raw, '['):
		return "an array"
	case IsKind(raw, 't'), IsKind(raw, 'f'):
		return "true or false"
	case IsKind(raw, 'n'):
		return "null"
	}
	return "the number " + string(raw)
}

// TypeName names the JSON type that decodes into the pointer v, for a message about the expected type.
func TypeName(v any) string {
	switch v.(type) {
	case *string, **string:
		return "a string"
	case *bool:
		return "true or false"
	case *int64:
		return "an integer"
	case *float64:
		return "a number"
	case *Object, *Members:
		return "an object"
	case *[]string:
		return "an array of strings"
	}
	return "an array"
}
