package gemini

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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

// errorBody returns {"error":{code,message,status,details}}.
func errorBody(e *dialect.Error) json.RawMessage {
	status := cmp.Or(e.Kind, statuses[e.Status])
	if status == "" {
		status = "FAILED_PRECONDITION"
		if e.Status >= http.StatusInternalServerError {
			status = "UNKNOWN"
		}
	}
	var more any = jsonvalue.Absent
	if all := details(e); all != nil {
		more = all
	} else if targetOf(e.URL).vertex {
		more = []any{}
	}
	return jsonvalue.Ordered("error",
		e.Object("code", e.Status, "message", e.Message, "status", status, "details", more))
}

const service = "generativelanguage.googleapis.com"

// details returns the reason of a code, the field of a parameter, and for an exhausted quota its name and the retry
// delay. The API has no Retry-After: an error's own becomes the delay too.
func details(e *dialect.Error) (all []any) {
	add := func(kind string, members map[string]any) {
		members["@type"] = "type.googleapis.com/google.rpc." + kind
		all = append(all, members)
	}
	type object = map[string]any
	if e.Code != "" {
		add("ErrorInfo", object{"reason": e.Code, "domain": "googleapis.com", "metadata": object{"service": service}})
		add("LocalizedMessage", object{"locale": "en-US", "message": e.Message})
	}
	if e.Param != "" {
		add("BadRequest", object{"fieldViolations": []any{object{"field": e.Param, "description": e.Message}}})
	}
	if e.Status == http.StatusTooManyRequests {
		add("Help", object{"links": []any{object{
			"description": "About quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}}})
		add("QuotaFailure", object{"violations": []any{object{
			"quotaMetric": service + "/generate_content_requests", "quotaValue": "1000",
			"quotaId":         "GenerateRequestsPerMinutePerProjectPerModel",
			"quotaDimensions": object{"location": "global", "model": "gemini"}}}})
		add("RetryInfo", object{"retryDelay": cmp.Or(e.Header.Get("Retry-After"), "1") + "s"})
	}
	return all
}

// EncodeError writes {"error":{code,message,status,details}}, inside an array if the answer would have been an array
// stream.
func (codec) EncodeError(e *dialect.Error) dialect.Answer {
	a := plainAnswer(e.Status, errorBody(e))
	maps.Copy(a.Header, e.Header)
	if to := targetOf(e.URL); to.method == streamGenerate && !to.events {
		a.Chunks[0] = slices.Concat([]byte("["), a.Chunks[0], []byte("]"))
	}
	return a
}

// EncodeErrorEvent writes an event with the error body, or a last item of the array and its end.
func (codec) EncodeErrorEvent(req *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	if targetOf(req.URL).events {
		return event(errorBody(e))
	}
	return append(append([]byte(",\r\n"), jsonvalue.Indented(errorBody(e))...), "\n]"...)
}
