package clientloop

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Some are exported for the tests, which are in a package of their own.
const (
	NoSuchTool = "loop_teleport" // a tool that nobody offers
	Forbidden  = "loop_drop_note"
)

// Some are exported for the tests, which are in a package of their own.
var (
	Depth = story.Gauge("loop_depth", "The depth of the water at a place", story.Reading("The water at %s is 40 m deep."))
	Level = story.Gauge("loop_level", "The level of the river at a place", story.Reading("The river at %s is at 1.8 m."))
	Read  = story.Gauge("loop_read_note", "Reads the note of a place",
		story.Reading("The note of %s says: closed on Mondays."))
	Drop = story.Gauge(Forbidden, "Deletes the note of a place", story.Reading("The note of %s is deleted."))
)

// The model uses a tool that nobody offers, and then the right one.
var unknown = loop{"unknown-name", nil, []server.Tool{Depth}, "How deep is it at Fisher?", turns{
	{llm.Call(NoSuchTool, `{"to":"Fisher"}`)}, {at("loop_depth", "Fisher")}, said("It is 40 m deep.")}}

// The model uses a tool with arguments that its schema forbids, and then with valid ones.
var invalid = loop{"invalid-input", nil, []server.Tool{Level}, "How high is the river at Bonn?", turns{
	{llm.Call("loop_level", `{"days":9}`)}, {at("loop_level", "Bonn")}, said("It is at 1.8 m.")}}

// The request allows only tools of a pattern. The model uses an allowed one, and then another.
var patterns = loop{"patterns", story.Object{"allowedToolPatterns": []string{"loop_read_*"}},
	[]server.Tool{Read, Drop}, "Read the note of the mill, and delete it.", turns{
		{at("loop_read_note", "the mill")}, {at(Forbidden, "the mill")}, said("It is closed on Mondays.")}}

// named returns the model's first use of a tool, also under its name behind an image; nil for none.
func named(e *evidence.Case, tool string) *dialect.Block {
	uses := e.Uses()
	is := func(use dialect.Block) bool {
		name := e.ServerTool(use.Name)
		return name == tool || name == againPrefix+strings.TrimPrefix(tool, toolPrefix)
	}
	if i := slices.IndexFunc(uses, is); i >= 0 {
		return &uses[i]
	}
	return nil
}

// told judges that the model received a result for its use of a tool, whatever that says, and could go on.
func told(e *evidence.Case, tool string) check.Verdict {
	use := named(e, tool)
	if use == nil {
		return check.NotObserved("the model did not use %s", tool)
	}
	x, given := resultFor(e, use)
	if given == nil {
		return notTold(e, use, x)
	}
	return check.Pass("the model received a result for its use of %s, and the loop went on", tool).
		Show(x.At(given.Path), "%s", evidence.Clip(dialect.PlainText(given.Content)))
}

var unknownTool = rule(check.Check{
	ID:    "unknown-tool",
	Rule:  "A client that runs the tool loop tells the model about an unknown tool, and continues",
	Cause: "the client ends the loop, or returns the tool use to the server, if its table of tools has no such name",
	Fix:   "Give the model a tool result with isError that names the tools it has, and ask it again.",
	Judge: func(e *evidence.Case) check.Verdict { return told(e, NoSuchTool) },
}, "unknown-name")

var invalidArguments = rule(check.Check{
	ID:    "invalid-arguments",
	Rule:  "A client that runs the tool loop checks arguments against the input schema, and tells the model what is wrong",
	Cause: "the client passes the arguments on as they are, or ends the loop",
	Fix: "Validate the input against the tool's inputSchema before tools/call. If it is invalid, give the model a tool " +
		"result with isError that says why.",
	Judge: func(e *evidence.Case) check.Verdict {
		use := named(e, "loop_level")
		calls, _ := e.ToolCalls()
		for _, call := range calls {
			if use != nil && jsonvalue.Same(evidence.Arguments(*use), call.Arguments) {
				return check.Fail("expected no tools/call with arguments that the input schema forbids, found one").
					ShowAs("server offered", round(e).Asked, "%s", evidence.Compact(jsonvalue.Marshal(Level.InputSchema))).
					Show(call.Place, "%s", evidence.Compact(call.Arguments))
			}
		}
		return told(e, "loop_level")
	},
}, "invalid-input")

var allowedOnly = rule(check.Check{
	ID:    "allowed-only",
	Rule:  "A client that runs the tool loop neither offers nor calls tools outside the request's allowedToolPatterns",
	Cause: "the client reads allowedToolPatterns nowhere, or only when it offers the tools",
	Fix: "Match every tool name with the patterns of the request before you offer it to the model, and again before " +
		"tools/call. Refuse the others with a tool result that has isError.",
	Judge: func(e *evidence.Case) check.Verdict {
		offered := 0
		for _, x := range round(e).Model {
			if x.Request == nil {
				continue
			}
			for _, tool := range x.Request.Tools {
				if strings.HasSuffix(tool.Name, Forbidden) {
					return check.Fail("expected only tools that match loop_read_* in the model request, found %s", tool.Name).
						Show(round(e).Asked, "allowedToolPatterns: loop_read_*").Show(x.At(tool.Path), "%s", tool.Name)
				}
				offered++
			}
		}
		calls, _ := e.ToolCalls()
		for _, call := range calls {
			if call.Tool == Forbidden {
				return check.Fail("expected only calls of tools that match loop_read_*, found one of %s", call.Tool).
					Show(round(e).Asked, "allowedToolPatterns: loop_read_*").Show(call.Place, "%s", call.Tool)
			}
		}
		if offered == 0 {
			return check.Fail("expected the tools that match loop_read_* in the model request, found none").At(lastOf(round(e)))
		}
		return check.Pass("the model was offered, and the client called, only tools that match loop_read_*").
			At(round(e).Asked)
	},
}, "patterns")
