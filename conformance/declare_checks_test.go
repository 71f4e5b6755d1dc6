package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Declarations of clients that can do less.
const (
	samplingOnly = `{"sampling":{}}`
	noneAtAll    = `{}`
)

// asked asks the model as it should be, and says what came of it.
func asked(p *server.CreateMessageParams, result string) func(*story) {
	return func(s *story) { s.asks(p).prompts(p).answers(result) }
}

// forced is the same for what the server must not ask.
func forced(p *server.CreateMessageParams, result string) func(*story) {
	return func(s *story) { s.asks(p).onPurpose().prompts(p).answers(result) }
}

// ignored is asked for, and nothing comes.
func ignored(p *server.CreateMessageParams) func(*story) {
	return func(s *story) { s.asks(p).onPurpose() }
}

func weatherWanted() string {
	return wanting([3]string{"call_1", "get_weather", `{"city":"Paris"}`})
}

func TestWhatIsDeclared(t *testing.T) {
	plain, tools := asking("Which river?"), asking("What is the weather?", getWeather)
	hold(t, catalogue, []telling{
		{name: "and answered", check: "declare/sampling-declared", caseID: "sampling", tell: asked(plain, saying("The Seine.")), in: inA,
			verdict: report.Pass, message: "the client declares sampling, and answers it"},
		{name: "with every request", check: "declare/sampling-declared", caseID: "sampling", tell: asked(plain, saying("The Seine.")), in: inB,
			verdict: report.Pass, message: "the client declares sampling with every request"},
		{name: "and not answered", check: "declare/sampling-declared", caseID: "sampling", tell: func(s *story) { s.asks(plain) },
			verdict: report.Pass, message: "the client declares sampling"},
		{name: "as true, which is something", check: "declare/sampling-declared", caseID: "sampling", tell: asked(plain, saying("The Seine.")), declares: `{"sampling":true}`, in: inA,
			verdict: report.Pass, message: "the client declares sampling, and answers it"},
		{name: "not, and answered", check: "declare/sampling-declared", caseID: "sampling", tell: forced(plain, saying("The Seine.")), declares: noneAtAll,
			verdict: report.Fail, message: "the client answers sampling and does not declare it"},
		{name: "as null, and answered", check: "declare/sampling-declared", caseID: "sampling", tell: forced(plain, saying("The Seine.")), declares: `{"sampling":null}`,
			verdict: report.Fail, message: "the client answers sampling and does not declare it"},
		{name: "not, and refused", check: "declare/sampling-declared", caseID: "sampling", declares: noneAtAll,
			tell:    func(s *story) { s.asks(plain).onPurpose().refuses(-32601, "no") },
			verdict: report.NotApplicable, message: "the client neither declares sampling nor answers it"},
		{name: "not with the retry", check: "declare/sampling-declared", caseID: "sampling", in: inB, verdict: report.Fail,
			message: "the client answers sampling and does not declare it with every tools/call", tell: func(s *story) {
				s.asks(plain).prompts(plain)
				s.declares = noneAtAll
				s.answers(saying("The Seine."))
			}},
		{name: "not with the list of tools", check: "declare/sampling-declared", caseID: "sampling", in: inB, verdict: report.Warn, declares: noneAtAll,
			message: "the client declares sampling with the requests that need it, and not with tools/list", tell: func(s *story) {
				s.trace.Events = s.trace.Events[:len(s.trace.Events)-1] // the call
				s.declares, s.call, s.seq[s.caseID] = everything, 0, 0
				asked(plain, saying("The Seine."))(s.calls())
			}},

		{name: "tools", check: "declare/tools-declared", caseID: "tools", tell: asked(tools, weatherWanted()),
			verdict: report.Pass, message: "the client declares sampling.tools"},
		{name: "no tools, and they are used", check: "declare/tools-declared", caseID: "tools", tell: forced(tools, weatherWanted()), declares: samplingOnly,
			verdict: report.Fail, message: "the client answers with tool use and does not declare sampling.tools"},
		{name: "no tools, and they are dropped", check: "declare/tools-declared", caseID: "tools", tell: forced(tools, saying("Sunny.")), declares: samplingOnly,
			verdict: report.NotApplicable, message: "the client neither declares sampling.tools nor answers with tool use"},
		{name: "nothing, and tools are used", check: "declare/tools-declared", caseID: "tools", tell: forced(tools, weatherWanted()), declares: noneAtAll,
			verdict: report.NotApplicable, message: "the client declares no sampling at all (see declare/sampling-declared)"},

		{name: "and served", check: "declare/over-declared", caseID: "sampling", tell: asked(plain, saying("The Seine.")),
			verdict: report.Pass, message: "the client declares sampling, and serves it"},
		{name: "tools, and served", check: "declare/over-declared", caseID: "tools", tell: asked(tools, weatherWanted()),
			verdict: report.Pass, message: "the client declares sampling.tools, and serves it"},
		{name: "tools, and the model talks", check: "declare/over-declared", caseID: "tools", tell: asked(tools, saying("Sunny.")),
			verdict: report.Pass, message: "the client declares sampling.tools, and serves it"},
		{name: "and never answered", check: "declare/over-declared", caseID: "sampling", tell: func(s *story) { s.asks(plain) },
			verdict: report.Fail, message: "the client declares sampling and never answered when it was asked for it"},
		{name: "tools, and refused", check: "declare/over-declared", caseID: "tools", in: inA, tell: func(s *story) { s.asks(tools).refuses(-32603, "no tools") },
			verdict: report.Fail, message: `the client declares sampling.tools and answers with an error when it is asked for it: request 1 was answered by the error "no tools" (code -32603)`},
		{name: "not", check: "declare/over-declared", caseID: "tools", tell: ignored(tools), declares: samplingOnly,
			verdict: report.NotApplicable, message: "the client does not declare sampling.tools"},
	})
}

func TestTheShapeOfWhatIsDeclared(t *testing.T) {
	var tellings []telling
	for _, c := range []struct{ name, declares, wrong string }{
		{"objects", everything, ""},
		{"an object with more in it", `{"sampling":{"tools":{"parallel":true},"context":{}},"roots":{"listChanged":true}}`, ""},
		{"nothing", noneAtAll, ""},
		{"other capabilities, in whatever shape", `{"elicitation":true}`, ""},
		{"true", `{"sampling":true}`, "capabilities.sampling is true, where an object is due"},
		{"null", `{"sampling":null}`, "capabilities.sampling is null, where an object is due"},
		{"a word", `{"sampling":{"tools":"yes"}}`, `capabilities.sampling.tools is "yes", where an object is due`},
		{"an array", `{"sampling":{"context":[]}}`, "capabilities.sampling.context is [], where an object is due"},
		{"no object at all", `[]`, "capabilities is [], where an object is due"},
	} {
		one := telling{name: c.name, check: "declare/shape", caseID: "sampling", declares: c.declares, tell: func(*story) {}, verdict: report.Pass, message: "what is declared are objects"}
		if c.wrong != "" {
			one.verdict, one.message = report.Fail, c.wrong
		}
		tellings = append(tellings, one)
	}
	hold(t, catalogue, tellings)
}

func TestWhatRequestsSayOfTheClient(t *testing.T) {
	says := func(meta string) func(*story) {
		return func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"prompts/list","params":{"_meta":{`+meta+`}}}`)
		}
	}
	version, capabilities, info := `"`+metaVersion+`":"2026-07-28"`, `"`+metaCapabilities+`":{}`, `"`+metaInfo+`":{"name":"c","version":"1"}`
	// header changes a header of the call.
	header := func(name, value string) func(*story) {
		return func(s *story) {
			h := s.trace.Events[len(s.trace.Events)-1].Frame.HTTP.Header
			delete(h, name)
			if value != "" {
				h[name] = value
			}
		}
	}
	nothing := func(*story) {}
	hold(t, catalogue, []telling{
		{name: "all", check: "declare/meta-fields", caseID: "sampling", in: inB, tell: nothing, verdict: report.Pass, message: "every request says both"},
		{name: "no version", check: "declare/meta-fields", caseID: "sampling", in: inB, tell: says(capabilities), verdict: report.Fail,
			message: "a prompts/list has no string " + metaVersion + " in its _meta"},
		{name: "a version that is a number", check: "declare/meta-fields", caseID: "sampling", in: inB, tell: says(`"` + metaVersion + `":20260728,` + capabilities), verdict: report.Fail,
			message: "a prompts/list has no string " + metaVersion + " in its _meta"},
		{name: "no capabilities", check: "declare/meta-fields", caseID: "sampling", in: inB, tell: says(version), verdict: report.Fail,
			message: "a prompts/list has no object " + metaCapabilities + " in its _meta"},
		{name: "notifications say nothing", check: "declare/meta-fields", caseID: "sampling", in: inB, verdict: report.Pass, message: "every request says both",
			tell: func(s *story) {
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
			}},
		{name: "an older revision is tried first", check: "declare/meta-fields", caseID: "sampling", in: inB, verdict: report.Pass, message: "every request says both",
			tell: func(s *story) {
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
			}},
		{name: "refused for it from the first", check: "declare/meta-fields", caseID: "sampling", in: inB, verdict: report.Fail,
			message: "a tools/list has no string " + metaVersion + " in its _meta", tell: func(s *story) {
				s.trace.Events = s.trace.Events[:1] // it was started
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				s.frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"_meta"}}`)
			}},

		{name: "its name", check: "declare/client-info", caseID: "sampling", in: inB, tell: nothing, verdict: report.Pass, message: "every request says which client it is from"},
		{name: "no name", check: "declare/client-info", caseID: "sampling", in: inB, tell: says(version + "," + capabilities), verdict: report.Warn,
			message: "a prompts/list does not say in its _meta which client it is from"},
		{name: "its name, and no version", check: "declare/client-info", caseID: "sampling", in: inB, tell: says(version + "," + capabilities + `,"` + metaInfo + `":{"name":"c"}`), verdict: report.Warn,
			message: "a prompts/list does not say in its _meta which client it is from"},

		{name: "in headers", check: "declare/http-headers", caseID: "sampling", in: inB, tell: nothing, verdict: report.Pass, message: "the headers of every request say what its body says"},
		{name: "in headers, the name encoded", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Name", "=?base64?eA==?="), verdict: report.Pass,
			message: "the headers of every request say what its body says"},
		{name: "of a method without a name", check: "declare/http-headers", caseID: "sampling", in: inB, tell: says(version + "," + capabilities + "," + info), verdict: report.Pass,
			message: "the headers of every request say what its body says"},
		{name: "another version", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Protocol-Version", "2025-11-25"), verdict: report.Fail,
			message: `the header Mcp-Protocol-Version of a tools/call is "2025-11-25", where the body has "2026-07-28"`},
		{name: "no method", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Method", ""), verdict: report.Fail,
			message: "the header Mcp-Method of a tools/call is missing"},
		{name: "another method", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Method", "TOOLS/CALL"), verdict: report.Fail,
			message: `the header Mcp-Method of a tools/call is "TOOLS/CALL", where the body has "tools/call"`},
		{name: "another name, encoded", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Name", "=?base64?eHg=?="), verdict: report.Fail,
			message: `the header Mcp-Name of a tools/call is "xx", where the body has "x"`},
		{name: "a name that is no base64", check: "declare/http-headers", caseID: "sampling", in: inB, tell: header("Mcp-Name", "=?base64?%%?="), verdict: report.Fail,
			message: "the header Mcp-Name of a tools/call has the form =?base64?…?= and holds no base64"},
		{name: "on a transport without headers", check: "declare/http-headers", caseID: "sampling", in: inB, verdict: report.NotApplicable, message: "the transport has no headers",
			tell: func(s *story) {
				for _, e := range s.trace.Events {
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
	{"declare/undeclared-tools-refused", "undeclared-tools", samplingOnly, "sampling.tools"},
	{"declare/undeclared-toolchoice-refused", "undeclared-toolchoice", samplingOnly, "sampling.tools"},
}

func TestWhatIsNotDeclaredIsRefused(t *testing.T) {
	forbidden := asking("May I?", getWeather)
	refused := func(code int) func(*story) {
		return func(s *story) { s.asks(forbidden).onPurpose().refuses(code, "no").passesBarrier() }
	}
	const nothingLater = "no later sample was answered, so that it may only not have come yet"
	for _, r := range refusals {
		hold(t, catalogue, []telling{
			{name: "by an error", check: r.check, caseID: r.caseID, declares: r.declares, in: inA, tell: refused(-32601),
				verdict: report.Pass, message: "the client refused what it does not declare, with the code -32601"},
			{name: "by any error", check: r.check, caseID: r.caseID, declares: r.declares, in: inA, tell: refused(0),
				verdict: report.Pass, message: "the client refused what it does not declare, with the code 0"},
			{name: "by silence", check: r.check, caseID: r.caseID, declares: r.declares, in: inB, tell: func(s *story) { ignored(forbidden)(s); s.passesBarrier() },
				verdict: report.Pass, message: "the client did not fulfil what it does not declare"},
			{name: "by silence, where a word is due", check: r.check, caseID: r.caseID, declares: r.declares, in: inA, tell: func(s *story) { ignored(forbidden)(s); s.passesBarrier() },
				verdict: report.Fail, message: "the client neither refused nor answered a request for " + r.capability + ", which it does not declare: an error is due"},
			{name: "not at all", check: r.check, caseID: r.caseID, declares: r.declares, tell: forced(forbidden, saying("Of course.")),
				verdict: report.Fail, message: "the client answered a request for " + r.capability + ", which it does not declare"},
			{name: "by silence at the end", check: r.check, caseID: r.caseID, declares: r.declares, in: inB, tell: ignored(forbidden), verdict: report.Unsupported,
				message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: " + nothingLater},
			{name: "by dying", check: r.check, caseID: r.caseID, declares: r.declares, in: inB, verdict: report.NotObserved,
				message: "no answer came, and it is not settled that none would have: the session did not end in order: it exited with status 2",
				tell:    func(s *story) { ignored(forbidden)(s); s.ends(trace.Process{ExitCode: 2}) }},
			{name: "which cannot be seen of a client that declares it whatever it is told", check: r.check, caseID: r.caseID, told: r.declares, tell: func(s *story) { s.marks(trace.MarkHandlerEnded, "") },
				verdict: report.Unsupported, message: "the client was told to declare " + r.declares + " and declares " + r.capability +
					" all the same: it takes a client whose capabilities can be set (capabilities in MCP_CONFORMANCE_CONTEXT, Env.Declare)"},
			{name: "which was not asked", check: r.check, caseID: r.caseID, declares: r.declares, tell: func(s *story) { s.marks(trace.MarkHandlerEnded, "") },
				verdict: report.NotObserved, message: "the play did not get as far as the forbidden request"},

			{name: "before the model is asked", check: "declare/no-model-call", caseID: r.caseID, declares: r.declares, in: inA, tell: refused(-32601),
				verdict: report.Pass, message: "the model was not asked"},
			{name: "after the model was asked", check: "declare/no-model-call", caseID: r.caseID, declares: r.declares,
				tell:    func(s *story) { s.asks(forbidden).onPurpose().prompts(forbidden).refuses(-32601, "no").passesBarrier() },
				verdict: report.Fail, message: "the model was asked for what the client must refuse"},
			{name: "by the provider", check: "declare/no-model-call", caseID: r.caseID, declares: r.declares, verdict: report.Pass, message: "the model was not asked",
				tell: func(s *story) {
					s.asks(forbidden).onPurpose().prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "empty"}).refuses(-32603, "no").passesBarrier()
				}},
			{name: "perhaps after the model was asked", check: "declare/no-model-call", caseID: r.caseID, declares: r.declares, verdict: report.NotObserved,
				message: "the model was asked something that has the mark of no conversation, so that it may have been this", tell: func(s *story) {
					s.asks(forbidden).onPurpose()
					s.add("", trace.Event{Request: &trace.ModelRequest{Exchange: 1, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
					s.refuses(-32601, "no").passesBarrier()
				}},

			{name: "and life goes on", check: "declare/alive", caseID: r.caseID, declares: r.declares, tell: func(s *story) { ignored(forbidden)(s); s.passesBarrier() },
				verdict: report.Pass, message: "the client went on"},
			{name: "and life ends", check: "declare/alive", caseID: r.caseID, declares: r.declares, tell: func(s *story) { refusedThenDies(s, forbidden) },
				verdict: report.Fail, message: "the client did not go on after a request that it had to refuse: it panicked: undeclared"},
		})
	}
}

// refusedThenDies is a client that panics over what it has to refuse.
func refusedThenDies(s *story, forbidden *server.CreateMessageParams) {
	s.asks(forbidden).onPurpose().refuses(-32601, "no").ends(trace.Process{Panic: "undeclared"})
}

func TestNothingIsAskedThatWasNotToBeDeclared(t *testing.T) {
	for _, r := range refusals {
		s := beginDeclaring(t, catalogue, server.V20260728, dialect.Native, "declare/"+r.caseID, r.declares)
		s.trace.Header.Declare = []byte(r.declares)
		want := report.NotApplicable
		if strings.Contains(r.declares, "sampling") {
			want = report.Fail // it was to be asked all the same, and has answered nothing
		}
		require.Equal(t, want, s.asks(asking("May I?")).onPurpose().result("client/sampled").Verdict, r.caseID)
	}
}
