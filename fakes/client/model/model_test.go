package model

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestAnswersAreCheckedAgainstTheRequest(t *testing.T) {
	const (
		use    = `{"id":"x","input":{},"name":"add","type":"tool_use"}`
		text   = `{"text":"a","type":"text"}`
		tools  = `"tools":[{"name":"other"}]`
		noMore = tools + `,"toolChoice":{"mode":"none"}`
	)
	for name, c := range map[string]struct{ params, content, reason, want, wrong string }{
		"a text where a use is required": {tools + `,"toolChoice":{"mode":"required"}`, text, "endTurn", text + " endTurn",
			""},
		"a use of an unknown tool": {tools, `[` + use + `]`, "toolUse", `[` + use + `] toolUse`, ""},
		"a use beside endTurn":     {tools, `[` + use + `]`, "endTurn", `[` + use + `] toolUse`, ""},
		"a use without tools":      {`"a":1`, `[` + text + `,` + use + `]`, "toolUse", `[` + text + `] <nil>`, ""},
		"a use with choice none":   {noMore, `[` + text + `,` + use + `]`, "toolUse", `[` + text + `] <nil>`, ""},
		"nothing but a use":        {noMore, `[` + use + `]`, "toolUse", "", "the model used the tool add"},
		"invalid arguments": {tools, `[{"id":"x","input":"{","name":"add","type":"tool_use"}]`, "toolUse", "",
			"not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			params, err := jsonvalue.ReadObject([]byte(`{` + c.params + `}`))
			require.NoError(t, err)
			result, err := jsonvalue.ReadObject([]byte(`{"content":` + c.content + `,"stopReason":"` + c.reason + `"}`))
			require.NoError(t, err)
			if err = settle(params, result); c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			reason, _ := result["stopReason"].(string)
			if reason == "" {
				reason = "<nil>"
			}
			require.Equal(t, c.want, string(jsonvalue.Marshal(result["content"]))+" "+reason)
		})
	}
}

// overloaded fails n times and then answers.
type overloaded struct{ n int }

func (o *overloaded) RoundTrip(*http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"2"}},
			Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	if o.n--; o.n >= 0 {
		return answer(http.StatusServiceUnavailable, `{"error":"overloaded"}`)
	}
	return answer(http.StatusOK, `{"content":{"type":"text","text":"so"}}`)
}

func TestTheModelIsAskedAgainAsRetrySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &overloaded{}
		o := Options{Dialect: "native", URL: "http://model", HTTP: &http.Client{Transport: network}}
		network.n = 1
		_, err := New(o).Sample(t.Context(), nil)
		var failed *ProviderError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, http.StatusServiceUnavailable, failed.Status)
		require.Equal(t, `{"error":"overloaded"}`, string(failed.Body))

		begun := time.Now()
		o.Retry = func(attempt int, err error) (time.Duration, bool) {
			require.ErrorAs(t, err, &failed)
			return time.Duration(attempt) * time.Second, attempt < 3
		}
		network.n = 2
		result, err := New(o).Sample(t.Context(), nil)
		require.NoError(t, err)
		require.NotNil(t, result["content"])
		require.Equal(t, 3*time.Second, time.Since(begun))

		network.n = 9
		_, err = New(o).Sample(t.Context(), nil)
		require.ErrorAs(t, err, &failed, "it gives up after three attempts")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, err = New(o).Sample(ctx, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestAnUnknownDialectIsAnError(t *testing.T) {
	_, err := New(Options{Dialect: "telegraph"}).Sample(t.Context(), nil)
	require.EqualError(t, err, `unknown dialect "telegraph"`)
}
