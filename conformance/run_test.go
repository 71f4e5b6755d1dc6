package conformance_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/reference"
	"github.com/mcp-conform/mcp-conform/internal/variations"
)

func TestReferencePasses(t *testing.T) {
	for name, config := range map[string]reference.Config{
		"openai streamed": {},
		"native":          {Dialect: dialect.Native},
		"anthropic":       {Dialect: dialect.Anthropic},
		"gemini 3":        {Dialect: dialect.Gemini, Model: reference.Gemini3},
	} {
		t.Run(name, func(t *testing.T) {
			options := []conformance.Option{conformance.In(check.AllRevisions()...), conformance.Strict()}
			if name != "native" {
				options = append(options, conformance.Skip("malformed")) // which is played in processes of its own, and asks no model
			}
			conformance.Run(t, harness.InProcess(reference.Client(config)), options...)
		})
	}
}

// mutant is the reference client, broken in one way.
func mutant(name string) harness.Client {
	return harness.InProcess(mutants.Find(name).Client(reference.Config{Plain: true}, nil))
}

// reticent gives no stop reasons, which breaks no rule.
var reticent = variations.Find("result-no-stop-reason").Client(reference.Config{}, nil)

// usersTests are what users of the package write. They are run in a process of their own, where they may fail.
var usersTests = map[string]func(*testing.T){
	"a right client": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})), conformance.In(server.V20251125))
	},
	"a broken client": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125), conformance.Only("parallel/two-cities"))
	},
	"a client that asks for a look": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reticent), conformance.In(server.V20251125), conformance.Only("tool-use"))
	},
	"a client that asks for a look, strictly": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reticent), conformance.In(server.V20251125), conformance.Only("tool-use"), conformance.Strict())
	},
	"a client that leaves something out": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125), conformance.Only("parallel/two-cities"),
			conformance.Skip("parallel/results-*"), conformance.Seed(7), conformance.Timeout(harness.DefaultTimeout))
	},
	"a client that never comes": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(func(context.Context, harness.Env) error { return nil }), conformance.Only("basic"))
	},
	"a scenario that is not there": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.Only("paralel"))
	},
	"a right client, and a hostile case": func(t *testing.T) {
		conformance.MakeHostile()
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})), conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a client that crashes on a hostile case": func(t *testing.T) {
		conformance.MakeHostile()
		conformance.Run(t, whoOn("basic-question", func(context.Context) {
			go panic("out of range")
			select {}
		}), conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a test that does not come as far again": func(t *testing.T) {
		conformance.MakeHostile()
		if os.Getenv("MCP_CONFORM_CONTAINED") != "" {
			t.Skip("once is enough")
		}
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})), conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a program that is not there": func(t *testing.T) {
		conformance.Run(t, harness.Command("no-such-client"), conformance.Only("basic"))
	},
}

// inUsersPlace names the test to run in the place of a user's.
const inUsersPlace = "MCP_CONFORM_USERS_TEST"

func TestInAUsersPlace(t *testing.T) {
	if run := usersTests[os.Getenv(inUsersPlace)]; run != nil { // in the process that TestWhatAUserSees starts, and nowhere else
		run(t)
	}
}

func TestWhatAUserSees(t *testing.T) {
	const top = "TestInAUsersPlace/2025-11-25"
	for name, c := range map[string]struct {
		ok        bool
		outcomes  []string // how subtests end
		says      []string
		saysNot   []string
		noSubtest bool
	}{
		"a right client": {ok: true,
			outcomes: []string{"PASS: " + top + "/client/connects", "PASS: " + top + "/basic/answered", "PASS: " + top + "/parallel/results-reach-model",
				"SKIP: " + top + "/parallel/streamed-uses"},
			says:    []string{"verdict not_applicable: the client does not ask the model for a stream"},
			saysNot: []string{"FAIL"}},
		"a broken client": {
			outcomes: []string{"FAIL: " + top, "FAIL: " + top + "/parallel", "FAIL: " + top + "/parallel/results-reach-model", "PASS: " + top + "/parallel/all-uses",
				"PASS: " + top + "/client/connects"},
			says: []string{
				"FAIL  parallel/results-reach-model · ROBUST · 2025-11-25 · openai-chat",
				"the server sent 2 tool results, and the model was given 1",
				"server sent       sampling request 2  params  [parallel/two-cities #",
				`"fifteen degrees"`,
				"← there is no result for call_",
				"why               every tool use is answered, by id, in the very next user message",
				"https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance",
				"usual cause       the converter stops after the first tool_result",
				"again             go test -run '^TestInAUsersPlace$/^2025-11-25$/^parallel$'",
			}},
		"a right client, and a hostile case": {ok: true,
			outcomes: []string{"PASS: " + top + "/client/ends-cleanly", "PASS: " + top + "/basic/text-intact"}, saysNot: []string{"FAIL"}},
		"a client that crashes on a hostile case": {
			outcomes: []string{"FAIL: " + top + "/client/ends-cleanly", "FAIL: " + top + "/basic/answered", "PASS: " + top + "/client/connects"},
			says: []string{"the client did not end well: it panicked: out of range", "stderr            panic: out of range",
				"the client did not answer a sampling request with a result: no response to request 1; it panicked: out of range"}},
		"a test that does not come as far again": {
			outcomes: []string{"PASS: " + top + "/client/connects", "PASS: " + top + "/client/ends-cleanly", "FAIL: " + top + "/basic/answered"},
			says: []string{"conformance: this is a fault of the harness, not of the client",
				"never came as far as the client: it exited with status 0, and said"}},
		"a client that asks for a look": {ok: true,
			outcomes: []string{"PASS: " + top + "/tool-use/stop-reason-tooluse"},
			says:     []string{"warn  tool-use/stop-reason-tooluse · ROBUST · 2025-11-25", "the stop reason is left out beside a tool use"}},
		"a client that asks for a look, strictly": {
			outcomes: []string{"FAIL: " + top + "/tool-use/stop-reason-tooluse"},
			says:     []string{"the stop reason is left out beside a tool use"}},
		"a client that leaves something out": {ok: true,
			outcomes: []string{"PASS: " + top + "/parallel/all-uses"},
			saysNot:  []string{"results-reach-model ("}},
		"a client that never comes": {
			outcomes: []string{"FAIL: " + top + "/client/connects", "FAIL: TestInAUsersPlace/2026-07-28/client/connects", "FAIL: " + top + "/basic/answered"},
			says: []string{"the client never got as far as using the server; it ended with success",
				"NOT SEEN  basic/answered", "again             go test -run '^TestInAUsersPlace$/^2025-11-25$/^client$'"}},
		"a scenario that is not there": {noSubtest: true,
			says: []string{`conformance: "paralel" matches no scenario, case or check; did you mean parallel?`}},
		"a program that is not there": {noSubtest: true,
			says: []string{`conformance: the client "no-such-client" cannot be started: exec: "no-such-client": executable file not found in $PATH`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInAUsersPlace$", "-test.v")
			cmd.Env = append(os.Environ(), inUsersPlace+"="+name, "GORACE=atexit_sleep_ms=0")
			raw, err := cmd.CombinedOutput()
			out := string(raw)
			require.Equal(t, c.ok, err == nil, "%v: %s", err, out)
			for _, outcome := range c.outcomes {
				require.Regexp(t, "(?m)^ *--- "+regexp.QuoteMeta(outcome)+` \(`, out)
			}
			for _, text := range c.says {
				require.Contains(t, out, text)
			}
			for _, text := range c.saysNot {
				require.NotContains(t, out, text)
			}
			if c.noSubtest {
				require.Equal(t, 1, strings.Count(out, "=== RUN"))
			}
		})
	}
}
