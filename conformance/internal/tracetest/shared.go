package tracetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// answersWith is the question, asked of the model as it should be, and the client's answer.
func AnswersWith(result string) func(*Story) {
	return func(s *Story) { s.Asks(Asking(story.Question)).Prompts(Asking(story.Question)).Answers(result) }
}

// truncatedWith is the same for the case in which the model had to stop.
func TruncatedWith(result string) func(*Story) {
	return func(s *Story) {
		s.Asks(Asking("Tell me a long story.")).Prompts(Asking("Tell me a long story.")).Answers(result)
	}
}

var Right = AnswersWith(Saying(story.Answer))

// thinks is the client's request of the model for what the params say, which the model does not answer yet.
func (s *Story) Thinks(p any) *Story {
	s.Models++
	s.Add(s.CaseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.Models, Dialect: dialect.Native, Method: "POST", Path: "/native",
		Body: trace.Bytes(dialect.Marshal(p))}})
	return s
}

// givesUp is the client's cancel of a request, as its id is written.
func (s *Story) GivesUp(id string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

// closes is the end of the call's stream, which the client made.
func (s *Story) Closes() *Story {
	f := &trace.Frame{Dir: trace.FromClient, Stream: "post-1", Closed: true}
	if !s.Revision.Modern() {
		f.Session = SessionID
	}
	s.Add(s.CaseID, trace.Event{Call: s.Call, Frame: f})
	return s
}

// callEnds is what the client says of its call.
func (s *Story) CallEnds(outcome string) *Story {
	s.Add(s.CaseID, trace.Event{Mark: &trace.Mark{Name: trace.MarkOutcome, Text: fmt.Sprintf(`{"mcp-conform":"outcome","tool":"x","outcome":%q}`, outcome)}})
	return s
}

var Pondering = Asking("Take your time over this (ponder1well).")

var Fish = Asking("Name a fish.")

var Died = trace.Process{ExitCode: 1}

// retries is the client's call again, with input responses as they are written.
func (s *Story) Retries(responses string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{`+s.Meta()+`"name":"x","requestState":"s"`+responses+`}}`)
	return s
}

const SamplingOnly = `{"sampling":{}}`

// asked asks the model as it should be, and says what came of it.
func Asked(p *server.CreateMessageParams, result string) func(*Story) {
	return func(s *Story) { s.Asks(p).Prompts(p).Answers(result) }
}

// asksAll are sampling requests that are in flight together.
func (s *Story) AsksAll(params ...any) *Story {
	if !s.Revision.Modern() {
		for _, p := range params {
			s.Asks(p)
		}
		return s
	}
	requests := story.Object{}
	for _, p := range params {
		s.Samples++
		requests[s.key()] = story.Object{"method": "sampling/createMessage", "params": p}
	}
	s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s","inputRequests":%s}}`, dialect.Marshal(requests)))
	return s
}

const Paris = `{"city":"Paris"}`

const London = `{"city":"London"}`

func AskingForWeather() *server.CreateMessageParams {
	return Asking("What is the weather like there?", story.GetWeather)
}

// twoUses are the model's two calls.
func TwoUses() string {
	return Wanting([3]string{"call_a", "get_weather", Paris}, [3]string{"call_b", "get_weather", London})
}

// wants is the first round, with the client's answer.
func Wants(result string) func(*Story) {
	return func(s *Story) { s.Asks(AskingForWeather()).Prompts(AskingForWeather()).Answers(result) }
}

// turn is a message of the history.
type Turn = server.SamplingMessage

// goesOn is both rounds: the server sends results, and the model is given what the edit makes of the history.
func GoesOn(result string, results func([]server.ToolUseContent) []server.ToolResultContent, edit func(messages []Turn) []Turn) func(*Story) {
	return func(s *Story) {
		Wants(result)(s)
		next := AskingForWeather().After(json.RawMessage(result), results)
		changed := *next
		changed.Messages = edit(copyOf(next.Messages))
		s.Asks(next).Prompts(&changed).Answers(Saying("That is the weather."))
	}
}

// copyOf makes each message's content blocks that can be changed.
func copyOf(messages []Turn) []Turn {
	copied := slices.Clone(messages)
	for i, m := range copied {
		var blocks []map[string]any
		if json.Unmarshal(dialect.Marshal(m.Content), &blocks) == nil {
			copied[i].Content = blocks
		}
	}
	return copied
}

func AsItIs(messages []Turn) []Turn { return messages }

var WeatherResults = story.Reversed(story.Texts("eighteen degrees", "fifteen degrees"))

const WhenOpen = "When does the bridge open?"

// fails is a request to the model, and a failure.
func (s *Story) Fails(status int) *Story { return s.Prompting(trace.ModelEnd{Status: status}, "") }

// breaksOff is a request to the model, and an answer that is cut.
func (s *Story) BreaksOff() *Story {
	return s.Prompting(trace.ModelEnd{Status: 200, Fault: "TruncateAfter(6)"}, "")
}

// prompting is a request to the model, how it ended, and what the model said.
func (s *Story) Prompting(end trace.ModelEnd, said string) *Story {
	var body any = Asking(WhenOpen)
	if s.Dialect != dialect.Native {
		body = AsChat(Asking(WhenOpen))
	}
	s.Prompt(string(dialect.Marshal(body)), end)
	if said != "" {
		s.Add(s.CaseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.Models, Data: trace.Bytes(said)}})
	}
	return s
}

// waitsFor tells the story's client how long to wait for the model, and how patient that is.
func (s *Story) WaitsFor(limit time.Duration, declared bool, patience time.Duration) *Story {
	h := &s.Trace.Header
	h.ClientTimeout, h.TimeoutDeclared, h.Patience = limit, declared, patience
	return s
}

// later lets time pass, by the story's clock, before what is told next.
func (s *Story) Later(d time.Duration) *Story {
	s.Passed += d
	return s
}

var HungUp = trace.ModelEnd{Status: 200, Stream: true, HungUp: true}

func AskingForFlight() *server.CreateMessageParams {
	return Asking("Book a flight from Zürich to Tokyo.", story.BookFlight, story.ListAirports)
}

// booked is the tool use that the model wants, with other input where some is given.
func Booked(input ...string) string {
	return Wanting([3]string{"call_1", "book_flight", append(input, story.Booking)[0]})
}

// uses is the first round, with the client's answer.
func Uses(result string) func(*Story) {
	return func(s *Story) { s.Asks(AskingForFlight()).Prompts(AskingForFlight()).Answers(result) }
}

// otherwiseAnswers is a later call of the client's, which it answers.
func (s *Story) OtherwiseAnswers() *Story {
	return s.Calls().Asks(AskingForFlight()).Answers(Booked())
}

const NotFulfilled = "it did not fulfil the input request"

const NoAnswer = "no result for sampling request 1: no response to request 1"

const NoContent = "the content of the result cannot be decoded"

// asks is a request of the client's that names a version as the newer era does; initializes one of the older.
func Asks(id int, method, version string) trace.Event {
	return SpokenBy(trace.FromClient, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q}}}`, id, method, version)
}

func SpokenBy(who trace.Direction, format string, args ...any) trace.Event {
	return trace.Event{Frame: &trace.Frame{Dir: who, Raw: fmt.Appendf(nil, format, args...)}}
}
