package conformance

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

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// story is a trace that is told by hand: one session with a client, in which one case is played.
type story struct {
	t         testing.TB
	catalogue Catalogue
	trace     *trace.Trace
	revision  server.Revision
	dialect   string
	caseID    string
	call      int // how often the tool was called
	samples   int // of this call
	asked     int // requests of the server, over all calls
	models    int64
	seq       map[string]int64
	ended     bool
	declares  string        // the capabilities that the client declares
	passed    time.Duration // beyond a millisecond for each event
}

// everything is what a client declares that can do all that it is asked for.
const everything = `{"sampling":{"tools":{}}}`

const sessionID = "session-1"

// begin is a client that connects and calls the case's tool.
func begin(t testing.TB, catalogue Catalogue, revision server.Revision, dialect, caseID string) *story {
	return beginDeclaring(t, catalogue, revision, dialect, caseID, everything)
}

// beginDeclaring is begin for a client that declares something else.
func beginDeclaring(t testing.TB, catalogue Catalogue, revision server.Revision, dialect, caseID, capabilities string) *story {
	s := unconnected(t, catalogue, revision, dialect, caseID)
	s.declares = capabilities
	s.connects()
	s.calls()
	return s
}

// unconnected is a client that was started.
func unconnected(t testing.TB, catalogue Catalogue, revision server.Revision, dialect, caseID string) *story {
	c := harness.Case{ID: caseID}
	s := &story{t: t, catalogue: catalogue, revision: revision, dialect: dialect, caseID: caseID, declares: everything, seq: map[string]int64{}, trace: &trace.Trace{Whole: true, Header: trace.Header{
		Tool: "test", Client: "told by hand", Revision: string(revision), Seed: 1, Timeout: time.Minute,
		Cases: []trace.Case{{ID: caseID, Tool: c.Tool(), Mark: c.Mark()}}}}}
	s.add("", trace.Event{Process: &trace.Process{State: trace.Started}})
	return s
}

// add appends an event, one millisecond after the last.
func (s *story) add(caseID string, e trace.Event) {
	s.seq[caseID]++
	e.Case, e.Seq, e.At = caseID, s.seq[caseID], s.passed+time.Duration(len(s.trace.Events))*time.Millisecond
	s.trace.Events = append(s.trace.Events, e)
}

// frame adds a message of the wire; status 0 is a request of the client's, or an event on a stream that is open.
func (s *story) frame(caseID string, dir trace.Direction, status int, raw string) {
	f := &trace.Frame{Dir: dir, Raw: trace.Bytes(raw)}
	if !s.revision.Modern() {
		f.Session = sessionID
	}
	switch {
	case status != 0:
		f.HTTP = &trace.HTTP{Status: status}
	case dir == trace.FromClient:
		f.HTTP = &trace.HTTP{Method: "POST", Header: s.header(raw)}
	}
	call := 0
	if caseID != "" {
		call = s.call
	}
	s.add(caseID, trace.Event{Call: call, Frame: f})
}

// header is what a right client sends beside a message.
func (s *story) header(raw string) map[string]string {
	header := map[string]string{"Mcp-Protocol-Version": string(s.revision)}
	m := readRPC([]byte(raw))
	if s.revision.Modern() && m.method != "" {
		header["Mcp-Method"] = m.method
		var params struct{ Name string }
		if json.Unmarshal(m.params, &params) == nil && params.Name != "" {
			header["Mcp-Name"] = params.Name
		}
	}
	return header
}

// meta are the first members of a request's params: in the second era, what a right client says of itself.
func (s *story) meta() string {
	if !s.revision.Modern() {
		return ""
	}
	return fmt.Sprintf(`"_meta":{%q:%q,%q:{"name":"told","version":"1"},%q:%s},`, metaVersion, s.revision, metaInfo, metaCapabilities, s.declares)
}

func (s *story) connects() {
	if s.revision.Modern() {
		s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+strings.TrimSuffix(s.meta(), ",")+`}}`)
		s.frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
		return
	}
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+string(s.revision)+`","capabilities":`+s.declares+`}}`)
	s.trace.Events[len(s.trace.Events)-1].Frame.Session = "" // there is none yet
	s.frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"`+string(s.revision)+`"}}`)
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// calls is the client's call of the case's tool.
func (s *story) calls() *story {
	s.call++
	s.samples = 0
	s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+s.meta()+`"name":"x","arguments":{}}}`)
	return s
}

// onPurpose makes what was asked last one that the server must not ask.
func (s *story) onPurpose() *story {
	s.trace.Events[len(s.trace.Events)-1].Frame.Hostile = true
	return s
}

// passesBarrier is the call of the barrier, and the answer to its sample, or, where none may be asked, the end of its play.
func (s *story) passesBarrier() *story {
	before, call := s.caseID, s.call
	s.caseID, s.call = harness.BarrierID, 0
	s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.calls()
	if strings.Contains(s.declares, "sampling") {
		s.asks(asking("Are you still there?")).answers(saying("Yes."))
	} else {
		s.marks(trace.MarkWithheld, "sampling").marks(trace.MarkHandlerEnded, "")
	}
	s.caseID, s.call = before, call
	return s
}

func (s *story) marks(name, text string) *story {
	s.add(s.caseID, trace.Event{Call: s.call, Mark: &trace.Mark{Name: name, Text: text}})
	return s
}

// key is the input key of the latest sample, id its request id.
func (s *story) key() string { return fmt.Sprintf("x-%d", s.samples) }
func (s *story) id() string  { return fmt.Sprint(1000 + s.asked) }

// asks is a sampling request of the server's.
func (s *story) asks(params any) *story {
	s.samples++
	s.asked++
	raw := dialect.Marshal(params)
	if s.revision.Modern() {
		s.frame(s.caseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s","inputRequests":{%q:{"method":"sampling/createMessage","params":%s}}}}`, s.key(), raw))
	} else {
		s.frame(s.caseID, trace.ToClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":%s}`, s.id(), raw))
	}
	return s
}

// answers is the client's answer with a result.
func (s *story) answers(result string) *story {
	if s.revision.Modern() {
		s.frame(s.caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{%s"name":"x","requestState":"s","inputResponses":{%q:%s}}}`, s.meta(), s.key(), result))
	} else {
		s.responds(s.id(), `"result":`+result)
	}
	return s
}

// refuses is the client's error, which the second era has no word for.
func (s *story) refuses(code int, message string) *story {
	if !s.revision.Modern() {
		s.responds(s.id(), fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message))
	}
	return s
}

// responds is a response as it is written.
func (s *story) responds(id, rest string) *story {
	s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
	return s
}

// prompts is the client's request of the model for what the params say, and the model's answer to it.
func (s *story) prompts(p *server.CreateMessageParams) *story {
	if s.dialect == dialect.Native {
		return s.prompt(string(dialect.Marshal(p)), trace.ModelEnd{Status: 200})
	}
	return s.prompt(string(dialect.Marshal(asChat(p))), trace.ModelEnd{Status: 200})
}

// prompt is a request of the model as it is written, and how it ended.
func (s *story) prompt(body string, end trace.ModelEnd) *story {
	path := map[string]string{
		dialect.Native: "/native", dialect.OpenAIChat: "/v1/chat/completions", dialect.Gemini: "/v1beta/models/gemini-2.5-flash:generateContent",
	}[s.dialect]
	s.models++
	s.add(s.caseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.models, Dialect: s.dialect, Method: "POST", Path: path, Body: trace.Bytes(body)}})
	end.Exchange = s.models
	s.add(s.caseID, trace.Event{End: &end})
	return s
}

// ends is how the client ended. A story that does not say ends well.
func (s *story) ends(p trace.Process) *story {
	if !s.ended {
		p.State = trace.Ended
		s.add("", trace.Event{Process: &p})
		s.ended = true
	}
	return s
}

// judged judges the story, and on the way that judging is a pure function of it, before and after it was in a file.
func (s *story) judged() *report.Results {
	s.ends(trace.Process{})
	rs, err := judgeTraces(s.catalogue, []*trace.Trace{s.trace}, nil)
	require.NoError(s.t, err)
	again, err := judgeTraces(s.catalogue, []*trace.Trace{s.trace}, nil)
	require.NoError(s.t, err)
	require.Equal(s.t, string(report.JSON(rs)), string(report.JSON(again)), "judging has no memory")
	var file bytes.Buffer
	require.NoError(s.t, s.trace.Write(&file))
	read, err := trace.Read(&file)
	require.NoError(s.t, err)
	again, err = judgeTraces(s.catalogue, []*trace.Trace{read}, nil)
	require.NoError(s.t, err)
	require.Equal(s.t, string(report.JSON(rs)), string(report.JSON(again)), "a file holds all that there is to judge")
	return rs
}

// result is what a check says of the story.
func (s *story) result(id string) *report.Result {
	rs := s.judged()
	i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == id })
	require.GreaterOrEqual(s.t, i, 0, "%s is not judged in %s", id, s.revision)
	return &rs.Results[i]
}

// telling is one story, told in each era and dialect, and what a check is to say of it.
type telling struct {
	name, check string
	// caseID is the case that is played, without the scenario.
	caseID  string
	tell    func(*story)
	verdict report.Verdict
	message string
	// declares are the capabilities that the client declares, "" for everything; told is what it was told to.
	declares, told string
	// in are the revisions in which it is told, and dialects how the model is asked; nil for all.
	in       []server.Revision
	dialects []string
}

var (
	inA      = []server.Revision{server.V20251125}
	inB      = []server.Revision{server.V20260728}
	openAI   = []string{dialect.OpenAIChat}
	inOld    = []server.Revision{server.V20250326, server.V20250618}
	native   = []string{dialect.Native}
	bothEras = []server.Revision{server.V20251125, server.V20260728}
)

// hold tells the stories and holds what is said of them against what is to be said.
func hold(t *testing.T, catalogue Catalogue, tellings []telling) {
	for _, c := range tellings {
		revisions, dialects := c.in, c.dialects
		if revisions == nil {
			revisions = bothEras
		}
		if dialects == nil {
			dialects = []string{dialect.OpenAIChat, dialect.Native}
		}
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			for _, revision := range revisions {
				for _, d := range dialects {
					scenario, _, _ := strings.Cut(c.check, "/")
					s := beginDeclaring(t, catalogue, revision, d, scenario+"/"+c.caseID, cmp.Or(c.declares, everything))
					s.trace.Header.Declare = json.RawMessage(c.told)
					c.tell(s)
					got := s.result(c.check)
					require.Equal(t, c.message, got.Message, "%s, %s", revision, d)
					require.Equal(t, c.verdict, got.Verdict, "%s, %s: %s", revision, d, got.Message)
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
func asking(question string, tools ...server.Tool) *server.CreateMessageParams {
	return &server.CreateMessageParams{MaxTokens: 1000, Tools: tools, SystemPrompt: "You are a helpful assistant.",
		Messages: []server.SamplingMessage{{Role: "user", Content: server.Text(question)}}}
}

// saying is a result with one text.
func saying(text string) string {
	return string(dialect.Marshal(object{"role": "assistant", "model": "gpt-4o", "stopReason": "endTurn", "content": server.Text(text)}))
}

// wanting is a result with tool uses, each given as id, name and input.
func wanting(uses ...[3]string) string {
	blocks := []any{}
	for _, use := range uses {
		blocks = append(blocks, server.ToolUseContent{Type: "tool_use", ID: use[0], Name: use[1], Input: json.RawMessage(use[2])})
	}
	return string(dialect.Marshal(object{"role": "assistant", "model": "gpt-4o", "stopReason": "toolUse", "content": blocks}))
}

// without is a JSON object less a member; with is one with a member as it is written.
func without(raw, name string) string { return with(raw, name, "") }

func with(raw, name, value string) string {
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
