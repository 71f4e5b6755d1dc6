package tracetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// story is a trace that is told by hand: one session with a client, in which one case is played.
type Story struct {
	T         testing.TB
	catalogue check.Catalogue
	Trace     *trace.Trace
	Revision  server.Revision
	Dialect   string
	CaseID    string
	Call      int // how often the tool was called
	Samples   int // of this call
	Asked     int // requests of the server, over all calls
	Models    int64
	Seq       map[string]int64
	Ended     bool
	Declares  string        // the capabilities that the client declares
	Passed    time.Duration // beyond a millisecond for each event
}

// everything is what a client declares that can do all that it is asked for.
const Everything = `{"sampling":{"tools":{}}}`

const SessionID = "session-1"

// begin is a client that connects and calls the case's tool.
func Begin(t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID string) *Story {
	return BeginDeclaring(t, catalogue, revision, dialect, caseID, Everything)
}

// beginDeclaring is begin for a client that declares something else.
func BeginDeclaring(t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID, capabilities string) *Story {
	s := Unconnected(t, catalogue, revision, dialect, caseID)
	s.Declares = capabilities
	s.Connects()
	s.Calls()
	return s
}

// unconnected is a client that was started.
func Unconnected(t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID string) *Story {
	c := harness.Case{ID: caseID}
	s := &Story{T: t, catalogue: catalogue, Revision: revision, Dialect: dialect, CaseID: caseID, Declares: Everything, Seq: map[string]int64{}, Trace: &trace.Trace{Whole: true, Header: trace.Header{
		Tool: "test", Client: "told by hand", Revision: string(revision), Seed: 1, Timeout: time.Minute,
		Cases: []trace.Case{{ID: caseID, Tool: c.Tool(), Mark: c.Mark()}}}}}
	s.Add("", trace.Event{Process: &trace.Process{State: trace.Started}})
	return s
}

// add appends an event, one millisecond after the last.
func (s *Story) Add(caseID string, e trace.Event) {
	s.Seq[caseID]++
	e.Case, e.Seq, e.At = caseID, s.Seq[caseID], s.Passed+time.Duration(len(s.Trace.Events))*time.Millisecond
	s.Trace.Events = append(s.Trace.Events, e)
}

// frame adds a message of the wire; status 0 is a request of the client's, or an event on a stream that is open.
func (s *Story) Frame(caseID string, dir trace.Direction, status int, raw string) {
	f := &trace.Frame{Dir: dir, Raw: trace.Bytes(raw)}
	if !s.Revision.Modern() {
		f.Session = SessionID
	}
	switch {
	case status != 0:
		f.HTTP = &trace.HTTP{Status: status}
	case dir == trace.FromClient:
		f.HTTP = &trace.HTTP{Method: "POST", Header: s.header(raw)}
	}
	call := 0
	if caseID != "" {
		call = s.Call
	}
	s.Add(caseID, trace.Event{Call: call, Frame: f})
}

// header is what a right client sends beside a message.
func (s *Story) header(raw string) map[string]string {
	header := map[string]string{"Mcp-Protocol-Version": string(s.Revision)}
	m := evidence.ReadMessage([]byte(raw))
	if s.Revision.Modern() && m.Method != "" {
		header["Mcp-Method"] = m.Method
		var params struct{ Name string }
		if json.Unmarshal(m.Params, &params) == nil && params.Name != "" {
			header["Mcp-Name"] = params.Name
		}
	}
	return header
}

// meta are the first members of a request's params: in the second era, what a right client says of itself.
func (s *Story) Meta() string {
	if !s.Revision.Modern() {
		return ""
	}
	return fmt.Sprintf(`"_meta":{%q:%q,%q:{"name":"told","version":"1"},%q:%s},`, evidence.MetaVersion, s.Revision, evidence.MetaInfo, evidence.MetaCapabilities, s.Declares)
}

func (s *Story) Connects() {
	if s.Revision.Modern() {
		s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+strings.TrimSuffix(s.Meta(), ",")+`}}`)
		s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
		return
	}
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+string(s.Revision)+`","capabilities":`+s.Declares+`}}`)
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = "" // there is none yet
	s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"`+string(s.Revision)+`"}}`)
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// calls is the client's call of the case's tool.
func (s *Story) Calls() *Story {
	s.Call++
	s.Samples = 0
	s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+s.Meta()+`"name":"x","arguments":{}}}`)
	return s
}

// onPurpose makes what was asked last one that the server must not ask.
func (s *Story) OnPurpose() *Story {
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Hostile = true
	return s
}

// passesBarrier is the call of the barrier, and the answer to its sample, or, where none may be asked, the end of its play.
func (s *Story) PassesBarrier() *Story {
	before, call := s.CaseID, s.Call
	s.CaseID, s.Call = harness.BarrierID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.Calls()
	if strings.Contains(s.Declares, "sampling") {
		s.Asks(Asking("Are you still there?")).Answers(Saying("Yes."))
	} else {
		s.Marks(trace.MarkWithheld, "sampling").Marks(trace.MarkHandlerEnded, "")
	}
	s.CaseID, s.Call = before, call
	return s
}

func (s *Story) Marks(name, text string) *Story {
	s.Add(s.CaseID, trace.Event{Call: s.Call, Mark: &trace.Mark{Name: name, Text: text}})
	return s
}

// key is the input key of the latest sample, id its request id.
func (s *Story) key() string { return fmt.Sprintf("x-%d", s.Samples) }
func (s *Story) ID() string  { return fmt.Sprint(1000 + s.Asked) }

// asks is a sampling request of the server's.
func (s *Story) Asks(params any) *Story {
	s.Samples++
	s.Asked++
	raw := dialect.Marshal(params)
	if s.Revision.Modern() {
		s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s","inputRequests":{%q:{"method":"sampling/createMessage","params":%s}}}}`, s.key(), raw))
	} else {
		s.Frame(s.CaseID, trace.ToClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":%s}`, s.ID(), raw))
	}
	return s
}

// answers is the client's answer with a result.
func (s *Story) Answers(result string) *Story {
	if s.Revision.Modern() {
		s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{%s"name":"x","requestState":"s","inputResponses":{%q:%s}}}`, s.Meta(), s.key(), result))
	} else {
		s.Responds(s.ID(), `"result":`+result)
	}
	return s
}

// refuses is the client's error, which the second era has no word for.
func (s *Story) Refuses(code int, message string) *Story {
	if !s.Revision.Modern() {
		s.Responds(s.ID(), fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message))
	}
	return s
}

// responds is a response as it is written.
func (s *Story) Responds(id, rest string) *Story {
	s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
	return s
}

// prompts is the client's request of the model for what the params say, and the model's answer to it.
func (s *Story) Prompts(p *server.CreateMessageParams) *Story {
	if s.Dialect == dialect.Native {
		return s.Prompt(string(dialect.Marshal(p)), trace.ModelEnd{Status: 200})
	}
	return s.Prompt(string(dialect.Marshal(AsChat(p))), trace.ModelEnd{Status: 200})
}

// prompt is a request of the model as it is written, and how it ended.
func (s *Story) Prompt(body string, end trace.ModelEnd) *Story {
	path := map[string]string{
		dialect.Native: "/native", dialect.OpenAIChat: "/v1/chat/completions", dialect.Gemini: "/v1beta/models/gemini-2.5-flash:generateContent",
	}[s.Dialect]
	s.Models++
	s.Add(s.CaseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.Models, Dialect: s.Dialect, Method: "POST", Path: path, Body: trace.Bytes(body)}})
	end.Exchange = s.Models
	s.Add(s.CaseID, trace.Event{End: &end})
	return s
}

// ends is how the client ended. A story that does not say ends well.
func (s *Story) Ends(p trace.Process) *Story {
	if !s.Ended {
		p.State = trace.Ended
		s.Add("", trace.Event{Process: &p})
		s.Ended = true
	}
	return s
}

// judged judges the story, and on the way that judging is a pure function of it, before and after it was in a file.
func (s *Story) Judged() *report.Results {
	s.Ends(trace.Process{})
	rs, err := judge.Traces(s.catalogue, []*trace.Trace{s.Trace}, nil)
	require.NoError(s.T, err)
	again, err := judge.Traces(s.catalogue, []*trace.Trace{s.Trace}, nil)
	require.NoError(s.T, err)
	require.Equal(s.T, string(report.JSON(rs)), string(report.JSON(again)), "judging has no memory")
	var file bytes.Buffer
	require.NoError(s.T, s.Trace.Write(&file))
	read, err := trace.Read(&file)
	require.NoError(s.T, err)
	again, err = judge.Traces(s.catalogue, []*trace.Trace{read}, nil)
	require.NoError(s.T, err)
	require.Equal(s.T, string(report.JSON(rs)), string(report.JSON(again)), "a file holds all that there is to judge")
	return rs
}

// result is what a check says of the story.
func (s *Story) Result(id string) *report.Result {
	rs := s.Judged()
	i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == id })
	require.GreaterOrEqual(s.T, i, 0, "%s is not judged in %s", id, s.Revision)
	return &rs.Results[i]
}

// Test is one story and the verdict that a check must give. It runs in each revision and dialect.
type Test struct {
	Name, Check string
	// CaseID is the case that the story is about, without the scenario.
	CaseID  string
	Steps   func(*Story)
	Verdict report.Verdict
	// Message is the part of the verdict's message that matters: the values.
	Message string
	// Declares are the capabilities that the client declares, "" for all; HarnessDeclares those that the harness asked it to declare.
	Declares, HarnessDeclares string
	// In are the revisions, nil for the newest of both eras; Dialects how the model is asked, nil for openai-chat and native.
	In       []server.Revision
	Dialects []string
}

var (
	InA      = []server.Revision{server.V20251125}
	InB      = []server.Revision{server.V20260728}
	OpenAI   = []string{dialect.OpenAIChat}
	InOld    = []server.Revision{server.V20250326, server.V20250618}
	Native   = []string{dialect.Native}
	BothEras = []server.Revision{server.V20251125, server.V20260728}
)

// Run runs the tests, each as a subtest. A check that fails must show evidence, a cause and a fix.
func Run(t *testing.T, catalogue check.Catalogue, tests []Test) {
	for _, c := range tests {
		revisions, dialects := c.In, c.Dialects
		if revisions == nil {
			revisions = BothEras
		}
		if dialects == nil {
			dialects = []string{dialect.OpenAIChat, dialect.Native}
		}
		t.Run(c.Check+": "+c.Name, func(t *testing.T) {
			for _, revision := range revisions {
				for _, d := range dialects {
					scenario, _, _ := strings.Cut(c.Check, "/")
					s := BeginDeclaring(t, catalogue, revision, d, scenario+"/"+c.CaseID, cmp.Or(c.Declares, Everything))
					s.Trace.Header.Declare = json.RawMessage(c.HarnessDeclares)
					c.Steps(s)
					got := s.Result(c.Check)
					require.Contains(t, got.Message, c.Message, "%s, %s", revision, d)
					require.Equal(t, c.Verdict, got.Verdict, "%s, %s: %s", revision, d, got.Message)
					require.NotNil(t, got.Evidence)
					if got.Verdict == report.Fail || got.Verdict == report.Warn {
						require.NotEmpty(t, got.Evidence, "a client is convicted by evidence")
						require.NotEmpty(t, got.Cause)
						require.NotEmpty(t, got.Fix)
					}
				}
			}
		})
	}
}

// asking is a sampling request with one question.
func Asking(question string, tools ...server.Tool) *server.CreateMessageParams {
	return &server.CreateMessageParams{MaxTokens: 1000, Tools: tools, SystemPrompt: "You are a helpful assistant.",
		Messages: []server.SamplingMessage{{Role: "user", Content: server.Text(question)}}}
}

// saying is a result with one text.
func Saying(text string) string {
	return string(dialect.Marshal(story.Object{"role": "assistant", "model": "gpt-4o", "stopReason": "endTurn", "content": server.Text(text)}))
}

// wanting is a result with tool uses, each given as id, name and input.
func Wanting(uses ...[3]string) string {
	blocks := []any{}
	for _, use := range uses {
		blocks = append(blocks, server.ToolUseContent{Type: "tool_use", ID: use[0], Name: use[1], Input: json.RawMessage(use[2])})
	}
	return string(dialect.Marshal(story.Object{"role": "assistant", "model": "gpt-4o", "stopReason": "toolUse", "content": blocks}))
}

// without is a JSON object less a member; with is one with a member as it is written.
func Without(raw, name string) string { return With(raw, name, "") }

func With(raw, name, value string) string {
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		panic(err)
	}
	delete(o, name)
	if value != "" {
		o[name] = json.RawMessage(value)
	}
	return string(dialect.Marshal(o))
}
