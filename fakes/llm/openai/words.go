package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The API's own messages, because users search for them. Where they are not known, the message says so: see ours.

// ours refuses in our own words.
func ours(param, code, format string, args ...any) *dialect.Error {
	return invalid(param, code, format+dialect.OwnWords, args...)
}

// unreadable refuses a body that is not a JSON object: ChatGPTNextWeb/NextChat#4064.
func unreadable(body []byte, err error) *dialect.Error {
	if json.Valid(body) {
		return ours("", "", "the body is not a JSON object: %v", err)
	}
	return invalid("", "", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "+
		"your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you "+
		"have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)")
}

func invalid(param, code, format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}

func missing(path, name string) *dialect.Error {
	path = jsonvalue.Join(path, name)
	return invalid(path, "missing_required_parameter", "Missing required parameter: '%s'.", path)
}

func wrongType(path, want, got string) *dialect.Error {
	words := strings.NewReplacer("true or false", "a boolean", "a number", "a decimal")
	if number, isNumber := strings.CutPrefix(got, "the number "); isNumber {
		got = "an integer"
		if strings.ContainsAny(number, ".eE") {
			got = "a decimal"
		}
	}
	return invalid(path, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", path,
		words.Replace(want), words.Replace(got))
}

func emptyArray(path string) *dialect.Error {
	return invalid(path, "empty_array",
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
}

// tooLong refuses a string or an array.
func tooLong(path, what, a string, most, n int) *dialect.Error {
	return invalid(path, what+"_above_max_length",
		"Invalid '%[1]s': %[2]s too long. Expected %[3]s %[2]s with maximum length %[4]d, but got %[3]s %[2]s with length "+
			"%[5]d instead.",
		path, what, a, most, n)
}

func noMatch(path, pattern string) *dialect.Error {
	return invalid(path, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches "+
		"the pattern '%s'.", path, pattern)
}

// unsupported refuses a value that is not one of several.
func unsupported(param, got string, supported ...string) *dialect.Error {
	all := "'" + supported[0] + "'"
	for i, s := range supported[1:] {
		switch {
		case i < len(supported)-2:
			all += ", '" + s + "'"
		case len(supported) == 2:
			all += " and '" + s + "'"
		default:
			all += ", and '" + s + "'"
		}
	}
	return invalid(param, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", got, all)
}

// outOfRange refuses a number; nil if it is in the range or nil.
func outOfRange[T int64 | float64](name string, v *T, low, high T) *dialect.Error {
	kind := "decimal"
	if _, isInteger := any(low).(int64); isInteger {
		kind = "integer"
	}
	switch {
	case v == nil || *v >= low && *v <= high:
		return nil
	case *v < low:
		return invalid(name, kind+"_below_min_value",
			"Invalid '%s': %s below minimum value. Expected a value >= %v, but got %v instead.", name, kind, low, *v)
	}
	return invalid(name, kind+"_above_max_value",
		"Invalid '%s': %s above maximum value. Expected a value <= %v, but got %v instead.", name, kind, high, *v)
}

// onlyWith refuses a parameter without another.
func onlyWith(name, with string) *dialect.Error {
	return invalid(name, "", "Invalid value for '%s': '%s' is only allowed when '%s' are specified.", name, name, with)
}
