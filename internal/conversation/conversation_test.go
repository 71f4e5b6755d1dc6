package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

func written(t *testing.T, c *Conversation) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	return b.String()
}

func TestGeneratedConversationsAreValid(t *testing.T) {
	for _, revision := range revisions {
		for n := range 100 {
			c := Generate(revision, 1, n)
			require.NoError(t, c.Validate(), "%s, %d: %s", revision, n, written(t, c))
			again, err := Read([]byte(written(t, c)))
			require.NoError(t, err)
			require.Equal(t, written(t, c), written(t, again))
			_, chosen := Generated(revision, 1, n)
			require.Equal(t, string(c.JSON()), string(Chosen(revision, chosen).JSON()), "the choices make it again")
		}
	}
}

func TestEqualSeedsGiveEqualConversations(t *testing.T) {
	seen := map[string]bool{}
	for n := range 100 {
		one := written(t, Generate("2025-11-25", 3, n))
		require.Equal(t, one, written(t, Generate("2025-11-25", 3, n)))
		require.Equal(t, Generate("2025-11-25", 3, n).Steps, Generate("2026-07-28", 3, n).Steps)
		require.NotEqual(t, one, written(t, Generate("2025-11-25", 4, n)))
		seen[one] = true
	}
	require.Len(t, seen, 100)
}

// What real traffic holds occurs among a thousand conversations.
func TestConversationsAreRich(t *testing.T) {
	var all strings.Builder
	several, rounds := 0, 0
	for n := range 1000 {
		c := Generate("2025-11-25", 1, n)
		for _, s := range c.Steps {
			if len(s) > 1 {
				several++
			}
			for _, x := range s {
				rounds = max(rounds, len(x.Rounds))
			}
		}
		all.WriteString(written(t, c))
	}
	require.Greater(t, several, 100)
	require.Equal(t, 3, rounds)
	for _, part := range []string{`"systemPrompt":"`, `"temperature":0,`, `"stopSequences":["END"]`, `"stopSequences":[]`,
		`"includeContext":"none"`, `"_meta"`, `"hints"`, `"mode":"required"`, `"mode":"none"`, `"toolChoice":{}`,
		`"type":"image"`, `"type":"audio"`, `"type":"resource"`, `"type":"resource_link"`, `"structuredContent"`,
		`"isError":false`, `"isError":true`, `"content":[]`, `"input":{}`, `null`, `9007199254740991`, `1e-7`, `0.5`,
		`\r\n`, `e` + "\u0301", `\u0007`, "👩‍👩‍👧‍👦", `  "`, `" `, `"status":429`, `"stopReason":"refusal"`,
		`"stopReason":"maxTokens"`, `"stopReason":"stopSequence"`, `"answer":{}`, `"split":"bytes"`, `"reverse":true`} {
		require.True(t, strings.Contains(all.String(), part), part)
	}
}

// What a shrinker makes of choices, and worse.
func TestAnyChoicesMakeAValidConversation(t *testing.T) {
	others := []string{"0", "1", "2", "99", `"x"`, "{}", "[]", "null", "[[]]", "[{},{},{}]", "[{},{},{},{},{},{},{}]"}
	for i, revision := range revisions {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for n := range 200 {
			_, chosen := Generated(revision, 1, n)
			tree := jsonvalue.Must(string(chosen))
			for range 1 + r.IntN(6) {
				all := jsonvalue.Places(tree, "")
				if len(all) == 0 {
					break
				}
				if p := all[r.IntN(len(all))]; r.IntN(2) == 0 {
					p.Holder.Remove(p.I)
				} else {
					p.Replace(jsonvalue.Must(others[r.IntN(len(others))]))
				}
			}
			c := Chosen(revision, tree.Bytes())
			require.NoError(t, c.Validate(), "%s\n%s", tree.Bytes(), c.JSON())
		}
	}
}

func TestNoChoicesMakeTheSimplestConversation(t *testing.T) {
	const simplest = `[[{"params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"a"}}]}}]]`
	for _, chosen := range []string{"{}", "[]", "7", "", `{"steps":[]}`, `{"steps":[{}]}`,
		`{"steps":[{"exchanges":[{}]}]}`} {
		require.JSONEq(t, simplest, string(Chosen("2025-11-25", []byte(chosen)).JSON()), chosen)
	}
}

func TestInvalidConversationsAreRejected(t *testing.T) {
	const ask = `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"maxTokens":1`
	const tools = `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]`
	const more = `},"answer":`
	const one = `{"content":[{"type":"tool_use","name":"t"}]}`
	for _, c := range [][2]string{
		{`{}`, "steps[0][0].params: missing"},
		{`{"params":{}}`, "steps[0][0].params: "},
		{`{"params":` + ask + `,"tools":1}}`, "steps[0][0].params: "},
		{`{"params":` + ask + `,"toolChoice":{}}}`, "answer: toolChoice needs tools"},
		{`{"params":` + ask + tools + `,"toolChoice":{"mode":"required"}}}`, "requires a tool use"},
		{`{"params":` + ask + more + `{"status":200}}`, "answer: status"},
		{`{"params":` + ask + more + `{"stopReason":"toolUse"}}`, "answer: stopReason"},
		{`{"params":` + ask + more + `{"stopReason":"stopSequence"}}`, "no stopSequences"},
		{`{"params":` + ask + more + `{"split":"half"}}`, "answer: split"},
		{`{"params":` + ask + more + `{"content":[{"type":"text"}]}}`, "answer: content[0]"},
		{`{"params":` + ask + more + one + `}`, `the tool "t" is not in tools`},
		{`{"params":` + ask + tools + more + one + `}`, "content[0].input"},
		{`{"params":` + ask + `},"rounds":[{"results":[{"content":[]}]}]}`, "rounds[0].results: expected one for each"},
		{`{"params":` + ask + `},"hostile":true,"answer":{}}`, "hostile: such a request must be alone"},
		{`{"params":` + strings.Replace(ask, `"a"`, `" "`, 1) + `}}`,
			"params: messages[0].content: expected a text, found only blanks"},
		{`{"params":` + strings.Replace(ask, `{"type":"text","text":"a"}`, `{"type":"image","data":"!","mimeType":"x"}`, 1) +
			`}}`, "params: messages[0].content.data: expected base64"},
	} {
		steps, want := `[[`+c[0]+`]]`, c[1]
		c := Conversation{Revision: "2025-11-25"}
		require.NoError(t, json.Unmarshal([]byte(steps), &c.Steps), steps)
		require.ErrorContains(t, c.Validate(), want, steps)
	}
	require.ErrorContains(t, (&Conversation{}).Validate(), "steps: expected at least one")
	require.ErrorContains(t, (&Conversation{Steps: []Step{{}}}).Validate(), "steps[0]: expected an exchange")
}

func TestAFileKeepsHostileParamsByteForByte(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	c := &Conversation{Revision: "2025-11-25", Source: "seed 7", Check: "malformed/survives", Message: "it panicked",
		Steps: []Step{{{Params: json.RawMessage(`{"a":1,"a":"\ud800<é>\u2028","b":1e400}`), Hostile: true}}}}
	path, err := c.Keep(dir, "fuzz-31")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "2025-11-25-fuzz-31.json"), path)
	got, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, c, got)
	_, err = c.Keep(dir, "fuzz-31")
	require.NoError(t, err, "a file is replaced")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")

	blocked := filepath.Join(dir, "2025-11-25-taken.json")
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o755))
	_, err = c.Keep(dir, "taken")
	require.ErrorContains(t, err, "keeping a conversation as "+blocked)
	_, err = c.Keep(path, "x")
	require.ErrorContains(t, err, "keeping a conversation: ")
	require.ErrorContains(t, c.Write(failing{}), "disk full")
	_, err = Open(filepath.Join(dir, "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTheErrorForAnInvalidFileNamesTheLine(t *testing.T) {
	const head = "{\"mcp-conform\":\"conversation\",\n"
	for _, c := range [][2]string{
		{``, ":1: invalid conversation: the text is truncated"},
		{head + `"revision"` + "\n", ":2: invalid conversation: the text is truncated"},
		{head + "\n\"revision\":}",
			":3: invalid conversation: invalid character '}' looking for beginning of value"},
		{`{"mcp-conform":"outcome"}`,
			`:1: invalid conversation: expected "mcp-conform": "conversation", found "outcome"`},
		{head + "\"version\":2}",
			":1: invalid conversation: expected version 1, found 2: use the mcp-conform that wrote it"},
		{head + "\"steps\":[],\n\"tool\":1}", `:3: invalid conversation: unknown member "tool"`},
		{head + "\"steps\":[],\n\"from\":1}", `:3: invalid conversation: from: expected a string, found a number`},
		{head + "\"revision\":\"x\"}\nx", ":2: invalid conversation: unexpected text after its end"},
		{head + "\"steps\":[]}", ":1: invalid conversation: revision: missing"},
	} {
		raw, want := c[0], c[1]
		_, err := Read([]byte(raw))
		require.EqualError(t, err, want, raw)
	}
	path := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(path, []byte(`{`), 0o600))
	_, err := Open(path)
	require.EqualError(t, err, path+`:1: invalid conversation: the text is truncated`)
}

func TestTheExampleOfTheDocumentsIsValid(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "running.md"))
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```json\n// oslo.json\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	c, err := Read([]byte(example))
	require.NoError(t, err)
	require.NoError(t, c.Validate())
}

// Conversations are valid for any seed.
func FuzzGenerate(f *testing.F) {
	f.Add(int64(1), 0)
	f.Add(int64(-1), 1<<40)
	f.Fuzz(func(t *testing.T, seed int64, n int) {
		for _, revision := range revisions {
			require.NoError(t, Generate(revision, seed, n).Validate())
		}
	})
}

// No text crashes Read and Validate, or makes choices of an invalid conversation. A file that Read reads can be written
// again.
func FuzzRead(f *testing.F) {
	for n := range 5 {
		var b bytes.Buffer
		require.NoError(f, Generate("2025-11-25", 1, n).Write(&b))
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"mcp-conform":"conversation","revision":"x","steps":[[{"params":{"a":1,"a":2},"hostile":true}]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.NoError(t, Chosen("2025-11-25", raw).Validate())
		c, err := Read(raw)
		if err != nil {
			return
		}
		_ = c.Validate()
		var b bytes.Buffer
		require.NoError(t, c.Write(&b))
		again, err := Read(b.Bytes())
		require.NoError(t, err)
		var twice bytes.Buffer
		require.NoError(t, again.Write(&twice))
		require.Equal(t, b.String(), twice.String())
	})
}
