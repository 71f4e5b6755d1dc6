package declare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Declarations of clients that can do less.
const (
	noneAtAll = `{}`
)

// forced is the same for what the server must not ask.
func forced(p *server.CreateMessageParams, result string) func(*tracetest.Story) {
	return func(s *tracetest.Story) { s.Asks(p).OnPurpose().Prompts(p).Answers(result) }
}

// ignored is asked for, and nothing comes.
func ignored(p *server.CreateMessageParams) func(*tracetest.Story) {
	return func(s *tracetest.Story) { s.Asks(p).OnPurpose() }
}

func weatherWanted() string {
	return tracetest.Wanting([3]string{"call_1", "get_weather", `{"city":"Paris"}`})
}

func TestWhatIsDeclared(t *testing.T) {
	plain, tools := tracetest.Asking("Which river?"), tracetest.Asking("What is the weather?", story.GetWeather)
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "and answered", Check: "declare/sampling-declared", CaseID: "sampling", Steps: tracetest.Asked(plain, tracetest.Saying("The Seine.")), In: tracetest.InA,
			Verdict: report.Pass, Message: "the client declares sampling, and answers it"},
		{Name: "with every request", Check: "declare/sampling-declared", CaseID: "sampling", Steps: tracetest.Asked(plain, tracetest.Saying("The Seine.")), In: tracetest.InB,
			Verdict: report.Pass, Message: "the client declares sampling with every request"},
		{Name: "and not answered", Check: "declare/sampling-declared", CaseID: "sampling", Steps: func(s *tracetest.Story) { s.Asks(plain) },
			Verdict: report.Pass, Message: "the client declares sampling"},
		{Name: "as true, which is something", Check: "declare/sampling-declared", CaseID: "sampling", Steps: tracetest.Asked(plain, tracetest.Saying("The Seine.")), Declares: `{"sampling":true}`, In: tracetest.InA,
			Verdict: report.Pass, Message: "the client declares sampling, and answers it"},
		{Name: "not, and answered", Check: "declare/sampling-declared", CaseID: "sampling", Steps: forced(plain, tracetest.Saying("The Seine.")), Declares: noneAtAll,
			Verdict: report.Fail, Message: "the client answers sampling and does not declare it"},
		{Name: "as null, and answered", Check: "declare/sampling-declared", CaseID: "sampling", Steps: forced(plain, tracetest.Saying("The Seine.")), Declares: `{"sampling":null}`,
			Verdict: report.Fail, Message: "the client answers sampling and does not declare it"},
		{Name: "not, and refused", Check: "declare/sampling-declared", CaseID: "sampling", Declares: noneAtAll,
			Steps:   func(s *tracetest.Story) { s.Asks(plain).OnPurpose().Refuses(-32601, "no") },
			Verdict: report.NotApplicable, Message: "the client neither declares sampling nor answers it"},
		{Name: "not with the retry", Check: "declare/sampling-declared", CaseID: "sampling", In: tracetest.InB, Verdict: report.Fail,
			Message: "the client answers sampling and does not declare it with every tools/call", Steps: func(s *tracetest.Story) {
				s.Asks(plain).Prompts(plain)
				s.Declares = noneAtAll
				s.Answers(tracetest.Saying("The Seine."))
			}},
		{Name: "not with the list of tools", Check: "declare/sampling-declared", CaseID: "sampling", In: tracetest.InB, Verdict: report.Warn, Declares: noneAtAll,
			Message: "the client declares sampling with the requests that need it, and not with tools/list", Steps: func(s *tracetest.Story) {
				s.Trace.Events = s.Trace.Events[:len(s.Trace.Events)-1] // the call
				s.Declares, s.Call, s.Seq[s.CaseID] = tracetest.Everything, 0, 0
				tracetest.Asked(plain, tracetest.Saying("The Seine."))(s.Calls())
			}},

		{Name: "tools", Check: "declare/tools-declared", CaseID: "tools", Steps: tracetest.Asked(tools, weatherWanted()),
			Verdict: report.Pass, Message: "the client declares sampling.tools"},
		{Name: "no tools, and they are used", Check: "declare/tools-declared", CaseID: "tools", Steps: forced(tools, weatherWanted()), Declares: tracetest.SamplingOnly,
			Verdict: report.Fail, Message: "the client answers with tool use and does not declare sampling.tools"},
		{Name: "no tools, and they are dropped", Check: "declare/tools-declared", CaseID: "tools", Steps: forced(tools, tracetest.Saying("Sunny.")), Declares: tracetest.SamplingOnly,
			Verdict: report.NotApplicable, Message: "the client neither declares sampling.tools nor answers with tool use"},
		{Name: "nothing, and tools are used", Check: "declare/tools-declared", CaseID: "tools", Steps: forced(tools, weatherWanted()), Declares: noneAtAll,
			Verdict: report.NotApplicable, Message: "the client declares no sampling at all (see declare/sampling-declared)"},

		{Name: "and served", Check: "declare/over-declared", CaseID: "sampling", Steps: tracetest.Asked(plain, tracetest.Saying("The Seine.")),
			Verdict: report.Pass, Message: "the client declares sampling, and serves it"},
		{Name: "tools, and served", Check: "declare/over-declared", CaseID: "tools", Steps: tracetest.Asked(tools, weatherWanted()),
			Verdict: report.Pass, Message: "the client declares sampling.tools, and serves it"},
		{Name: "tools, and the model talks", Check: "declare/over-declared", CaseID: "tools", Steps: tracetest.Asked(tools, tracetest.Saying("Sunny.")),
			Verdict: report.Pass, Message: "the client declares sampling.tools, and serves it"},
		{Name: "and never answered", Check: "declare/over-declared", CaseID: "sampling", Steps: func(s *tracetest.Story) { s.Asks(plain) },
			Verdict: report.Fail, Message: "the client declares sampling and never answered when it was asked for it"},
		{Name: "tools, and refused", Check: "declare/over-declared", CaseID: "tools", In: tracetest.InA, Steps: func(s *tracetest.Story) { s.Asks(tools).Refuses(-32603, "no tools") },
			Verdict: report.Fail, Message: `the client declares sampling.tools and answers with an error when it is asked for it: request 1 was answered by the error "no tools" (code -32603)`},
		{Name: "not", Check: "declare/over-declared", CaseID: "tools", Steps: ignored(tools), Declares: tracetest.SamplingOnly,
			Verdict: report.NotApplicable, Message: "the client does not declare sampling.tools"},
	})
}

func TestTheShapeOfWhatIsDeclared(t *testing.T) {
	var tellings []tracetest.Test
	for _, c := range []struct{ name, declares, wrong string }{
		{"objects", tracetest.Everything, ""},
		{"an object with more in it", `{"sampling":{"tools":{"parallel":true},"context":{}},"roots":{"listChanged":true}}`, ""},
		{"nothing", noneAtAll, ""},
		{"other capabilities, in whatever shape", `{"elicitation":true}`, ""},
		{"true", `{"sampling":true}`, "capabilities.sampling is true, where an object is due"},
		{"null", `{"sampling":null}`, "capabilities.sampling is null, where an object is due"},
		{"a word", `{"sampling":{"tools":"yes"}}`, `capabilities.sampling.tools is "yes", where an object is due`},
		{"an array", `{"sampling":{"context":[]}}`, "capabilities.sampling.context is [], where an object is due"},
		{"no object at all", `[]`, "capabilities is [], where an object is due"},
	} {
		one := tracetest.Test{Name: c.name, Check: "declare/shape", CaseID: "sampling", Declares: c.declares, Steps: func(*tracetest.Story) {}, Verdict: report.Pass, Message: "what is declared are objects"}
		if c.wrong != "" {
			one.Verdict, one.Message = report.Fail, c.wrong
		}
		tellings = append(tellings, one)
	}
	tracetest.Run(t, catalogue, tellings)
}

func TestWhatRequestsSayOfTheClient(t *testing.T) {
	says := func(meta string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"prompts/list","params":{"_meta":{`+meta+`}}}`)
		}
	}
	version, capabilities, info := `"`+evidence.MetaVersion+`":"2026-07-28"`, `"`+evidence.MetaCapabilities+`":{}`, `"`+evidence.MetaInfo+`":{"name":"c","version":"1"}`
	// header changes a header of the call.
	header := func(name, value string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			h := s.Trace.Events[len(s.Trace.Events)-1].Frame.HTTP.Header
			delete(h, name)
			if value != "" {
				h[name] = value
			}
		}
	}
	nothing := func(*tracetest.Story) {}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "all", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Steps: nothing, Verdict: report.Pass, Message: "every request says both"},
		{Name: "no version", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Steps: says(capabilities), Verdict: report.Fail,
			Message: "a prompts/list has no string " + evidence.MetaVersion + " in its _meta"},
		{Name: "a version that is a number", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Steps: says(`"` + evidence.MetaVersion + `":20260728,` + capabilities), Verdict: report.Fail,
			Message: "a prompts/list has no string " + evidence.MetaVersion + " in its _meta"},
		{Name: "no capabilities", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Steps: says(version), Verdict: report.Fail,
			Message: "a prompts/list has no object " + evidence.MetaCapabilities + " in its _meta"},
		{Name: "notifications say nothing", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Verdict: report.Pass, Message: "every request says both",
			Steps: func(s *tracetest.Story) {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
			}},
		{Name: "an older revision is tried first", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Verdict: report.Pass, Message: "every request says both",
			Steps: func(s *tracetest.Story) {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
			}},
		{Name: "refused for it from the first", Check: "declare/meta-fields", CaseID: "sampling", In: tracetest.InB, Verdict: report.Fail,
			Message: "a tools/list has no string " + evidence.MetaVersion + " in its _meta", Steps: func(s *tracetest.Story) {
				s.Trace.Events = s.Trace.Events[:1] // it was started
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"_meta"}}`)
			}},

		{Name: "its name", Check: "declare/client-info", CaseID: "sampling", In: tracetest.InB, Steps: nothing, Verdict: report.Pass, Message: "every request says which client it is from"},
		{Name: "no name", Check: "declare/client-info", CaseID: "sampling", In: tracetest.InB, Steps: says(version + "," + capabilities), Verdict: report.Warn,
			Message: "a prompts/list does not say in its _meta which client it is from"},
		{Name: "its name, and no version", Check: "declare/client-info", CaseID: "sampling", In: tracetest.InB, Steps: says(version + "," + capabilities + `,"` + evidence.MetaInfo + `":{"name":"c"}`), Verdict: report.Warn,
			Message: "a prompts/list does not say in its _meta which client it is from"},

		{Name: "in headers", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: nothing, Verdict: report.Pass, Message: "the headers of every request say what its body says"},
		{Name: "in headers, the name encoded", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Name", "=?base64?eA==?="), Verdict: report.Pass,
			Message: "the headers of every request say what its body says"},
		{Name: "of a method without a name", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: says(version + "," + capabilities + "," + info), Verdict: report.Pass,
			Message: "the headers of every request say what its body says"},
		{Name: "another version", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Protocol-Version", "2025-11-25"), Verdict: report.Fail,
			Message: `the header Mcp-Protocol-Version of a tools/call is "2025-11-25", where the body has "2026-07-28"`},
		{Name: "no method", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Method", ""), Verdict: report.Fail,
			Message: "the header Mcp-Method of a tools/call is missing"},
		{Name: "another method", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Method", "TOOLS/CALL"), Verdict: report.Fail,
			Message: `the header Mcp-Method of a tools/call is "TOOLS/CALL", where the body has "tools/call"`},
		{Name: "another name, encoded", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Name", "=?base64?eHg=?="), Verdict: report.Fail,
			Message: `the header Mcp-Name of a tools/call is "xx", where the body has "x"`},
		{Name: "a name that is no base64", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Steps: header("Mcp-Name", "=?base64?%%?="), Verdict: report.Fail,
			Message: "the header Mcp-Name of a tools/call has the form =?base64?…?= and holds no base64"},
		{Name: "on a transport without headers", Check: "declare/http-headers", CaseID: "sampling", In: tracetest.InB, Verdict: report.NotApplicable, Message: "the transport has no headers",
			Steps: func(s *tracetest.Story) {
				for _, e := range s.Trace.Events {
					if e.Frame != nil && e.Frame.Dir == trace.FromClient {
						e.Frame.HTTP = nil
					}
				}
			}},
	})
}

// refusal is one forbidden request, what is declared, and the check of it.
var refusals = []struct{ check, caseID, declares, capability string }{
	{"declare/undeclared-sampling-refused", "undeclared-sampling", noneAtAll, "sampling"},
	{"declare/undeclared-tools-refused", "undeclared-tools", tracetest.SamplingOnly, "sampling.tools"},
	{"declare/undeclared-toolchoice-refused", "undeclared-toolchoice", tracetest.SamplingOnly, "sampling.tools"},
}

func TestWhatIsNotDeclaredIsRefused(t *testing.T) {
	forbidden := tracetest.Asking("May I?", story.GetWeather)
	refused := func(code int) func(*tracetest.Story) {
		return func(s *tracetest.Story) { s.Asks(forbidden).OnPurpose().Refuses(code, "no").PassesBarrier() }
	}
	const nothingLater = "no later sample was answered, so that it may only not have come yet"
	for _, r := range refusals {
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: "by an error", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InA, Steps: refused(-32601),
				Verdict: report.Pass, Message: "the client refused what it does not declare, with the code -32601"},
			{Name: "by any error", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InA, Steps: refused(0),
				Verdict: report.Pass, Message: "the client refused what it does not declare, with the code 0"},
			{Name: "by silence", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InB, Steps: func(s *tracetest.Story) { ignored(forbidden)(s); s.PassesBarrier() },
				Verdict: report.Pass, Message: "the client did not fulfil what it does not declare"},
			{Name: "by silence, where a word is due", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InA, Steps: func(s *tracetest.Story) { ignored(forbidden)(s); s.PassesBarrier() },
				Verdict: report.Fail, Message: "the client neither refused nor answered a request for " + r.capability + ", which it does not declare: an error is due"},
			{Name: "not at all", Check: r.check, CaseID: r.caseID, Declares: r.declares, Steps: forced(forbidden, tracetest.Saying("Of course.")),
				Verdict: report.Fail, Message: "the client answered a request for " + r.capability + ", which it does not declare"},
			{Name: "by silence at the end", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InB, Steps: ignored(forbidden), Verdict: report.Unsupported,
				Message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: " + nothingLater},
			{Name: "by dying", Check: r.check, CaseID: r.caseID, Declares: r.declares, In: tracetest.InB, Verdict: report.NotObserved,
				Message: "no answer came, and it is not settled that none would have: the session did not end in order: it exited with status 2",
				Steps:   func(s *tracetest.Story) { ignored(forbidden)(s); s.Ends(trace.Process{ExitCode: 2}) }},
			{Name: "which cannot be seen of a client that declares it whatever it is told", Check: r.check, CaseID: r.caseID, HarnessDeclares: r.declares, Steps: func(s *tracetest.Story) { s.Marks(trace.MarkHandlerEnded, "") },
				Verdict: report.Unsupported, Message: "the client was told to declare " + r.declares + " and declares " + r.capability +
					" all the same: it takes a client whose capabilities can be set (capabilities in MCP_CONFORMANCE_CONTEXT, Env.Declare)"},
			{Name: "which was not asked", Check: r.check, CaseID: r.caseID, Declares: r.declares, Steps: func(s *tracetest.Story) { s.Marks(trace.MarkHandlerEnded, "") },
				Verdict: report.NotObserved, Message: "the play did not get as far as the forbidden request"},

			{Name: "before the model is asked", Check: "declare/no-model-call", CaseID: r.caseID, Declares: r.declares, In: tracetest.InA, Steps: refused(-32601),
				Verdict: report.Pass, Message: "the model was not asked"},
			{Name: "after the model was asked", Check: "declare/no-model-call", CaseID: r.caseID, Declares: r.declares,
				Steps: func(s *tracetest.Story) {
					s.Asks(forbidden).OnPurpose().Prompts(forbidden).Refuses(-32601, "no").PassesBarrier()
				},
				Verdict: report.Fail, Message: "the model was asked for what the client must refuse"},
			{Name: "by the provider", Check: "declare/no-model-call", CaseID: r.caseID, Declares: r.declares, Verdict: report.Pass, Message: "the model was not asked",
				Steps: func(s *tracetest.Story) {
					s.Asks(forbidden).OnPurpose().Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "empty"}).Refuses(-32603, "no").PassesBarrier()
				}},
			{Name: "perhaps after the model was asked", Check: "declare/no-model-call", CaseID: r.caseID, Declares: r.declares, Verdict: report.NotObserved,
				Message: "the model was asked something that has the mark of no conversation, so that it may have been this", Steps: func(s *tracetest.Story) {
					s.Asks(forbidden).OnPurpose()
					s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 1, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
					s.Refuses(-32601, "no").PassesBarrier()
				}},

			{Name: "and life goes on", Check: "declare/alive", CaseID: r.caseID, Declares: r.declares, Steps: func(s *tracetest.Story) { ignored(forbidden)(s); s.PassesBarrier() },
				Verdict: report.Pass, Message: "the client went on"},
			{Name: "and life ends", Check: "declare/alive", CaseID: r.caseID, Declares: r.declares, Steps: func(s *tracetest.Story) { refusedThenDies(s, forbidden) },
				Verdict: report.Fail, Message: "the client did not go on after a request that it had to refuse: it panicked: undeclared"},
		})
	}
}

// refusedThenDies is a client that panics over what it has to refuse.
func refusedThenDies(s *tracetest.Story, forbidden *server.CreateMessageParams) {
	s.Asks(forbidden).OnPurpose().Refuses(-32601, "no").Ends(trace.Process{Panic: "undeclared"})
}

func TestNothingIsAskedThatWasNotToBeDeclared(t *testing.T) {
	for _, r := range refusals {
		s := tracetest.BeginDeclaring(t, catalogue, server.V20260728, dialect.Native, "declare/"+r.caseID, r.declares)
		s.Trace.Header.Declare = []byte(r.declares)
		want := report.NotApplicable
		if strings.Contains(r.declares, "sampling") {
			want = report.Fail // it was to be asked all the same, and has answered nothing
		}
		require.Equal(t, want, s.Asks(tracetest.Asking("May I?")).OnPurpose().Result("client/sampled").Verdict, r.caseID)
	}
}
