package conformance_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/proof/variations"
)

// Package selftest plays the older revisions, and everything in virtual time.
func TestReferencePasses(t *testing.T) {
	for name, config := range map[string]reference.Config{
		"openai streamed": {},
		"native":          {Dialect: dialect.Native},
		"anthropic":       {Dialect: dialect.Anthropic},
		"gemini 3":        {Dialect: dialect.Gemini, Model: reference.Gemini3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only := sample("parallel", "provider-errors/unauthorized")
			skip := []string{"malformed"} // These run in processes of their own and ask no model: once is enough.
			if name == "native" {
				only, skip = append(only, sample("malformed", "transport")...), nil
			}
			skip = append(skip, sample(expensive...)...)
			conformance.Run(t, harness.InProcess(reference.Client(config)), conformance.Strict(),
				conformance.Only(only...), conformance.Skip(skip...))
		})
	}
}

func TestAClientInALoopOfItsOwnIsDeclared(t *testing.T) {
	var header trace.Header
	conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Loop: true})), conformance.Strict(),
		conformance.In(server.V20251125), conformance.Only("client-loop/one-tool"), conformance.Loop(harness.ClientLoop),
		conformance.ClientTimeout(20*time.Second), conformance.Judged(func(_ *report.Results, traces []*trace.Trace) {
			header = traces[0].Header
		}))
	require.Equal(t, "client", header.Loop)
	require.Equal(t, 20*time.Second, header.ClientTimeout)
	require.True(t, header.TimeoutDeclared)
}

// mutant returns a mutant of the reference client.
func mutant(name string) harness.Client {
	return harness.InProcess(mutants.Find(name).Client(reference.Config{Plain: true}, nil))
}

// ownStopReasons is a client with a stop reason of its own, which warns.
var ownStopReasons = variations.Find("result-own-stop-reasons").Client(reference.Config{}, nil)

// knownFailures are those of the mutant first-result-only. found ends a message.
func knownFailures(found string) conformance.Option {
	return conformance.Known(
		baseline.Entry{Check: "parallel/results-reach-model", Reason: "the converter stops after the first result",
			Messages: []string{"expected N tool results in the model request, " + found}},
		baseline.Entry{Check: "always/model-was-given", Reason: "the converter stops after the first result",
			Messages: []string{`sampling request N: expected the result of ID "…" in the model request, found none`}})
}

// usersTests are tests as users write them. Each runs in a process of its own, where it may fail.
var usersTests = map[string]func(*testing.T){
	"a correct client": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})),
			conformance.In(server.V20251125), conformance.Only("basic", "parallel"), conformance.Skip("basic/long"))
	},
	"a broken client": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125),
			conformance.Only("parallel/two-cities"))
	},
	"a client with a warning": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(ownStopReasons), conformance.In(server.V20251125),
			conformance.Only("tool-use"))
	},
	"a client with a warning, strictly": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(ownStopReasons), conformance.In(server.V20251125),
			conformance.Only("tool-use"), conformance.Strict())
	},
	"a client with known failures": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125),
			conformance.Only("parallel/two-cities"), conformance.Skip("always/answered"),
			knownFailures("found N"))
	},
	"a client that fails in another way than known": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125),
			conformance.Only("parallel/two-cities"), conformance.Skip("always/answered"),
			knownFailures("found none"))
	},
	"a client whose known failures are fixed": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})),
			conformance.In(server.V20251125), conformance.Only("parallel/two-cities"), conformance.Skip("always/answered"),
			knownFailures("found N"))
	},
	"a client whose known failures are written": func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "known.yaml")
		for _, mode := range []string{"update", ""} {
			t.Setenv("MCP_CONFORM_BASELINE", mode)
			conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125),
				conformance.Only("parallel/two-cities"), conformance.KnownIn(file), conformance.Parallel(2),
				conformance.Judged(func(rs *report.Results, traces []*trace.Trace) {
					t.Logf("judged %d traces, %d known", len(traces), rs.Baseline.Known)
				}))
		}
	},
	"a client without one check": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.In(server.V20251125),
			conformance.Only("parallel/two-cities"),
			conformance.Skip("parallel/results-*", "always/model-was-given"), conformance.Seed(7),
			conformance.Timeout(harness.DefaultTimeout))
	},
	"a client that never connects": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(func(context.Context, harness.Env) error { return nil }),
			conformance.Only("basic"))
	},
	"a client that fails before it connects": func(t *testing.T) {
		conformance.Run(t, harness.InProcess(func(context.Context, harness.Env) error { return errors.New("no key") }))
	},
	"an unknown scenario": func(t *testing.T) {
		conformance.Run(t, mutant("first-result-only"), conformance.Only("paralel"))
	},
	"a correct client and a hostile case": func(t *testing.T) {
		conformance.MakeHostile()
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})),
			conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a client that crashes on a hostile case": func(t *testing.T) {
		conformance.MakeHostile()
		conformance.Run(t, whoOn("basic-question", func(context.Context) {
			go panic("out of range")
			select {}
		}), conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a test that does not reach the client again": func(t *testing.T) {
		conformance.MakeHostile()
		if os.Getenv("MCP_CONFORM_CONTAINED") != "" {
			t.Skip("only once")
		}
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})),
			conformance.In(server.V20251125), conformance.Only("basic"))
	},
	"a missing program": func(t *testing.T) {
		conformance.Run(t, harness.Command("no-such-client"), conformance.Only("basic"))
	},
}

// inUsersPlace names the environment variable with the test to run.
const inUsersPlace = "MCP_CONFORM_USERS_TEST"

func TestInAUsersPlace(t *testing.T) {
	// The variable is set only in the processes that TestRunReportsToGoTest starts.
	if run := usersTests[os.Getenv(inUsersPlace)]; run != nil {
		run(t)
	}
}

// top is the test of the user, in one revision.
const top = "TestInAUsersPlace/2025-11-25"

var reportedRuns = map[string]struct {
	ok        bool
	outcomes  []string // Of subtests.
	says      []string
	saysNot   []string
	noSubtest bool
}{
	"a correct client": {ok: true,
		outcomes: []string{"PASS: " + top + "/client/connects", "PASS: " + top + "/basic/answered", "PASS: " + top +
			"/parallel/results-reach-model",
			"SKIP: " + top + "/parallel/streamed-uses"},
		says:    []string{"verdict not_applicable: the client does not ask the model for a stream"},
		saysNot: []string{"FAIL"}},
	"a broken client": {
		outcomes: []string{"FAIL: " + top, "FAIL: " + top + "/parallel", "FAIL: " + top + "/parallel/results-reach-model",
			"PASS: " + top + "/client/connects"},
		says: []string{
			"FAIL  parallel/results-reach-model · ROBUST · 2025-11-25 · openai-chat",
			"server sent       sampling request 2  params  [parallel/two-cities #",
			`"fifteen degrees"`,
			"call_",
			"requirement       every tool use is answered, by id, in the very next user message",
			"https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance",
			"likely cause      the converter stops after the first tool_result",
			"reproduce         go test -run '^TestInAUsersPlace$/^2025-11-25$/^parallel$'",
			"reproduce         go test -run '^TestInAUsersPlace$/^2025-11-25$/^always$'",
		}},
	"a correct client and a hostile case": {ok: true,
		outcomes: []string{"PASS: " + top + "/client/ends-cleanly", "PASS: " + top +
			"/basic/answered"}, saysNot: []string{"FAIL"}},
	"a client that crashes on a hostile case": {
		outcomes: []string{"FAIL: " + top + "/client/ends-cleanly", "FAIL: " + top + "/basic/answered", "PASS: " + top +
			"/client/connects"},
		says: []string{"it panicked: out of range", "stderr            panic: out of range",
			"no response to request 1; it panicked: out of range"}},
	"a test that does not reach the client again": {
		outcomes: []string{"PASS: " + top + "/client/connects", "PASS: " + top + "/client/ends-cleanly", "FAIL: " + top +
			"/basic/answered"},
		says: []string{"conformance: this is an error of the harness, not of the client",
			"did not reach the client: it exited with status 0"}},
	"a client with a warning": {ok: true,
		outcomes: []string{"PASS: " + top + "/tool-use/stop-reason-tooluse"},
		says:     []string{"warn  tool-use/stop-reason-tooluse · ADVICE · 2025-11-25"}},
	"a client with a warning, strictly": {
		outcomes: []string{"FAIL: " + top + "/tool-use/stop-reason-tooluse"},
		says:     []string{"warn  tool-use/stop-reason-tooluse"}},
	"a client with known failures": {ok: true,
		outcomes: []string{"SKIP: " + top + "/parallel/results-reach-model", "PASS: " + top + "/client/connects"},
		says:     []string{"known fail: the converter stops after the first result"}},
	"a client that fails in another way than known": {
		outcomes: []string{"FAIL: " + top + "/parallel/results-reach-model", "SKIP: " + top + "/always/model-was-given"},
		says:     []string{"known failure parallel/results-reach-model: changed"}},
	"a client whose known failures are fixed": {
		outcomes: []string{"PASS: " + top + "/parallel/results-reach-model"},
		says: []string{
			"known failure parallel/results-reach-model: stale: expected a failure, found pass in 2025-11-25"},
		saysNot: []string{"known failure always/model-was-given"}},
	"a client whose known failures are written": {ok: true,
		outcomes: []string{"SKIP: " + top + "/parallel/results-reach-model"},
		says: []string{"known.yaml: + parallel/results-reach-model", "judged 1 traces, 2 known",
			"known fail: not explained yet"}},
	"a client without one check": {ok: true,
		outcomes: []string{"PASS: " + top + "/client/sampled"},
		saysNot:  []string{"results-reach-model ("}},
	"a client that never connects": {
		outcomes: []string{"FAIL: " + top + "/client/connects", "FAIL: TestInAUsersPlace/2026-07-28/client/connects",
			"SKIP: " + top + "/basic/answered"},
		says: []string{"the client never used the server; it ended with success",
			"not judged because of client/connects",
			"reproduce         go test -run '^TestInAUsersPlace$/^2025-11-25$/^client$'"}},
	"an unknown scenario": {noSubtest: true,
		says: []string{`conformance: "paralel" matches no scenario, case or check; did you mean parallel?`}},
	"a missing program": {noSubtest: true,
		says: []string{`conformance: the client "no-such-client" cannot be started: exec: "no-such-client": executable ` +
			`file not found in $PATH`}},
}

func TestRunReportsToGoTest(t *testing.T) {
	for name, c := range reportedRuns {
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

func TestAClientThatNeverConnectsIsReportedInAFewLines(t *testing.T) {
	t.Parallel()
	output := func(pattern string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern)
		cmd.Env = append(os.Environ(), inUsersPlace+"=a client that fails before it connects", "GORACE=atexit_sleep_ms=0")
		raw, err := cmd.CombinedOutput()
		require.Error(t, err, string(raw))
		return string(raw)
	}
	out := output("^TestInAUsersPlace$")
	require.Contains(t, out, "the client never used the server; it returned the error: no key")
	require.LessOrEqual(t, strings.Count(out, "\n"), 25, out)
	require.Contains(t, output("^TestInAUsersPlace$/^2025-11-25$/^tasks$"), "not judged because of client/connects")
}
