package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var noUpstreamBody = check.Check{
	ID: "no-upstream-body", Cases: names(permanentErrors, badRequest, temporaryErrors, singleRateLimit, cuts),
	Rule:   "The client does not forward the provider's error body, internals or stack traces to the server",
	Levels: check.Advice, Requests: 1,
	Cause: "the client returns the SDK's error text, which contains all that the provider said",
	Fix:   "Write a message of your own, such as \"the model is not available\", and log the rest.",
	Judge: func(e *evidence.Case) check.Verdict {
		bodies := errorBodies(failedRound(e))
		for _, message := range e.Session.Sendings(func(caseID string) bool { return caseID == e.Case.ID }) {
			if hit, where, text := message.Find(internals); text != "" {
				return check.Fail("expected an error message of the client's own, found %s%s",
					hit.Name, evidence.DescribeForm(hit)).Show(where, "%s", text)
			}
			for _, body := range bodies {
				if where, text := body.findIn(message); text != "" {
					return check.Fail("expected an error message of the client's own, found the provider's error body").
						ShowAs("model said", body.at, "%s", evidence.Compact(body.raw)).Show(where, "%s", text)
				}
			}
		}
		return nothingFound(e, "no internals of the provider")
	},
}

var internals = leak.New(
	leak.Secret{Name: "the name of a host inside the provider", Value: InternalHost},
	leak.Secret{Name: "a line of the provider's stack trace", Value: InternalCode},
	leak.Secret{Name: "the name of the machine in front of the provider", Value: FrontMachine},
)

// nothingFound passes if the model was called and the trace settles that the client sent nothing more.
func nothingFound(e *evidence.Case, what string) check.Verdict {
	if v := modelCalled(e); v != nil {
		return *v
	}
	switch why := e.Session.Unsettled(e.Rounds[0].Asked); {
	case why == "":
		return check.Pass("the client sent %s", what)
	case outOfOrder(e.Session):
		return check.Unsupported("%s found, but one could still have followed: the client must call the tools in the "+
			"order of tools/list and answer the last sampling request: %s", what, why)
	default:
		return check.NotObserved("%s found, but one could still have followed: %s", what, why)
	}
}

// errorBody is the JSON body of a provider's error.
type errorBody struct {
	raw     json.RawMessage
	message string         // the sentence for people
	keys    []string       // of the body and all objects in it
	at      evidence.Place // the request to the model
}

// errorBodies returns the error bodies that the model sent in a round.
func errorBodies(r *evidence.Round) []errorBody {
	var bodies []errorBody
	for _, x := range r.Model {
		documents, _, _ := dialect.Documents(x.Answer) // those that are valid
		for _, document := range documents {
			var o, details jsonvalue.Object
			if json.Unmarshal(document, &o) != nil || !o.Has("error") {
				continue
			}
			message := o.Text("error") // Ollama's error is the sentence itself
			if o.Read("error", &details) == nil && details != nil {
				message = details.Text("message")
			}
			if message == "" {
				continue
			}
			keys := map[string]bool{}
			eachObject(jsonvalue.Decode(document), func(o map[string]any) bool {
				for key := range o {
					keys[key] = true
				}
				return false
			})
			bodies = append(bodies, errorBody{document, message, slices.Sorted(maps.Keys(keys)), x.Place})
		}
	}
	return bodies
}

// findIn returns where a message of the client contains the body, as text or as JSON, and the text there; "" if it
// does not. The provider's sentence or status alone is not the body.
func (b *errorBody) findIn(s evidence.Sending) (where evidence.Place, text string) {
	where = evidence.Place{Ref: s.Event.Ref(), Label: "the client sent"}
	message := s.JSON.Value()
	jsonvalue.EachString(message, "", func(path, value string) bool {
		if strings.Contains(value, b.message) && b.hasKeys(value) {
			where.Path, text = path, value
		}
		return text == ""
	})
	sameJSON := func(o map[string]any) bool { return jsonvalue.Same(jsonvalue.Marshal(o), b.raw) }
	if text == "" && eachObject(message, sameJSON) {
		text = evidence.Compact(s.Event.Frame.Raw)
	}
	return where, text
}

// hasKeys reports whether a text has two of the body's keys, or all of fewer, in quotes as JSON and some languages
// write them.
func (b *errorBody) hasKeys(text string) bool {
	missing := slices.DeleteFunc(slices.Clone(b.keys), func(key string) bool {
		return slices.ContainsFunc([]string{`"`, `'`, `\"`}, func(quote string) bool {
			return strings.Contains(text, quote+key+quote)
		})
	})
	return len(b.keys)-len(missing) >= min(2, len(b.keys))
}

// eachObject calls f with each object of a document until f returns true, and reports whether it did.
func eachObject(value any, f func(map[string]any) bool) bool {
	each := func(item any) bool { return eachObject(item, f) }
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, each)
	case map[string]any:
		return f(v) || slices.ContainsFunc(slices.Collect(maps.Values(v)), each)
	}
	return false
}
