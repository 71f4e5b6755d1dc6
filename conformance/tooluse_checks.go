package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var toolUseSchema = []string{"2025-11-25/schema/ToolUseContent", "2026-07-28/schema/ToolUseContent"}

var stopReasonToolUse = Check{
	ID: "stop-reason-tooluse", Says: "a turn with a tool use has the stop reason toolUse", Levels: everywhere(report.Robust), Answered: 1,
	Usual: "the provider's word is passed on, or mapped without a look at whether there are tool calls",
	Mend:  "give toolUse whenever the turn has a tool use, whatever the provider calls it",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		got, given := a.text("stopReason")
		at := a.At("stopReason")
		switch {
		case len(a.uses()) == 0:
			return NotObserved("the answer has no tool use (see tool-use/tool-use-block)").See(a.Place, "%s", compact(a.Result))
		case !given:
			return Warn("the stop reason is left out beside a tool use").See(at, "it is missing")
		case got == string(dialect.StopForTool):
			return Pass("the stop reason is toolUse").See(at, "%q", got)
		case slices.Contains(standardStopReasons, got):
			return Broken("the answer has a tool use and says that it stopped for %s", got).See(at, "%q", got)
		}
		return Warn("the stop reason beside a tool use is the client's own word").See(at, "%q", got)
	},
}

var toolUseBlock = Check{
	ID: "tool-use-block", Says: "the model's tool call comes back as a tool_use block with id, name, and input as an object",
	Levels: everywhere(report.Must), Answered: 1, Requirements: toolUseSchema,
	Usual: "the provider's arguments are passed on as the text that they are there, or the call is written out as text",
	Mend:  "parse the provider's arguments, and send the object as input",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		if v := a.unreadable(); v != nil {
			return *v
		}
		uses := a.uses()
		if len(uses) == 0 {
			return Broken("the model asked for a tool, and the answer has no tool_use block").
				See(Place{Label: "model said"}, "book_flight(%s)", booking).See(a.At("content"), "%s", orMissing(a.member("content")))
		}
		for _, use := range uses {
			var wrong string
			switch input := compact(use.Input); {
			case use.ID == "":
				wrong = "it has no id"
			case use.Name == "":
				wrong = "it has no name"
			case len(use.Input) == 0 || use.Input[0] != '{':
				wrong = fmt.Sprintf("its input is %s, where an object is due", input)
			}
			if wrong != "" {
				return Broken("a tool_use block is not well-formed: %s", wrong).See(a.At(use.Path), "%s", compact(use.Raw))
			}
		}
		return Pass("the tool use is well-formed").See(a.At(uses[0].Path), "%s", compact(uses[0].Raw))
	},
}

var inputIntact = Check{
	ID: "input-intact", Says: "a tool use's input is what the model gave: nesting, text, big integers, what is empty",
	Levels: everywhere(report.Robust), Answered: 1,
	Usual: "arguments go through a float64 that rounds big integers, or through a type that drops what it does not know",
	Mend:  "pass the arguments on as the JSON that they are",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		uses := a.uses()
		if len(uses) == 0 {
			return NotObserved("the answer has no tool use (see tool-use/tool-use-block)").See(a.Place, "%s", compact(a.Result))
		}
		use, got := uses[0], arguments(uses[0])
		at := a.At(use.Path).At("input")
		tell := func(v Verdict) Verdict {
			return v.See(Place{Label: "model said"}, "%s", booking).See(at, "%s", compact(use.Input))
		}
		switch {
		case len(uses) > 1:
			return Broken("the model asked for one tool, and the answer has %d tool uses", len(uses)).See(a.At("content"), "%s", describe(uses))
		case use.Name != "book_flight":
			return Broken("the model asked for book_flight, and the answer for %s", use.Name).See(a.At(use.Path).At("name"), "%q", use.Name)
		case sameJSON(got, []byte(booking)):
			return Pass("the input came through unchanged").See(at, "%s", compact(use.Input))
		case sameJSON(rounded(got), rounded([]byte(booking))) && rounds(e.Rounds[0]):
			return Pass("the input came through but for an integer beyond 2^53, which this provider's own wire rounds").See(at, "%s", compact(use.Input))
		case sameJSON(rounded(got), rounded([]byte(booking))):
			return tell(Broken("an integer beyond 2^53 was rounded on its way from the model to the server"))
		}
		return tell(Broken("the input is not what the model gave"))
	},
}

// rounds reports whether the provider gives arguments as a protobuf Struct, whose numbers are a float64: nobody can hold a client to more.
func rounds(r *Round) bool {
	x := r.LastModel()
	return x != nil && x.Request != nil && x.Request.Dialect == dialect.Gemini
}

// arguments returns a tool use's input, also where it was sent as text: that this is the wrong type is tool-use-block's business.
func arguments(use dialect.Block) json.RawMessage {
	var asText string
	if json.Unmarshal(use.Input, &asText) == nil {
		return json.RawMessage(asText)
	}
	return use.Input
}

// rounded is a document with its numbers as a float64 holds them, which is all that JavaScript knows.
func rounded(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return dialect.Marshal(v)
}

var toolsReachModel = Check{
	ID: "tools-reach-model", Says: "every tool reaches the model, with its name, description and input schema",
	Levels: everywhere(report.Robust), Asked: 1,
	Usual: "tools are not passed on, or are rebuilt from a type that knows some of their fields",
	Mend:  "offer the model each tool of the request, its schema as it came",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		for _, tool := range r.Params.Tools {
			i := slices.IndexFunc(x.Request.Tools, func(t dialect.Tool) bool { return t.Name == tool.Name })
			if i < 0 {
				return Broken("the model was never offered the tool %s", tool.Name).Saw("server sent", r.Asked.At(tool.Path), "").
					Saw("model was given", x.At("tools"), "%s", names(x.Request.Tools))
			}
			got, wanted := x.Request.Tools[i], decoded(tool.InputSchema)
			if x.Request.Dialect == dialect.Ollama {
				wanted = readByOllama(wanted)
			}
			switch {
			case !strings.Contains(got.Description, tool.Description): // the client may add to it, such as whose tool it is
				return Broken("the model was offered the tool %s with another description", tool.Name).
					Saw("server sent", r.Asked.At(tool.Path), "%q", tool.Description).Saw("model was given", x.At(got.Path), "%q", got.Description)
			case !covers(decoded(got.InputSchema), wanted):
				return Broken("the model was offered the tool %s with another input schema", tool.Name).
					Saw("server sent", r.Asked.At(tool.Path), "%s", compact(tool.InputSchema)).Saw("model was given", x.At(got.Path), "%s", compact(got.InputSchema))
			}
		}
		return Pass("the model was offered every tool").Saw("model was given", x.At("tools"), "%s", names(x.Request.Tools))
	},
}

// covers reports whether got has all that wanted has. A client may add to a schema what its provider asks for, such as
// additionalProperties, or null as one more type beside a property's own; it may leave out what is empty, and say what is a set in
// another order. It may not lose anything.
func covers(got, wanted any) bool {
	switch want := wanted.(type) {
	case map[string]any:
		have, isObject := got.(map[string]any)
		for name, value := range want {
			if inner, ok := have[name]; ok && !covers(inner, value) || !ok && !empty(value) {
				return false
			}
		}
		return isObject
	case []any:
		have, isArray := got.([]any)
		return isArray && !slices.ContainsFunc(want, func(item any) bool {
			return !slices.ContainsFunc(have, func(other any) bool { return covers(other, item) })
		})
	case string:
		several, isArray := got.([]any)
		return got == want || isArray && slices.Contains(several, any(want))
	}
	return cmp.Equal(got, wanted, cmp.Comparer(sameNumber))
}

// empty reports whether a part of a schema says nothing.
func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func names(tools []dialect.Tool) string {
	if len(tools) == 0 {
		return "no tools"
	}
	var list string
	for i, t := range tools {
		if i > 0 {
			list += ", "
		}
		list += t.Name
	}
	return list
}

var onlyTheseTools = Check{
	ID: "only-these-tools", Says: "the model is offered the request's tools and no others", Levels: everywhere(report.Robust), Asked: 1,
	Usual: "the host's own tools, or those of other servers, are in every model request that it makes",
	Mend:  "offer the model what the sampling request lists, and nothing else",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		for _, got := range x.Request.Tools {
			if !slices.ContainsFunc(r.Params.Tools, func(t dialect.Tool) bool { return t.Name == got.Name }) {
				return Broken("the model was offered %s, which is not a tool of the request", got.Name).
					Saw("server sent", r.Asked.At("tools"), "%s", names(r.Params.Tools)).Saw("model was given", x.At(got.Path), "%s", got.Name)
			}
		}
		return Pass("the model was offered no foreign tool").Saw("model was given", x.At("tools"), "%s", names(x.Request.Tools))
	},
}

var notExecuted = Check{
	ID: "not-executed", Says: "the client does not run the tool itself: that is for the server", Levels: everywhere(report.Robust),
	Answered: 2, // a later sample was answered: had the client wanted to run the tool, it would have by then
	Usual:    "the host runs every tool call of its model, whoever asked for it",
	Mend:     "return the tool use to the server, with the stop reason toolUse",
	Judge: func(e *Evidence) Verdict {
		asked := e.Rounds[0].Params
		if asked == nil {
			return NotObserved("what sampling request 1 asks for cannot be read").See(e.Rounds[0].Asked, "")
		}
		for _, call := range e.Session.ForeignCalls {
			if slices.ContainsFunc(asked.Tools, func(t dialect.Tool) bool { return t.Name == call.Tool }) {
				return Broken("the client called the tool %s itself", call.Tool).See(call.Place, "%s", call.Tool)
			}
		}
		return Pass("no call of the tool came until the session's end")
	},
}
