package parallel

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const incomplete = "found it incomplete"

func TestTheContentOfResultsReachesTheModelOrIsRefused(t *testing.T) {
	for _, c := range richResults {
		want := c.Expect.(content)
		continues := func(edit edit) steps { return tracetest.GoesOn(two, want.results, edit) }
		tests := []test{
			passes("whole", continues(tracetest.AsItIs)),
			legacy(passes("the client returns an error",
				func(s *session) { second(s, want.results).Refuses(-32603, "no such content") },
				`"no such content" (code -32603)`)),
			modern(passes("the client does not continue", func(s *session) { second(s, want.results) }, tracetest.NotFulfilled)),
			unobserved("the client crashes",
				func(s *session) { second(s, want.results).Ends(trace.Process{Panic: "no such content"}) },
				"the model received no request for sampling request 2"),
			fails("no result, with its content elsewhere", continues(lastTurn(func(blocks []block) []block {
				if want.markers != nil {
					blocks[1]["content"] = append(blocks[1]["content"].([]any), server.Text(strings.Join(want.markers, " ")))
				}
				return blocks[1:]
			})), want.name+" in the model request, found none"),
		}
		if len(want.markers) > 1 {
			tests = append(tests, fails("without the last block", continues(eachResult(func(b block) {
				if blocks := b["content"].([]any); len(blocks) > 1 {
					b["content"] = blocks[:len(blocks)-1]
				}
			})), incomplete))
		}
		if want.markers != nil {
			tests = append(tests, fails("empty", continues(eachResult(func(b block) {
				emptied(b)
				delete(b, "structuredContent")
			})), incomplete))
		}
		_, name, _ := strings.Cut(c.ID, "/")
		judges(t, "result-content", name, tests...)
	}
}

func TestFormsOfTheContentOfResults(t *testing.T) {
	// sends is a client that sends the model another form of the first result.
	sends := func(caseID string, edit func(block)) steps {
		for _, c := range richResults {
			if c.ID == "parallel/"+caseID {
				return tracetest.GoesOn(two, c.Expect.(content).results, resultFor("call_a", edit))
			}
		}
		panic("no case " + caseID)
	}
	only := func(blocks ...any) func(block) { return func(b block) { b["content"] = blocks } }
	judges(t, "result-content", "result-structured-and-text",
		passes("only the structured content", sends("result-structured-and-text", emptied)),
		passes("only the text", sends("result-structured-and-text", func(b block) { delete(b, "structuredContent") })))
	judges(t, "result-content", "result-structured", passes("as a text", sends("result-structured", func(b block) {
		asText(b, string(dialect.Marshal(b["structuredContent"])))
		delete(b, "structuredContent")
	})))
	judges(t, "result-content", "result-audio",
		fails("a placeholder", sends("result-audio", only(server.Text("[audio]"))), incomplete))
	judges(t, "result-content", "result-images",
		fails("one image twice", sends("result-images", only(server.Text("both maps: "+weatherMap+weatherMap))), incomplete))
	webp := passes("in another format",
		sends("result-image", only(story.Object{"type": "image", "mimeType": "image/webp", "data": "AAAA"})))
	webp.Dialects = tracetest.Native
	judges(t, "result-content", "result-image", webp,
		passes("in the JSON of a text, with escaped slashes",
			sends("result-image", only(server.Text(`{"image":"`+strings.ReplaceAll(weatherMap, "/", `\/`)+`"}`)))),
		fails("a placeholder", sends("result-image", only(server.Text("[image]"))), incomplete),
		fails("without data",
			sends("result-image", only(story.Object{"type": "image", "mimeType": "image/png", "data": ""})), incomplete))
}
