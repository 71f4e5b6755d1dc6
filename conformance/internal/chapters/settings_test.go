package chapters_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// settings are a system prompt, a temperature, stop sequences and tools, for one message or more.
type settings struct {
	system string
	warmth *float64
	stops  []string
	tools  []server.Tool
	more   bool
}

func (s settings) of() *server.CreateMessageParams {
	p := tracetest.Asking(story.Question)
	p.SystemPrompt, p.Temperature, p.StopSequences, p.Tools = s.system, s.warmth, s.stops, s.tools
	if s.more {
		p.Messages = slices.Concat(p.Messages, p.Messages)
	}
	return p
}

func TestSettingsThatArePassedOnInSomeRequestsOnly(t *testing.T) {
	const prompt = "Be brief, please."
	answer := tracetest.Saying("I will.")
	warmth := func(f float64) *float64 { return &f }
	full := settings{system: prompt, warmth: warmth(0.5), stops: []string{"###END###", "STOP"}}
	with := func(change func(*settings)) settings {
		changed := full
		change(&changed)
		return changed
	}
	noSystem := with(func(s *settings) { s.system = "" })
	noWarmth := with(func(s *settings) { s.warmth = nil })
	noStops := with(func(s *settings) { s.stops = nil })
	// asks has the server's requests, each followed by what the model is given; after begins with one that is passed on.
	asks := func(both ...settings) tracetest.Steps {
		return func(s *tracetest.Story) {
			for i := 0; i < len(both); i += 2 {
				s.Asks(both[i].of()).Prompts(both[i+1].of()).Answers(answer)
			}
		}
	}
	after := func(sent, given settings) tracetest.Steps { return asks(full, full, sent, given) }
	const prompts, params = "basic/system-prompt", "basic/parameters"
	const stopsOn, allOn = ", stop sequences are passed on", "temperature is passed on, stop sequences are passed on"
	const system = "the system prompt is passed on unchanged"
	toOther := func(s *tracetest.Story) {
		s.Asks(full.of()).Prompts(full.of()).Answers(answer).Asks(full.of())
		s.Prompt(tracetest.With(string(jsonvalue.Marshal(tracetest.AsChat(noSystem.of()))), "model", `"gpt-5"`),
			trace.ModelEnd{Status: 200}).Answers(answer)
	}
	asUser := func(s *tracetest.Story) {
		s.Asks(full.of()).Prompts(full.of()).Answers(answer).Asks(full.of())
		body := tracetest.AsChat(noSystem.of())
		body["messages"] = append([]any{map[string]any{"role": "user", "content": prompt}}, body["messages"].([]any)...)
		s.Prompt(string(jsonvalue.Marshal(body)), trace.ModelEnd{Status: 200}).Answers(answer)
	}
	onPurpose := func(s *tracetest.Story) {
		s.Asks(full.of()).Prompts(full.of()).Answers(answer).Asks(full.of()).OnPurpose()
		s.Prompts(settings{}.of()).Answers(answer)
	}
	atOnce := func(s *tracetest.Story) {
		s.Asks(full.of()).Prompts(full.of()).Answers(answer).AsksAll(noStops.of(), full.of())
		s.Prompts(settings{warmth: full.warmth}.of()).Answers(answer)
	}
	const other, tools, history, both = "another request", "a request with tools", "a request with a history",
		"a request with tools and a history"
	toolsOf := []server.Tool{story.GetWeather}
	withTools := func(s *settings) { s.tools = toolsOf }
	for _, row := range []struct {
		check, name string
		steps       tracetest.Steps
		says        string
	}{
		{prompts, "in every request", after(full, full), system},
		{prompts, "lost", after(full, noSystem), system + ", but omitted from " + other},
		{prompts, "lost with tools", after(with(withTools), with(func(s *settings) { withTools(s); s.system = "" })),
			system + ", but omitted from " + tools},
		{prompts, "lost with a history", after(with(func(s *settings) { s.more = true }),
			with(func(s *settings) { s.more, s.system = true, "" })), system + ", but omitted from " + history},
		{prompts, "lost with both", after(with(func(s *settings) { withTools(s); s.more = true }),
			with(func(s *settings) { withTools(s); s.more, s.system = true, "" })), system + ", but omitted from " + both},
		{prompts, "lost first", asks(full, noSystem, full, full), "the system prompt is omitted, but passed on in others"},
		{prompts, "never", asks(full, noSystem, full, noSystem), "the system prompt is omitted"},
		{prompts, "lost after a request without one", asks(noSystem, noSystem, full, noSystem), system},
		{prompts, "lost with tools, and with a history", asks(full, full, with(withTools), settings{tools: toolsOf},
			with(func(s *settings) { s.more = true }), settings{more: true}), system + ", but omitted from " + tools},
		{prompts, "replaced", after(full, with(func(s *settings) { s.system = "Be curt." })), system},
		{prompts, "none was asked for", after(noSystem, noSystem), system},
		{prompts, "a request that breaks the protocol", onPurpose, system},
		{prompts, "to another model", toOther, system},
		{prompts, "as a message of the user", asUser, system},
		{params, "all of them", after(full, full), allOn},
		{params, "a temperature is lost", after(full, noWarmth), "temperature is passed on unless it is 0" + stopsOn},
		{params, "a temperature is lost later", asks(full, full, full, full, full, noWarmth),
			"temperature is passed on, but omitted from " + other + stopsOn},
		{params, "a number of 32 bits", after(with(func(s *settings) { s.warmth = warmth(0.1) }),
			with(func(s *settings) { s.warmth = warmth(0.10000000149) })), allOn},
		{params, "a temperature that not all providers take", asks(full, full, full, full,
			with(func(s *settings) { s.warmth = warmth(1.5) }), noWarmth), allOn},
		{params, "another temperature", after(full, with(func(s *settings) { s.warmth = warmth(0.7) })), allOn},
		{params, "stop sequences are lost", after(full, noStops), allOn + ", but omitted from " + other},
		{params, "one is lost", after(full, with(func(s *settings) { s.stops = s.stops[:1] })),
			allOn + ", but omitted from " + other},
		{params, "blank ones", after(with(func(s *settings) { s.stops = []string{" "} }), noStops), allOn},
		{params, "too many", after(with(func(s *settings) { s.stops = []string{"A", "B", "C", "D", "E"} }), noStops), allOn},
		{params, "the wire does not tell requests apart", atOnce, allOn},
	} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			story := tracetest.Begin(t, clientCatalogue, revision, dialect.OpenAIChat, "basic/tuned")
			row.steps(story)
			rs, err := judge.Traces(clientCatalogue, []*trace.Trace{story.Ends(trace.Process{}).Trace}, nil)
			require.NoError(t, err)
			at := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == row.check })
			says, _, _ := strings.Cut(rs.Results[at].Message, ", metadata")
			require.Equal(t, row.says, says, "%s in %s", row.name, revision)
		}
	}
}
