package chapters_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/parallel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The forms of a test: see package tracetest.
var (
	parallelJudges = tracetest.Judging(parallel.Scenario)
)

type (
	parallelTest = tracetest.Test
)

var (
	parallelAsked = tracetest.AskingForWeather()
	two           = tracetest.TwoUses()
	paris         = [3]string{"call_a", "get_weather", tracetest.Paris}
)

// streams is the first round of a client that asks for a stream, in which the model uses the tool twice; "" is for no
// result.
func streams(result string, end trace.ModelEnd) steps {
	return func(s *session) {
		body := string(jsonvalue.Marshal(tracetest.AsChat(parallelAsked)))
		s.Asks(parallelAsked).Prompt(tracetest.With(body, "stream", "true"), end)
		var calls []any
		for i, input := range []string{tracetest.Paris, tracetest.London} {
			calls = append(calls, story.Object{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function",
				"function": story.Object{"name": "get_weather", "arguments": input}})
		}
		s.Says("data: " + string(jsonvalue.Marshal(story.Object{"model": "m", "choices": []any{story.Object{
			"delta": story.Object{"tool_calls": calls}, "finish_reason": "tool_calls"}}})) + "\n\ndata: [DONE]\n\n")
		if result != "" {
			s.Answers(result)
		}
	}
}

func streaming(result string) steps {
	return streams(result, trace.ModelEnd{Status: 200, Stream: true})
}
