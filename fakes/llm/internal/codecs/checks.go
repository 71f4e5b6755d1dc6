// Package codecs has what the codecs share to read, check and write requests.
package codecs

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// First returns the first error of the checks.
func First[T any](v T, checks ...func(T) *dialect.Error) *dialect.Error {
	for _, check := range checks {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

// Each returns the first error of the check on an element.
func Each[T any](all []T, check func(*T) *dialect.Error) *dialect.Error {
	for i := range all {
		if err := check(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Outside reports whether a number is given and below low or above high.
func Outside[T int64 | float64](v *T, low, high T) bool { return v != nil && (*v < low || *v > high) }

// NotObject describes a body that is valid JSON, but not an object; "" for any other body.
func NotObject(body []byte) string {
	body = bytes.TrimSpace(body)
	if !json.Valid(body) || jsonvalue.IsKind(body, '{') {
		return ""
	}
	return "expected an object, found " + jsonvalue.JSONName(body)
}
