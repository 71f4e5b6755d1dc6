package conformance

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// FuzzJudge judges traces that somebody has tampered with: whatever is in a file, judging it is no crash, and gives the same every time.
func FuzzJudge(f *testing.F) {
	for _, revision := range check.AllRevisions() {
		for _, d := range []string{dialect.Native, dialect.OpenAIChat} {
			for _, tell := range []func() *tracetest.Story{
				func() *tracetest.Story {
					s := tracetest.Begin(f, catalogue(), revision, d, "basic/question")
					tracetest.Right(s)
					return s
				},
				func() *tracetest.Story {
					s := tracetest.Begin(f, catalogue(), revision, d, "tool-use/one-tool")
					tracetest.Uses(tracetest.Booked())(s)
					return s
				},
				func() *tracetest.Story {
					s := tracetest.Begin(f, catalogue(), revision, d, "parallel/two-cities")
					tracetest.GoesOn(tracetest.TwoUses(), tracetest.WeatherResults, tracetest.AsItIs)(s)
					return s
				},
				func() *tracetest.Story {
					s := tracetest.Begin(f, catalogue(), revision, d, "parallel/failing-tool")
					tracetest.GoesOn(tracetest.TwoUses(), story.OneFails, tracetest.AsItIs)(s)
					return s
				},
				func() *tracetest.Story {
					s := tracetest.Begin(f, catalogue(), revision, d, "parallel/result-image")
					tracetest.GoesOn(tracetest.TwoUses(), story.Texts("mild"), tracetest.AsItIs)(s)
					return s
				},
			} {
				var file bytes.Buffer
				if err := tell().Ends(trace.Process{}).Trace.Write(&file); err != nil {
					f.Fatal(err)
				}
				f.Add(file.Bytes(), "", "")
				f.Add(file.Bytes(), `messages`, `massages`)
				f.Add(file.Bytes(), `\"user\"`, `\"assistant\"`)
				f.Add(file.Bytes(), `\"content\"`, `\"contents\"`)
				f.Add(file.Bytes(), `"call":1`, `"call":99999999`)
				f.Add(file.Bytes(), `\"maxTokens\":1000`, `\"maxTokens\":\"x\"`)
				f.Add(file.Bytes(), `"http":`, `"stream":"x","closed":true,"hppt":`)
			}
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, old, new string) {
		if old != "" {
			file = bytes.ReplaceAll(file, []byte(old), []byte(new))
		}
		tr, err := trace.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		rs, err := Judge(tr)
		if err != nil {
			return
		}
		raw := report.JSON(rs)
		require.True(t, json.Valid(raw))
		again, err := Judge(tr)
		require.NoError(t, err)
		require.Equal(t, string(raw), string(report.JSON(again)))
	})
}
