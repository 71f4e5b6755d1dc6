package client

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// What is invalid, package validity tests.
func TestInvalidRequestsAreRefusedWithTheirFirstFault(t *testing.T) {
	const use = `{"role":"assistant","content":{"type":"tool_use","id":"a","name":"w","input":{}}}`
	const zero, unanswered = `{"maxTokens":0,"messages":[]}`, `{"maxTokens":1,"messages":[` + use + `]}`
	for params, want := range map[string]string{
		zero:       "maxTokens: expected a whole number above 0, found 0",
		unanswered: "messages[0].content: expected a result for each tool use",
		`{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":""}}]}`: "",
	} {
		o, err := jsonvalue.ReadObject([]byte(params))
		require.NoError(t, err)
		err = Validate(server.V20251125, o)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		var fault *validity.Fault
		require.True(t, errors.As(err, &fault))
	}
}

func TestHeaderValuesAreEncodedWhereNeeded(t *testing.T) {
	for value, want := range map[string]string{
		"plain-1": "plain-1", "": "", " x": "=?base64?IHg=?=", "é": "=?base64?w6k=?=",
		"=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		require.Equal(t, want, headerValue(value))
	}
}
