package tracetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// reversed sends the results in reverse.
func Reversed(results func([]server.ToolUseContent) []server.ToolResultContent) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		list := results(uses)
		slices.Reverse(list)
		return list
	}
}

// oneFails are results that are alike but for the last being an error.
func OneFails(uses []server.ToolUseContent) []server.ToolResultContent {
	results := story.Texts("station seven reports", "station eight reports", "station nine reports")(uses)
	results[len(results)-1].IsError = true
	return results
}

// shape is a result as the model sees it, less its id, the text that was sent, and what its tool use asked for, and in whatever order its
// members came. An id stands there also where the provider reads none, as old versions of Ollama do.
func Shape(given, sent, use *dialect.Block) string {
	raw := evidence.Decoded(given.Raw)
	if o, ok := raw.(map[string]any); ok {
		delete(o, "tool_call_id")
	}
	s := string(dialect.Marshal(raw))
	var input map[string]any
	_ = json.Unmarshal(use.Input, &input) // one that is no object asks for nothing
	words := []string{dialect.PlainText(sent.Content), given.ID, sent.ID}
	for _, value := range input {
		if text, ok := value.(string); ok {
			words = append(words, text)
		}
	}
	for _, word := range words {
		if word != "" {
			s = strings.ReplaceAll(s, word, "")
		}
	}
	return fmt.Sprint(s, given.IsError)
}

var BookFlight = server.Tool{Name: "book_flight", Description: "Books a flight, <direct> ones first", InputSchema: story.Object{
	"type": "object",
	"properties": story.Object{
		"from":      story.Object{"type": "string", "description": "city of departure", "minLength": 1},
		"to":        story.Object{"type": "string"},
		"class":     story.Object{"type": "string", "enum": []string{"economy", "business"}, "default": "economy"},
		"seats":     story.Object{"type": "array", "maxItems": 9, "items": story.Object{"type": "object", "properties": story.Object{"row": story.Object{"type": "integer", "minimum": 1}, "letter": story.Object{"type": "string", "pattern": "^[A-K]$"}}}},
		"passenger": story.Object{"$ref": "#/$defs/person"},
		"number":    story.Object{"type": "integer"},
		"notes":     story.Object{"anyOf": []any{story.Object{"type": "string"}, story.Object{"type": "array", "items": story.Object{"type": "string"}}}},
		"extras":    story.Object{"type": "object"},
	},
	"$defs":                story.Object{"person": story.Object{"type": "object", "properties": story.Object{"name": story.Object{"type": "string"}}, "required": []string{"name"}}},
	"required":             []string{"from", "to"},
	"additionalProperties": false,
}}

var ListAirports = server.Tool{Name: "list_airports", Description: "Lists airports", InputSchema: story.Object{"type": "object", "properties": story.Object{}}}

// booking is what the model wants: nested, with text of all kinds, an integer beyond 2^53, something empty, and something long.
var Booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],"number":9007199254740993,"extras":{},"notes":"` +
	strings.Repeat("No nuts, please. ", 500) + `"}`

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

var WeatherResults = Reversed(story.Texts("eighteen degrees", "fifteen degrees"))

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
	return Asking("Book a flight from Zürich to Tokyo.", BookFlight, ListAirports)
}

// booked is the tool use that the model wants, with other input where some is given.
func Booked(input ...string) string {
	return Wanting([3]string{"call_1", "book_flight", append(input, Booking)[0]})
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
