package conformance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/conversation"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

var sound = harness.InProcess(reference.Client(reference.Config{Plain: true}))

// nullFrame is the number of the first frame of seed 3 with null as its first message.
const nullFrame = 7

var shrunkRequests = map[string]struct {
	check, params string
	revision      server.Revision
	seed          int64
	fuzz          int
}{
	"dies-of-null":         {"malformed/survives", `{"messages":[null]}`, server.V20251125, 3, nullFrame},
	"drops-malformed":      {"malformed/answered", `{}`, server.V20251125, 1, 4},
	"deaf-after-malformed": {"malformed/alive", "", server.V20260728, 1, 0},
}

func TestAMalformedRequestThatBreaksAClientIsShrunkAndKept(t *testing.T) {
	for name, c := range shrunkRequests {
		t.Run(name, func(t *testing.T) {
			if c.fuzz == 0 {
				c.fuzz = 40
			}
			t.Parallel()
			dir := t.TempDir()
			suite := suiteOf(t, mutant(name))
			suite.Revisions, suite.Only, suite.Seed, suite.Fuzz, suite.Keep = []server.Revision{c.revision},
				[]string{"malformed/fuzz-*"}, c.seed, c.fuzz, dir
			suite.ReproduceFile = func(path string) string { return "again with " + path }
			rs, _, err := suite.Run(t.Context())
			require.NoError(t, err)
			r := find(t, rs, c.check)
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			require.NoError(t, err)
			if c.params == "" && r.Verdict == report.Pass {
				require.Empty(t, files, "nothing broke the client")
				return
			}
			require.Equal(t, report.Fail, r.Verdict)
			require.NotEmpty(t, files)
			require.LessOrEqual(t, len(files), 3)
			path := strings.TrimPrefix(r.Reproduce, "again with ")
			kept, err := conversation.Open(path)
			require.NoError(t, err)
			require.Equal(t, c.check, kept.Check)
			require.Equal(t, string(c.revision), kept.Revision)
			if c.params != "" {
				require.JSONEq(t, c.params, string(kept.Steps[0][0].Params), "from %s", kept.Source)
			}
			last := r.Evidence[len(r.Evidence)-1]
			require.Equal(t, "kept", last.Label)
			require.Contains(t, last.Text, dir)

			again := suiteOf(t, mutant(name))
			again.Conversation = path
			rs, traces, err := again.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, report.Fail, find(t, rs, c.check).Verdict, "the file alone breaks the client")
			require.Len(t, traces, 1)
			judged, err := conformance.Judge(traces...)
			require.NoError(t, err)
			require.Equal(t, report.Fail, find(t, judged, c.check).Verdict, "its trace can be judged again")

			correct := suiteOf(t, sound)
			correct.Conversation = path
			rs, _, err = correct.Run(t.Context())
			require.NoError(t, err)
			require.False(t, rs.Failed(false), "a correct client survives it")
		})
	}
}

func TestAnInvalidFileIsAConversationError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const head = `{"mcp-conform":"conversation","revision":`
	for _, c := range [][2]string{
		{filepath.Join(dir, "missing.json"), "missing.json: no such file or directory"},
		{write("torn.json", "{\n\"mcp-conform"), "torn.json:2: invalid conversation: the text is truncated"},
		{write("old.json", head+`"2020-01-01","steps":[]}`), `old.json: unknown revision "2020-01-01"`},
		{write("empty.json", head+`"2025-11-25","steps":[]}`), "empty.json: steps: expected at least one, found none"},
		{write("x.json", head+`"2025-11-25","steps":[[{"params":{}}]]}`), "x.json: steps[0][0].params: "},
	} {
		path, want := c[0], c[1]
		suite := conformance.Suite{Client: sound, Options: hooks.Options{Conversation: path}}
		_, _, err := suite.Run(t.Context())
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*conformance.ConversationError))
	}
}

func TestAFolderThatIsNotWritableIsAnError(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	suite := suiteOf(t, mutant("dies-of-null"))
	suite.Revisions, suite.Only = []server.Revision{server.V20251125}, []string{"malformed/fuzz-0007"}
	suite.Seed, suite.Fuzz, suite.Keep = 3, nullFrame, blocked
	rs, _, err := suite.Run(t.Context())
	require.ErrorContains(t, err, "keeping a conversation")
	require.NotNil(t, rs, "the results are returned all the same")
}

// Under go test, the environment names the conversation and the report shows the command.
func TestRunPlaysTheConversationThatTheEnvironmentNames(t *testing.T) {
	c := conversation.Conversation{Revision: "2025-11-25", Check: "malformed/survives",
		Steps: []conversation.Step{{{Params: json.RawMessage(`{"messages":[null]}`), Hostile: true}}}}
	path, err := c.Keep(t.TempDir(), "null")
	require.NoError(t, err)
	for name, outcome := range map[string]string{"a client that survives any frame": "PASS",
		"a client that crashes on null": "FAIL"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInAUsersPlace$", "-test.v")
		cmd.Env = append(os.Environ(), inUsersPlace+"="+name, "MCP_CONFORM_CONVERSATION="+path,
			"GORACE=atexit_sleep_ms=0")
		raw, err := cmd.CombinedOutput()
		out := string(raw)
		require.Equal(t, outcome == "PASS", err == nil, out)
		require.Contains(t, out, outcome+": TestInAUsersPlace/2025-11-25/malformed/survives")
		require.NotContains(t, out, "2026-07-28", "a conversation belongs to one revision")
		if outcome == "FAIL" {
			require.Contains(t, out, "MCP_CONFORM_CONVERSATION="+path+" go test -run '^TestInAUsersPlace$'")
		} else {
			require.Contains(t, out, "2 conversations and 1 more malformed requests per revision, from seed 1")
		}
	}
}

func init() {
	usersTests["a client that survives any frame"] = func(t *testing.T) {
		conformance.Run(t, harness.InProcess(reference.Client(reference.Config{Plain: true})), conformance.Fuzz(1),
			conformance.Explore(2), conformance.Keep(t.TempDir()))
	}
	usersTests["a client that crashes on null"] = func(t *testing.T) { conformance.Run(t, mutant("dies-of-null")) }
}
