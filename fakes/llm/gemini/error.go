package gemini

import (
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// statuses maps HTTP statuses to google.rpc.Code (cloud.google.com/apis/design/errors).
var statuses = map[int]string{
	http.StatusBadRequest:          "INVALID_ARGUMENT",
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusForbidden:           "PERMISSION_DENIED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusConflict:            "ABORTED",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	499:                            "CANCELLED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusNotImplemented:      "UNIMPLEMENTED",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
}

type errorDetails struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

// errorBody returns {"error":{code,message,status,details}}.
func errorBody(e *dialect.Error) map[string]errorDetails {
	status := e.Kind
	if status == "" {
		status = statuses[e.Status]
	}
	if status == "" && e.Status >= 500 {
		status = "UNKNOWN"
	}
	if status == "" {
		status = "FAILED_PRECONDITION"
	}
	return map[string]errorDetails{"error": {e.Status, e.Message, status, details(e)}}
}

const (
	detailType = "type.googleapis.com/google.rpc."
	service    = "generativelanguage.googleapis.com"
)

// details returns the reason of a code, the field of a parameter, and for an exhausted quota its name and the retry
// delay. The API has no Retry-After: an error's own becomes the delay too.
func details(e *dialect.Error) []any {
	var all []any
	if e.Code != "" {
		all = append(all, map[string]any{"@type": detailType + "ErrorInfo", "reason": e.Code, "domain": "googleapis.com",
			"metadata": map[string]string{"service": service}},
			map[string]any{"@type": detailType + "LocalizedMessage", "locale": "en-US", "message": e.Message})
	}
	if e.Param != "" {
		all = append(all, map[string]any{"@type": detailType + "BadRequest",
			"fieldViolations": []any{map[string]string{"field": e.Param, "description": e.Message}}})
	}
	if e.Status == http.StatusTooManyRequests {
		delay := e.Header.Get("Retry-After")
		if delay == "" {
			delay = "1"
		}
		const metric = service + "/generate_content_requests"
		all = append(all,
			map[string]any{"@type": detailType + "Help", "links": []any{map[string]string{
				"description": "About quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}}},
			map[string]any{"@type": detailType + "QuotaFailure", "violations": []any{map[string]any{
				"quotaMetric": metric, "quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "1000",
				"quotaDimensions": map[string]string{"location": "global", "model": "gemini"}}}},
			map[string]any{"@type": detailType + "RetryInfo", "retryDelay": delay + "s"})
	}
	return all
}

// EncodeError writes {"error":{code,message,status,details}}, inside an array if the answer would have been an array
// stream.
func (codec) EncodeError(e *dialect.Error) dialect.Answer {
	h := header(jsonType)
	maps.Copy(h, e.Header)
	body := append(indented(errorBody(e)), '\n')
	if to := targetOf(e.URL); to.method == streamGenerate && !to.events {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{body}}
}

// EncodeErrorEvent writes an event with the error body, or a last item of the array and its end.
func (codec) EncodeErrorEvent(req *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	if targetOf(req.URL).events {
		return event(errorBody(e))
	}
	return append(append([]byte(",\r\n"), indented(errorBody(e))...), "\n]"...)
}
