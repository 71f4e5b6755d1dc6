package conformance

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// FuzzJudge judges edited traces: judging never panics, and gives the same results every time.
func FuzzJudge(f *testing.F) {
	stories := []struct {
		caseID string
		steps  func(*tracetest.Story)
	}{
		{"basic/question", tracetest.Right},
		{"tool-use/one-tool", tracetest.Uses(tracetest.Booked())},
		{"parallel/two-cities", tracetest.GoesOn(tracetest.TwoUses(), tracetest.WeatherResults, tracetest.AsItIs)},
		{"parallel/failing-tool", tracetest.GoesOn(tracetest.TwoUses(), story.OneFails, tracetest.AsItIs)},
		{"parallel/result-image", tracetest.GoesOn(tracetest.TwoUses(), story.Texts("mild"), tracetest.AsItIs)},
	}
	edits := [][2]string{{}, {`messages`, `massages`}, {`\"user\"`, `\"assistant\"`}, {`\"content\"`, `\"contents\"`},
		{`"call":1`, `"call":99999999`},
		{`\"maxTokens\":1000`, `\"maxTokens\":\"x\"`}, {`"http":`, `"stream":"x","closed":true,"hppt":`}}
	for i, one := range stories {
		for _, revision := range tracetest.BothEras {
			s := tracetest.Begin(f, catalogue(), revision, []string{dialect.Native, dialect.OpenAIChat}[i%2], one.caseID)
			one.steps(s)
			var file bytes.Buffer
			if err := s.Ends(trace.Process{}).Trace.Write(&file); err != nil {
				f.Fatal(err)
			}
			for _, edit := range edits {
				f.Add(file.Bytes(), edit[0], edit[1])
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
