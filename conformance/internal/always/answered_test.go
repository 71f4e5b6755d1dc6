package always_test

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// refusesAfter asks with the params, lets the model end with each of the ends, and gets an error. Then the client
// answers another request.
func refusesAfter(params *server.CreateMessageParams, said string, ends ...trace.ModelEnd) steps {
	return func(s *session) {
		s.Asks(params)
		for _, end := range ends {
			s.Prompt(string(story.JSON(params)), end)
			if said != "" {
				s.Says(said)
			}
		}
		s.Refuses(-32603, "no").PassesBarrier()
	}
}

// answersOne asks twice at once. The client answers one of the requests, and refuses the other with the code.
func answersOne(code int) steps {
	return func(s *session) {
		s.Asks(asked)
		first := s.ID()
		s.Asks(asked).Prompt(string(story.JSON(asked)), trace.ModelEnd{Status: 200}).Says(answer).Answers(answer)
		s.Responds(first, fmt.Sprintf(`"error":{"code":%d,"message":"no"}`, code))
	}
}

func TestValidRequestsGetAResult(t *testing.T) {
	ok, failed := trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 500}
	strict := trace.ModelEnd{Status: 400, Refused: "tool_call_id is missing"}
	with := func(edit func(p *server.CreateMessageParams)) *server.CreateMessageParams {
		p := tracetest.Asking(story.Question, story.GetWeather)
		edit(p)
		return p
	}
	warm := with(func(p *server.CreateMessageParams) { p.Temperature = new(float64); *p.Temperature = 0.5 })
	dotted := with(func(p *server.CreateMessageParams) { p.Tools[0].Name = "weather.get" })
	hot := with(func(p *server.CreateMessageParams) { p.Temperature = new(float64); *p.Temperature = 1.5 })
	image := with(func(p *server.CreateMessageParams) {
		p.Messages[0].Content = map[string]any{"type": "image", "data": "AAAA", "mimeType": "image/png"}
	})
	declined := func(s *session) {
		s.Trace.Header.Decision = "decline"
		refusesAfter(asked, "")(s)
	}
	unrefused := func(s *session) {
		s.Asks(asked)
		s.Prompt(string(story.JSON(asked)), ok).Says(answer).PassesBarrier()
	}
	beside := func(why string) steps { // a request while another one is open
		return func(s *session) {
			s.Asks(asked).Prompts(asked).Asks(warm).Refuses(-32000, why).PassesBarrier()
		}
	}
	givesUp := func(outcome string) steps { // at once, with the stream of the call
		return func(s *session) { s.Asks(asked).Closes().CallEnds(outcome).PassesBarrier() }
	}
	inArray := with(func(p *server.CreateMessageParams) {
		p.Tools, p.Messages[0].Content = nil, []any{p.Messages[0].Content}
	})
	arrays := fails("an array of one block", refusesAfter(inArray, ""), "without a request")
	arrays.Fix = "Take content in both forms: a block, and an array of blocks, which may be one."
	both := fails("a block alone, too", func(s *session) {
		s.Asks(inArray).Refuses(-32603, "no").Asks(asked).Refuses(-32603, "no").PassesBarrier()
	}, "without a request")
	both.Fix = "Serve requests with tools, histories, parameters and arrays of blocks like the plain ones. " +
		"Read every reply of the model that its provider documents."
	another := fails("a block alone for another reason", func(s *session) {
		s.Asks(inArray).Refuses(-32603, "no").Asks(asked).Refuses(-32603, "why").PassesBarrier()
	}, "without a request")
	another.Fix = arrays.Fix
	many := func(then ...steps) steps { // more requests than a client may take in one call, and then others
		return func(s *session) {
			for range 6 {
				s.Asks(asked).Prompts(asked).Answers(answer)
			}
			for _, step := range then {
				step(s)
			}
		}
	}
	tapped := func(do steps) steps {
		return func(s *session) {
			s.Trace.Header.Tapped = true
			do(s)
		}
	}
	sixAtOnce := func(s *session) (ids []string) {
		for range 6 {
			ids = append(ids, s.Asks(asked).ID())
		}
		return ids
	}
	served := func(params *server.CreateMessageParams) steps {
		return func(s *session) { s.Asks(params).Prompts(params).Answers(answer) }
	}
	warmImage := with(func(p *server.CreateMessageParams) {
		p.Messages = append([]server.SamplingMessage{image.Messages[0]}, p.Messages...)
		p.Temperature = warm.Temperature
	})
	painted := with(func(p *server.CreateMessageParams) {
		p.Messages = append(p.Messages, image.Messages[0], p.Messages[0])
		p.Messages[1].Role = "assistant"
	})
	imageAlone := with(func(p *server.CreateMessageParams) { p.Messages, p.Tools = image.Messages, nil })
	judges(t, "answered", "basic/question",
		inNative(legacy(arrays)), inNative(legacy(both)), inNative(legacy(another)),
		inNative(legacy(fails("the call fails at once, with its stream", givesUp(harness.Failed), "without a request"))),
		inNative(legacy(tracetest.Passes("the call is abandoned", givesUp(harness.Abandoned)))),
		inNative(legacy(passes("too many requests at once", beside("busy")))),
		inNative(legacy(fails("another refusal beside a request", beside("no"), "without a request"))),
		passes("a result", tracetest.Asked(asked, answer)),
		inNative(legacy(fails("a refusal without a request to the model", refusesAfter(warm, ""), "without a request"))),
		inNative(legacy(passes("an error where the tap does not see the model", tapped(refusesAfter(warm, ""))))),
		inNative(legacy(fails("the same, and the tap sees the model", tapped(func(s *session) {
			served(asked)(s)
			refusesAfter(warm, "")(s)
		}), "without a request"))),
		inNative(legacy(passes("a user who declines the answer, where a session is tapped", tapped(func(s *session) {
			s.Asks(asked).Prompt(string(story.JSON(asked)), ok).Says(answer).Refuses(-1, "no").PassesBarrier()
		})))),
		inNative(legacy(fails("the same in a run", func(s *session) {
			s.Asks(asked).Prompt(string(story.JSON(asked)), ok).Says(answer).Refuses(-1, "no").PassesBarrier()
		}, "although the model answered"))),
		inNative(legacy(passes("params that no schema allows, where a session is tapped", tapped(func(s *session) {
			wrong := json.RawMessage(strings.Replace(string(story.JSON(asked)), "{", `{"temperature":"warm",`, 1))
			s.Asks(wrong).Refuses(-32602, "no").PassesBarrier()
		})))),
		inNative(legacy(fails("params are said to be invalid where the tap sees no model", tapped(func(s *session) {
			s.Asks(asked).Refuses(-32602, "no").PassesBarrier()
		}), "without a request"))),
		inNative(legacy(fails("one of two requests at once is said to be invalid", answersOne(-32602), "without a request"))),
		inNative(legacy(passes("one of two requests at once is too many", answersOne(-32000)))),
		inNative(fails("an error although the model answered", refusesAfter(asked, answer, ok),
			"although the model answered")),
		inNative(passes("a request that the provider refuses", refusesAfter(warm, "", strict))),
		inNative(modern(fails("a call that ends although the model answered", unrefused, "although the model answered"))),
		inNative(tracetest.Passes("a provider that fails", refusesAfter(asked, "", failed))),
		inNative(passes("a name that a provider may not take", refusesAfter(dotted, "", strict))),
		inNative(passes("a temperature that a provider may not take", refusesAfter(hot, "", strict))),
		inNative(passes("an image that a model may not take", refusesAfter(image, "", strict))),
		inNative(legacy(passes("an image with parameters, by a client that may see none", refusesAfter(warmImage, "")))),
		inNative(legacy(fails("an image with parameters, by a client that has seen one", func(s *session) {
			served(image)(s)
			refusesAfter(warmImage, "")(s)
		}, "without a request"))),
		inNative(legacy(passes("an image of the assistant, by a client that has seen one of the user", func(s *session) {
			served(image)(s)
			refusesAfter(painted, "")(s)
		}))),
		inNative(legacy(passes("an image and a tool, by a client that has seen one without tools", func(s *session) {
			served(imageAlone)(s)
			refusesAfter(warmImage, "")(s)
		}))),
		inNative(modern(fails("the same, and the call ends", func(s *session) {
			served(image)(s)
			s.Asks(warmImage).PassesBarrier()
		}, "without a request"))),
		inNative(modern(passes("parameters beside an image that the client may not see",
			func(s *session) { s.AsksAll(image, warm).PassesBarrier() }))),
		inNative(legacy(passes("the last of many requests", many(refusesAfter(warm, ""))))),
		inNative(legacy(fails("a request with parameters among many", many(refusesAfter(warm, ""), served(asked)),
			"sampling request 7: expected a result"))),
		inNative(legacy(passes("a request like others among many", many(refusesAfter(asked, ""), served(asked))))),
		inNative(legacy(passes("a request with parameters, and one without, among many",
			many(refusesAfter(warm, ""), refusesAfter(asked, ""), served(asked))))),
		inNative(legacy(fails("an error with the model's answer, among many",
			many(refusesAfter(asked, answer, ok), served(asked)), "although the model answered"))),
		inNative(legacy(fails("an error with the model's answer, as the last of many",
			many(refusesAfter(asked, answer, ok)), "although the model answered"))),
		inNative(modern(passes("a limit of rounds, which the client notices after it asked the model", func(s *session) {
			many()(s)
			s.Asks(asked).Prompt(string(story.JSON(asked)), ok).Says(answer).PassesBarrier()
		}))),
		inNative(legacy(fails("each of many", func(s *session) {
			for range 6 {
				s.Asks(asked).Refuses(-32603, "no")
			}
			s.PassesBarrier()
		}, "without a request"))),
		inNative(legacy(fails("each of many at once", func(s *session) {
			for _, id := range sixAtOnce(s) {
				s.Responds(id, `"error":{"code":-32602,"message":"no"}`)
			}
			s.PassesBarrier()
		}, "without a request"))),
		inNative(modern(passes("too many at once", func(s *session) {
			s.AsksAll(asked, asked, asked, asked, asked, asked).PassesBarrier()
		}))),
		inNative(modern(fails("all of many at once, although the model answered", func(s *session) {
			s.AsksAll(asked, asked, asked, asked, asked, asked)
			for range 6 {
				s.Prompt(string(story.JSON(asked)), ok).Says(answer)
			}
			s.PassesBarrier()
		}, "although the model answered"))),
		inNative(legacy(fails("the third of many", func(s *session) {
			for i := range 7 {
				if s.Asks(asked); i == 2 {
					s.Refuses(-32603, "no")
				} else {
					s.Prompts(asked).Answers(answer)
				}
			}
		}, "sampling request 3: expected a result"))),
		inNative(legacy(passes("all but one at once", func(s *session) {
			for _, id := range sixAtOnce(s)[:5] {
				s.Responds(id, `"error":{"code":-32000,"message":"no"}`)
			}
			s.Prompts(asked).Answers(answer)
		}))),
		inNative(passes("a tool use that was not offered",
			refusesAfter(asked, tracetest.Wanting([3]string{"a", "get_weather", `{"city":"Paris"}`}), ok))),
		inNative(passes("arguments that the schema forbids", refusesAfter(with(func(*server.CreateMessageParams) {}),
			tracetest.Wanting([3]string{"a", "get_weather", `{"town":"Paris"}`}), ok))),
		inNative(fails("valid arguments", refusesAfter(with(func(*server.CreateMessageParams) {}),
			tracetest.Wanting([3]string{"a", "get_weather", `{"city":"Paris"}`}), ok), "although the model answered")),
		inNative(passes("a user who declines", declined)),
	)
}
