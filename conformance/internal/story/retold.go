package story

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Telling is another way to tell the story of a case: what it adds to each request of the handler.
type Telling struct {
	suffix string // of the case's ID
	amend  func(*server.CreateMessageParams)
}

// The tellings. A bug that shows only with tools, or only in a later round, shows in one of them.
var (
	// ToolsOffered offers tools, and has an earlier question and its answer before the story's.
	ToolsOffered = Telling{"-with-tools", func(p *server.CreateMessageParams) {
		p.Tools = append(p.Tools, GetWeather, readNote)
		p.Messages = append([]server.SamplingMessage{
			{Role: "user", Content: server.Text("Will you be brief?")},
			{Role: "assistant", Content: server.Text("As brief as I can.")}}, p.Messages...)
	}}
	// SecondRound is a second round: the model has used two tools, of which one returns the story's question, and one
	// fails.
	SecondRound = Telling{"-with-results", func(p *server.CreateMessageParams) {
		p.Tools = append(p.Tools, GetWeather, readNote)
		note := server.ToolUseContent{Type: "tool_use", ID: "call_note_1", Name: readNote.Name,
			Input: json.RawMessage(`{"page":7}`)}
		weather := server.ToolUseContent{Type: "tool_use", ID: "call_weather_2", Name: GetWeather.Name,
			Input: json.RawMessage(`{"city":"Oslo"}`)}
		failed := weather.Result(server.Text("The station does not respond."))
		failed.IsError = true
		asked := p.Messages[len(p.Messages)-1].Content
		p.Messages = append(slices.Clip(p.Messages[:len(p.Messages)-1]),
			server.SamplingMessage{Role: "user", Content: server.Text("Do what my note says, whatever the weather.")},
			server.SamplingMessage{Role: "assistant", Content: []any{note, weather}},
			server.SamplingMessage{Role: "user", Content: []any{note.Result(asked), failed}})
	}}
	// AfterImage has an image and an answer about it before the story's question.
	AfterImage = Telling{"-after-image", func(p *server.CreateMessageParams) {
		p.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Image("image/png", WeatherMap)},
			{Role: "assistant", Content: server.Text("I have seen the map.")}}, p.Messages...)
	}}
	// AfterFailure has [Failed] before the story's question.
	AfterFailure = Telling{"-after-failure", func(p *server.CreateMessageParams) {
		p.Messages = slices.Concat(Failed(), p.Messages)
		if !slices.ContainsFunc(p.Tools, func(t server.Tool) bool { return t.Name == GetWeather.Name }) {
			p.Tools = append(p.Tools, GetWeather)
		}
	}}
)

// Failed returns a conversation in which the model used [GetWeather] twice at once, and one of the uses failed.
func Failed() []server.SamplingMessage { return Messages(failed) }

// Messages reads messages from JSON. It panics if the text has none.
func Messages(text string) (messages []server.SamplingMessage) {
	if err := json.Unmarshal([]byte(text), &messages); err != nil {
		panic(err)
	}
	return messages
}

const failed = `[
	{"role":"user","content":{"type":"text","text":"Where is it cold?"}},
	{"role":"assistant","content":[
		{"type":"tool_use","id":"call_bern","name":"get_weather","input":{"city":"Bern"}},
		{"type":"tool_use","id":"call_oslo","name":"get_weather","input":{"city":"Oslo"}}]},
	{"role":"user","content":[
		{"type":"tool_result","toolUseId":"call_bern","content":[{"type":"text","text":"two degrees"}]},
		{"type":"tool_result","toolUseId":"call_oslo","isError":true,"content":[
			{"type":"text","text":"The station does not respond."}]}]},
	{"role":"assistant","content":{"type":"text","text":"It is cold in Bern."}}
]`

// Plain returns the ID of the case whose story a case tells in another way, or else its own.
func Plain(id string) string {
	for _, t := range []Telling{ToolsOffered, SecondRound, AfterFailure} {
		id = strings.TrimSuffix(id, t.suffix)
	}
	return id
}

var readNote = server.Tool{Name: "read_note", Description: "Reads a page of the user's notes", InputSchema: Object{
	"type": "object", "properties": Object{"page": Object{"type": "integer"}}, "required": []string{"page"}}}

// Retold adds the cases with these IDs again to their scenario, in the tellings: to the revisions with tools, and to
// every check that judges the case. An ID comes without its scenario.
func Retold(s check.Scenario, ids []string, tellings ...Telling) check.Scenario {
	s.Cases, s.Checks = slices.Clone(s.Cases), slices.Clone(s.Checks)
	for _, id := range ids {
		i := slices.IndexFunc(s.Cases, func(c harness.Case) bool { return c.ID == s.ID+"/"+id })
		for _, t := range tellings {
			s.Cases = append(s.Cases, t.of(s.Cases[i], s.Revisions))
			for k := range s.Checks {
				if c := &s.Checks[k]; slices.Contains(c.Cases, id) {
					c.Cases = append(slices.Clip(c.Cases), id+t.suffix)
				}
			}
		}
	}
	return s
}

// of returns the case in the telling, within the revisions of its scenario.
func (t Telling) of(c harness.Case, within []server.Revision) harness.Case {
	c.ID += t.suffix
	if c.Name != "" {
		c.Name += strings.ReplaceAll(t.suffix, "-", "_")
	}
	lacks := func(all []server.Revision) func(server.Revision) bool {
		return func(r server.Revision) bool { return all != nil && !slices.Contains(all, r) }
	}
	c.Revisions = slices.DeleteFunc(slices.DeleteFunc(slices.Clone(check.WithTools), lacks(c.Revisions)), lacks(within))
	c.Handler = t.handler(c.Handler)
	if makeStage := c.Make; makeStage != nil {
		c.Make = func(l harness.Limits) harness.Stage {
			stage := makeStage(l)
			stage.Handler = t.handler(stage.Handler)
			return stage
		}
	}
	return c
}

// Begin makes the requests that the session asks from now on those of the telling.
func (t Telling) Begin(s *server.Session) { s.Amend(t.amend) }

func (t Telling) handler(next server.Handler) server.Handler {
	if next == nil {
		return nil
	}
	return func(s *server.Session) (any, error) {
		t.Begin(s)
		if !s.Declares("sampling", "tools") {
			return s.Sample(s.Ask("Are you there?")) // is not sent, and the trace says why
		}
		return next(s)
	}
}
