package malformed

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

func TestRequestsAreValidBeforeTheyAreBroken(t *testing.T) {
	for _, revision := range revisions {
		for n := range 60 {
			raw := request(seeded(1, n), revision >= withTools).bytes()
			require.NoError(t, schema.Validate(revision, schema.CreateMessageRequestParams, raw), "%s: %s", revision, raw)
			require.Contains(t, string(raw), MarkPlaceholder)
		}
	}
}

func TestEveryFrameIsJSONAndMostAreInvalid(t *testing.T) {
	for _, revision := range revisions {
		wrong, tools := 0, 0
		seen := map[string]bool{}
		for n := range 120 {
			f := Generate(revision, 7, n)
			require.True(t, json.Valid(f.Params), "%s", f.Params)
			require.NotEmpty(t, f.Broken)
			require.False(t, f.Tools && revision < withTools, "%s", f.Params)
			require.NotContains(t, string(f.Params), "\n", "stdio frames are lines")
			if schema.Validate(revision, schema.CreateMessageRequestParams, f.Params) != nil {
				wrong++
			}
			if f.Tools {
				tools++
			}
			seen[string(f.Params)] = true
		}
		require.Greater(t, wrong, 70, "%s: most frames are invalid", revision)
		require.Less(t, wrong, 120, "%s: some frames are valid", revision)
		require.Equal(t, revision >= withTools, tools > 25)
		require.Greater(t, len(seen), 105, "they differ")
	}
}

func TestTheSameSeedGivesTheSameFrames(t *testing.T) {
	for n := range 50 {
		require.Equal(t, Generate("2025-11-25", 3, n), Generate("2025-11-25", 3, n))
		require.NotEqual(t, Generate("2025-11-25", 3, n).Params, Generate("2025-11-25", 4, n).Params)
	}
}

func TestEveryWayToBreakIsUsed(t *testing.T) {
	var said strings.Builder
	for n := range 700 {
		said.WriteString(Generate("2025-11-25", 1, n).Broken + "\n")
	}
	for _, how := range []string{" is missing", ` is "seven"`, " is null", `role is "system"`, `type is "`,
		"is in an array", "is in an object",
		"is in 640 arrays", `data is "not base64!"`, " is 1e400", "occurs twice", `is "\ud800"`, " is []", "is repeated ",
		`has a member "__proto__"`, ", and "} {
		require.True(t, strings.Contains(said.String(), how), how)
	}
}

func TestShrinkKeepsWhatBreaksTheClient(t *testing.T) {
	member := func(p map[string]any, name string) bool { _, there := p[name]; return there }
	for name, c := range map[string]struct {
		from   string
		breaks func(p map[string]any) bool
		want   string
	}{
		"member": {`{"messages":[{"role":"user"},{"role":"assistant"}],"maxTokens":1e400,"systemPrompt":"long"}`,
			func(p map[string]any) bool { return member(p, "maxTokens") }, `{"maxTokens":1e400}`},
		"null in a list": {`{"messages":[{"role":"user","content":{"type":"text","text":"hello"}},null,{"role":"user"}],` +
			`"maxTokens":7}`,
			func(p map[string]any) bool {
				messages, _ := p["messages"].([]any)
				return slices.Contains(messages, any(nil))
			}, `{"messages":[null]}`},
		"depth": {`{"metadata":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
			func(p map[string]any) bool { return depth(p["metadata"]) > 100 }, `{"metadata":` + strings.Repeat("[", 101) +
				strings.Repeat("]", 101) + `}`},
		"length": {`{"systemPrompt":"` + strings.Repeat("x", 30000) + `"}`,
			func(p map[string]any) bool { s, _ := p["systemPrompt"].(string); return len(s) > 1000 }, `{"systemPrompt":"` +
				strings.Repeat("x", 1875) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			tried := 0
			got := Shrink([]byte(c.from), 500, func(raw []byte) bool {
				tried++
				var p map[string]any
				require.NoError(t, json.Unmarshal(bytes.ReplaceAll(raw, []byte("1e400"), []byte("1")), &p))
				return c.breaks(p)
			})
			require.Equal(t, c.want, string(got))
			require.LessOrEqual(t, tried, 500)
		})
	}
}

func depth(v any) int {
	list, ok := v.([]any)
	if !ok {
		return 0
	}
	if len(list) == 0 {
		return 1
	}
	return 1 + depth(list[0])
}

func TestShrinkLimitsItsAttempts(t *testing.T) {
	tried := 0
	whole := Generate("2025-11-25", 1, 1).Params
	got := Shrink(whole, 5, func([]byte) bool { tried++; return false })
	require.Equal(t, string(whole), string(got), "nothing smaller breaks the client")
	require.Equal(t, 5, tried)
	require.Equal(t, "not JSON", string(Shrink([]byte("not JSON"), 5, func([]byte) bool { return true })))
}

func TestDuplicateMembersAreKept(t *testing.T) {
	raw := `{"a":1,"a":"\ud800","b":[{"c":1e400}]}`
	n, err := parse([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, raw, string(n.bytes()))
	_, err = parse([]byte(`{"a":`))
	require.EqualError(t, err, "not JSON")
}

func TestFileKeepsTheParamsByteForByte(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "frames")
	f := &File{Revision: "2025-11-25", Source: "seed 7, frame 31", Broken: `messages[0] is "\ud800"`,
		Check: "malformed/survives", Message: "it panicked",
		Params: json.RawMessage(`{"a":1,"a":"\ud800<é>","b":1e400}`)}
	path, err := f.Keep(dir, "fuzz-31")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "2025-11-25-fuzz-31.json"), path)
	got, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, f, got)
	_, err = f.Keep(dir, "fuzz-31")
	require.NoError(t, err, "a file is replaced")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")

	blocked := filepath.Join(dir, "2025-11-25-taken.json")
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o755))
	_, err = f.Keep(dir, "taken")
	require.ErrorContains(t, err, "keeping a frame as "+blocked)
	_, err = f.Keep(path, "x")
	require.ErrorContains(t, err, "keeping a frame: ")
	require.ErrorContains(t, f.Write(failing{}), "disk full")
	_, err = Open(filepath.Join(dir, "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestInvalidFilesAreRejected(t *testing.T) {
	for raw, want := range map[string]string{
		``:                                                "invalid frame: the text is truncated",
		`{"mcp-conform":"frame","revision"`:               "invalid frame: the text is truncated",
		`{"mcp-conform":"outcome"}`:                       `invalid frame: expected "mcp-conform": "frame", found "outcome"`,
		`{"mcp-conform":"frame","tool":1}`:                `invalid frame: json: unknown field "tool"`,
		`{"mcp-conform":"frame"} x`:                       "invalid frame: unexpected text after its end",
		`{"mcp-conform":"frame","params":1}`:              "invalid frame: no revision",
		`{"mcp-conform":"frame","revision":"2025-11-25"}`: "invalid frame: no params",
	} {
		_, err := Read([]byte(raw))
		require.EqualError(t, err, want, raw)
	}
	path := filepath.Join(t.TempDir(), "frame.json")
	require.NoError(t, os.WriteFile(path, []byte(`{}`), 0o600))
	_, err := Open(path)
	require.EqualError(t, err, path+`: invalid frame: expected "mcp-conform": "frame", found ""`)
	_, err = NewFrame([]byte(`{"a"`))
	require.EqualError(t, err, "params: not JSON")
}

// Frames are valid JSON for any seed.
func FuzzGenerate(f *testing.F) {
	f.Add(int64(1), 0)
	f.Add(int64(-1), 1<<40)
	f.Fuzz(func(t *testing.T, seed int64, n int) {
		for _, revision := range revisions {
			frame := Generate(revision, seed, n)
			require.True(t, json.Valid(frame.Params))
			again, err := NewFrame(frame.Params)
			require.NoError(t, err)
			again.Broken = frame.Broken
			require.Equal(t, frame, again)
		}
	})
}

// No text crashes Read, and a file that it reads can be written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"mcp-conform":"frame","revision":"2025-11-25","from":"seed 1","broken":"b","check":"c","says":"s",` +
		`"params":{"a":1,"a":2}}`))
	f.Add([]byte(`{"mcp-conform":"frame","revision":"x","params":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Read(raw)
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, file.Write(&b))
		again, err := Read(b.Bytes())
		require.NoError(t, err)
		require.Equal(t, file, again)
	})
}
