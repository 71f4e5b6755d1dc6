package tooluse

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const (
	// unoffered is a tool that nobody offers, and that the model asks for all the same.
	unoffered = "cancel_flight"
	// torn are arguments that end too soon.
	torn = `{"from":"Zürich","to":"Tok`
	// unwilling is what the model says where it has to use a tool.
	unwilling = "I would rather not book anything."
)

// The model does what it should not: it uses tools where it must not or cannot, none where it must, says that it has stopped beside a tool
// use, tears arguments, and asks for a tool that is not there. A client may tell it so, and ask once more.
var faultCases = []harness.Case{
	flight("tool-use/none-defied", &server.ToolChoice{Mode: dialect.ChoiceNone}, llm.When().Reply(llm.Text("As you like."), llm.Call("book_flight", short))),
	flight("tool-use/required-defied", &server.ToolChoice{Mode: dialect.ChoiceRequired}, llm.When().Reply(llm.Text(unwilling))),
	{
		ID:      "tool-use/no-tools",
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Book a flight from Zürich to Tokyo.")) },
		Script: func(string) []*llm.Rule {
			return llm.Script(llm.When().Reply(llm.Text("I will."), llm.Call("book_flight", short)))
		},
		Barrier: true,
	},
	flight("tool-use/says-stop", nil, llm.When().Reply(llm.Call("book_flight", short)).StopReason(llm.EndTurn)),
	flight("tool-use/torn-arguments", nil, llm.When(llm.Turn(1)).Reply(llm.Call("book_flight", torn)), llm.When().Reply(llm.Text("Never mind."))),
	flight("tool-use/unknown-tool", nil, llm.When(llm.Turn(1)).Reply(llm.Call(unoffered, short)), llm.When().Reply(llm.Text("Never mind."))),
}

var requiredUnmet = check.Check{
	ID: "required-unmet", Rule: "a text in place of a required tool use is passed on, or is an error; no tool use is made up", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"required-defied"},
	Cause: "the client fills in a tool use that the model never made, or drops the text",
	Fix:   "pass on what the model says, or answer with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client does not take a text in place of a tool use, and says so: %s", how)
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		said := evidence.Place{Label: "model said"}
		if uses := a.Uses(); len(uses) > 0 {
			return check.Fail("the model used no tool, and the answer has a tool use").Show(said, "%q", unwilling).Show(a.At(uses[0].Path), "%s", evidence.Compact(uses[0].Raw))
		}
		if !evidence.Holds(a.Blocks(), unwilling) {
			return check.Fail("the model used no tool, and what it said instead is lost").Show(said, "%q", unwilling).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		return check.Pass("what the model said was passed on").Show(a.At("content"), "%q", unwilling)
	},
}

var noToolsNoUse = check.Check{
	ID: "no-tools-no-use", Rule: "no tool use comes back to a request without tools", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"no-tools"},
	Cause: "the host's own tools are in the model's request, or a tool use that the model made up is passed on",
	Fix:   "offer the model no tools where the request has none, and leave out what it makes up",
	Judge: noUse("without a tool in the request"),
}

var stopBesideCalls = check.Check{
	ID: "stop-beside-calls", Rule: "tool calls are kept when the provider says that the model came to its end", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"says-stop"},
	Cause: "the client looks for tool calls only where the finish reason speaks of them",
	Fix:   "take every tool call that is there, whatever the finish reason is",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		said := evidence.Place{Label: "model said"}
		if x := r.LastExchange(); x == nil || x.End.Status != 200 {
			return check.NotObserved("the model did not get as far as such an answer%s", e.WhyNoResult(1))
		}
		if how := check.RefusalWithTools(e, r); how != "" {
			return check.Fail("the provider calls a tool call the end of the turn, and the client makes no answer of it: %s", how).Show(said, "book_flight(%s), and that it stopped", short)
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		if len(a.Uses()) == 0 {
			return check.Fail("the provider called a tool call the end of the turn, and the tool call is lost").
				Show(said, "book_flight(%s), and that it stopped", short).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		return check.Pass("the tool call was kept").Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}

var badArguments = check.Check{
	ID: "bad-arguments", Rule: "arguments that are not JSON are an error, or are shown as they are; never is {} passed off as the model's words",
	Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"torn-arguments"},
	Cause: "what cannot be parsed becomes an empty object, and the server runs the tool with nothing",
	Fix:   "answer with an error, or tell the model and ask again",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses arguments that are not JSON: %s", how)
		}
		x, missing := check.ModelRequest(r)
		switch {
		case missing != nil:
			return *missing
		case !givesText(x):
			return check.NotApplicable("the provider gives arguments as an object, which cannot be torn")
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		said := evidence.Place{Label: "model said"}
		uses := a.Uses()
		if len(uses) == 0 {
			return eitherSaid(a, "the tool use is not passed on, and the answer is the text %q", "the model's tool use is lost, and no error says so")
		}
		input, at := uses[0].Input, a.At(uses[0].Path).At("input")
		switch {
		case evidence.Contains(evidence.Decoded(input), torn):
			return check.Pass("the arguments are shown as they are").Show(at, "%s", evidence.Compact(input))
		case evidence.Contains(evidence.Decoded(input), "Zürich"):
			return check.Warn("arguments that end too soon were made whole by the client").Show(said, "%s", torn).Show(at, "%s", evidence.Compact(input))
		}
		return check.Fail("arguments that are not JSON were passed off as %s", evidence.Compact(input)).Show(said, "%s", torn).Show(at, "%s", evidence.Compact(input))
	},
}

// givesText reports whether the model's wire carries arguments as text: Gemini's and Ollama's do not, and Anthropic's only as a stream.
func givesText(x *evidence.Exchange) bool {
	return x.Request.Dialect != dialect.Gemini && x.Request.Dialect != dialect.Ollama && (x.Request.Dialect != dialect.Anthropic || x.Request.Stream)
}

var unofferedTool = check.Check{
	ID: "unoffered-tool", Rule: "a tool that nobody offered is passed on or refused when the model asks for it, and never run", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"unknown-tool"},
	Cause: "the host looks the name up among all tools that it knows, or takes the nearest one",
	Fix:   "pass the tool use on, or answer with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		for _, call := range e.Session.ForeignCalls {
			if call.Tool == unoffered {
				return check.Fail("the client called %s, a tool that nobody offered", unoffered).Show(call.Place, "%s", unoffered)
			}
		}
		last := r.Asked
		if len(r.Answers) > 0 {
			last = r.Answers[0].Place
		}
		if v := check.UnsettledAfter(e.Session, last, "that the client does not run the tool cannot be said"); v != nil {
			return *v
		}
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses a tool that nobody offered: %s", how)
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		uses := a.Uses()
		if len(uses) == 0 {
			return eitherSaid(a, "the tool use is not passed on, and the answer is the text %q", "the model's tool use is lost, and no error says so")
		}
		if use := uses[0]; use.Name != unoffered {
			return check.Warn("the model asked for %s, and the answer asks for %s", unoffered, use.Name).Show(a.At(use.Path), "%s", evidence.Compact(use.Raw))
		}
		return check.Pass("the tool use was passed on, and not run").Show(a.At(uses[0].Path), "%s", evidence.Compact(uses[0].Raw))
	},
}

// eitherSaid passes an answer that has a text in place of what the model said; one that has nothing is broken.
func eitherSaid(a *evidence.Answer, said, lost string) check.Verdict {
	text := dialect.PlainText(a.Blocks())
	if strings.TrimSpace(text) == "" {
		return check.Fail("%s", lost).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
	}
	return check.Pass(said, evidence.Clip(text)).Show(a.At("content"), "%q", text)
}
