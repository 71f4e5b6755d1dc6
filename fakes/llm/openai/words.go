package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The API's own messages, because users search for them. Where they are not known, the message says so: see ours.

// ours refuses in our own words.
func ours(param, code, format string, args ...any) *dialect.Error {
	return invalid(param, code, format+dialect.OwnWords, args...)
}

// unreadable refuses a body that is not a JSON object: ChatGPTNextWeb/NextChat#4064.
func unreadable(body []byte, _ error) *dialect.Error {
	if why := codecs.NotObject(body); why != "" {
		return ours("", "", "the body: %s", why)
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

var typeWords = strings.NewReplacer("true or false", "a boolean", "a number", "a decimal")

func wrongType(path, expected string, raw json.RawMessage) *dialect.Error {
	found := jsonvalue.JSONName(raw)
	if number, isNumber := strings.CutPrefix(found, "the number "); isNumber {
		found = "an integer"
		if strings.ContainsAny(number, ".eE") {
			found = "a decimal"
		}
	}
	return invalid(path, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", path,
		typeWords.Replace(expected), typeWords.Replace(found))
}

func emptyArray(path string) *dialect.Error {
	return invalid(path, "empty_array",
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
}

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
	return invalid(param, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", got, inWords(supported))
}

// inWords writes 'a', 'b', and 'c'.
func inWords(supported []string) string {
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
	return all
}

// outside refuses a number, an int64 or a float64.
func outside(name string, v any, low, high string) *dialect.Error {
	kind, side, word, than, limit := "decimal", "below", "min", ">=", low
	if _, isInteger := v.(int64); isInteger {
		kind = "integer"
	}
	if bound, err := strconv.ParseFloat(low, 64); err != nil || number(v) >= bound {
		side, word, than, limit = "above", "max", "<=", high
	}
	return invalid(name, fmt.Sprintf("%s_%s_%s_value", kind, side, word),
		"Invalid '%s': %s %s %simum value. Expected a value %s %s, but got %v instead.",
		name, kind, side, word, than, limit, v)
}

func number(v any) float64 {
	if n, isInteger := v.(int64); isInteger {
		return float64(n)
	}
	return v.(float64)
}

func onlyWith(name, with string) *dialect.Error {
	return invalid(name, "", "Invalid value for '%s': '%s' is only allowed when '%s' are specified.", name, name, with)
}
