package story

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Telling is another way to tell the story of a case: what it adds to each request of the handler.
type Telling struct {
	suffix string // of the case's ID
	amend  func(*server.CreateMessageParams)
	first  check.Need // of the checks that judge the case, before all others; or nil
}

// The tellings. A bug that shows only with tools, or only in a later round, shows in one of them.
var (
	// ToolsOffered offers tools, and has an earlier question and its answer before the story's.
	ToolsOffered = Telling{suffix: "-with-tools", amend: func(p *server.CreateMessageParams) {
		p.Tools = append(p.Tools, GetWeather, readNote)
		p.Messages = append([]server.SamplingMessage{
			{Role: "user", Content: server.Text("Will you be brief?")},
			{Role: "assistant", Content: server.Text("As brief as I can.")}}, p.Messages...)
	}}
	// SecondRound is a second round: the model has used two tools, of which one returns the story's question, and one
	// fails.
	SecondRound = Telling{suffix: "-with-results", amend: func(p *server.CreateMessageParams) {
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
	AfterImage = Telling{suffix: "-after-image", first: check.TakesImage, amend: func(p *server.CreateMessageParams) {
		p.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Image("image/png", WeatherMap)},
			{Role: "assistant", Content: server.Text("I have seen the map.")}}, p.Messages...)
	}}
	// AfterFailure has [Failed] before the story's question.
	AfterFailure = Telling{suffix: "-after-failure", amend: func(p *server.CreateMessageParams) {
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
	for _, t := range []Telling{ToolsOffered, SecondRound, AfterImage, AfterFailure} {
		id = strings.TrimSuffix(id, t.suffix)
	}
	return id
}

var readNote = server.Tool{Name: "read_note", Description: "Reads a page of the user's notes", InputSchema: Object{
	"type": "object", "properties": Object{"page": Object{"type": "integer"}}, "required": []string{"page"}}}

// Retelling names cases, and the tellings in which their stories are told again.
type Retelling struct {
	ids      []string
	tellings []Telling
}

// Again tells the stories of the cases with these IDs again. An ID comes without its scenario.
func Again(ids []string, tellings ...Telling) Retelling { return Retelling{ids, tellings} }

// Retold adds cases that tell stories of the scenario again: to the revisions with tools, and to every check of the
// story.
func Retold(s check.Scenario, all ...Retelling) check.Scenario {
	s.Cases, s.Checks = slices.Clone(s.Cases), slices.Clone(s.Checks)
	for _, again := range all {
		for _, id := range again.ids {
			for _, t := range again.tellings {
				t.tell(&s, id)
			}
		}
	}
	return s
}

// tell adds the case in the telling.
func (t Telling) tell(s *check.Scenario, id string) {
	i := slices.IndexFunc(s.Cases, func(c harness.Case) bool { return c.ID == s.ID+"/"+id })
	s.Cases = append(s.Cases, t.of(s.Cases[i], s.Revisions))
	for k := range s.Checks {
		c := &s.Checks[k]
		if !c.Judges(s.ID + "/" + id) {
			continue
		}
		if c.Cases != nil { // it does not judge all cases
			c.Cases = append(slices.Clip(c.Cases), id+t.suffix)
		}
		if t.first != nil {
			c.First = append(slices.Clip(c.First), onlyIn(s.ID+"/"+id+t.suffix, t.first))
		}
	}
}

// onlyIn returns a need of one case.
func onlyIn(id string, need check.Need) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		if e.Case.ID != id {
			return nil
		}
		return need(e)
	}
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

// BehindImage asks the first question of a call, behind an image and its answer. Later requests of the call have the
// image, too, unless the client refuses it, and the tellings besides. The error is one that ends the call.
func BehindImage(s *server.Session, besides ...Telling) error {
	s.Amend(AfterImage.amend)
	_, err := s.Sample(s.Ask("Are you there?"))
	switch {
	case err == nil:
		besides = append([]Telling{AfterImage}, besides...)
	case !server.Refused(err):
		return err
	}
	s.Amend(func(p *server.CreateMessageParams) {
		for _, t := range besides {
			t.amend(p)
		}
	})
	return nil
}

func (t Telling) handler(next server.Handler) server.Handler {
	if next == nil {
		return nil
	}
	return func(s *server.Session) (any, error) {
		s.Amend(t.amend)
		if ask := s.Ask("Are you there?"); len(ask.Tools) > 0 && !s.Declares("sampling", "tools") {
			return s.Sample(ask) // is not sent, and the trace says why
		}
		return next(s)
	}
}
