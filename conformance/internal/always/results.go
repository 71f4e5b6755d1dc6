package always

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// eachResult returns a judge that passes, with the message, unless fault returns a verdict for one of the results to
// sampling requests.
func eachResult(pass string, fault func(*evidence.Case, *evidence.Answer) *check.Verdict) judge {
	return func(e *evidence.Case) check.Verdict {
		found := false
		for _, r := range e.Rounds {
			for i := range r.Answers {
				if a := &r.Answers[i]; isResult(e, r, a) {
					found = true
					if v := fault(e, a); v != nil {
						return *v
					}
				}
			}
		}
		if !found {
			return check.NotApplicable("the client returned no result")
		}
		return check.Pass("%s", pass)
	}
}

// judge is the type of [check.Check.Judge].
type judge = func(*evidence.Case) check.Verdict

// isResult reports whether an answer must be a CreateMessageResult. A new task is not one. Neither is what a client of
// 2026-07-28 sends in place of an answer that it does not have: other checks judge that.
func isResult(e *evidence.Case, r *evidence.Round, a *evidence.Answer) bool {
	switch {
	case a.Err != nil, r.AsksForTask() && a.Member("task") != nil:
		return false
	case !e.Revision.Modern():
		return true
	}
	refuses := evidence.DescribeNoAnswer(a) == "an error" && len(r.CompletedCalls()) == 0
	return string(a.Result) != "null" && !refuses
}

// eachMember returns a judge that passes, with the message, if a member of every result is right.
func eachMember(pass, name, want string, right func(text string, isText bool) bool) judge {
	return eachResult(pass, func(_ *evidence.Case, a *evidence.Answer) *check.Verdict {
		if right(a.Text(name)) {
			return nil
		}
		raw := a.Member(name)
		found := "nothing"
		if raw != nil {
			found = evidence.Compact(raw)
		}
		return check.Instead(check.Fail("expected %s in the result, found %s", want, found).ShowJSON(a.At(name), raw))
	})
}

var hasModel = check.Check{
	ID:     "has-model",
	Rule:   "A result MUST name the model, as a string",
	Levels: check.Must, Statements: check.ResultSchema,
	Cause: "the name is omitted because the client has only one model, or in one of several ways to build a result",
	Fix:   "Set model to the name of the model that answered.",
	Judge: eachMember("every result names its model", "model", "a model name",
		func(_ string, isText bool) bool { return isText }),
}

var roleAssistant = check.Check{
	ID:     "role-assistant",
	Rule:   "A result has the role assistant",
	Levels: check.Robust,
	Cause:  "the role of the request's last message is copied into the result",
	Fix:    `Set role to "assistant".`,
	Judge: eachMember("every result has the role", "role", `the role "assistant"`,
		func(role string, _ bool) bool { return role == "assistant" }),
}

var validResult = check.Check{
	ID:     "valid-result",
	Rule:   "A result MUST be valid against the revision's schema",
	Levels: check.Must, Statements: append(check.ResultSchema, "basic/06"),
	Cause: "an empty completion becomes null, a block in the provider's own format is passed on, or a required field is " +
		"missing; in 2026-07-28, the result is wrapped in a response",
	Fix: "Build the result from the types of the revision. For an empty completion, send a text block with an empty " +
		"text. Since 2026-07-28 put the result itself under the key.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := samplesValid(e)
		if fault := invalidInput(e); fault != nil && v.Kind != check.Failed {
			return *fault
		}
		return v
	},
}

var samplesValid = eachResult("every result is valid by the schema",
	func(e *evidence.Case, a *evidence.Answer) *check.Verdict {
		return invalid(e, schema.CreateMessageResult, a.Place, a.Result, withoutTornInputs(a.Result))
	})

// withoutTornInputs replaces the inputs of tool uses that are texts and not JSON objects: a client may pass on
// arguments that the model broke off (tool-use/bad-arguments).
func withoutTornInputs(result json.RawMessage) json.RawMessage {
	o, _ := jsonvalue.Decode(result).(map[string]any)
	blocks, _ := o["content"].([]any)
	if block, ok := o["content"].(map[string]any); ok {
		blocks = []any{block}
	}
	found := false
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		text, isText := block["input"].(string)
		if _, isObject := jsonvalue.Decode([]byte(text)).(map[string]any); isText && !isObject &&
			block["type"] == "tool_use" {
			block["input"], found = map[string]any{}, true
		}
	}
	if !found {
		return result
	}
	return jsonvalue.Marshal(o)
}

// inputResults are the types of responses to other input requests, by method.
var inputResults = map[string]schema.Name{"roots/list": "ListRootsResult", "elicitation/create": "ElicitResult"}

// invalidInput returns the verdict for the first invalid response to another input request; nil for none.
func invalidInput(e *evidence.Case) *check.Verdict {
	for from, retry := range retries(e) {
		for _, key := range from.InputRequired.Keys() {
			name, known := inputResults[from.InputRequired.Requests[key]]
			answer := retry.Responses[key]
			if !known || answer == nil || string(answer) == "null" {
				continue
			}
			if v := invalid(e, name, retry.At(fmt.Sprintf("inputResponses[%q]", key)), answer, answer); v != nil {
				return v
			}
		}
	}
	return nil
}

// invalid returns the verdict for a value that is not of the type; nil for one that is. Judged is what of it is judged.
func invalid(e *evidence.Case, name schema.Name, at evidence.Place, raw, judged json.RawMessage) *check.Verdict {
	err := schema.Validate(string(e.Revision), name, judged)
	if err == nil {
		return nil
	}
	where, why := at, err.Error()
	var fault *schema.Error
	if errors.As(err, &fault) {
		where, why = at.At(fault.Path), fault.Message
	}
	v := check.Fail("expected a %s of %s, found an invalid one: %s", name, e.Revision, why).
		Show(where, "%s", why).ShowJSON(at, raw)
	if name != schema.CreateMessageResult {
		return &v
	}
	switch content := jsonvalue.Decode(evidence.ObjectOf(judged)["content"]).(type) {
	case []any:
		if !e.Revision.HasSamplingTools() {
			v = v.Because("the client sends the result of a newer revision than the negotiated one",
				"Send content as one block up to 2025-06-18.")
		}
	case nil:
		v = v.Because(emptyAnswer())
	case map[string]any:
		if content["type"] == "text" && content["text"] == nil {
			v = v.Because(emptyAnswer())
		}
	}
	return &v
}

func emptyAnswer() (cause, fix string) {
	return "an empty completion becomes null, or a block without text",
		"Return a text block with an empty text, or an error."
}
