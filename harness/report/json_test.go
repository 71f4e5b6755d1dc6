package report_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestWhatIsWrittenIsWhatIsRead(t *testing.T) {
	for name, rs := range map[string]*report.Results{"everything": everything(), "calm": calm()} {
		read, err := report.ReadJSON(report.JSON(rs))
		require.NoError(t, err, name)
		require.Equal(t, rs, read, name)
	}
}

func TestTheKeysAreThoseThatOthersRead(t *testing.T) {
	var doc map[string]any
	require.NoError(t, json.Unmarshal(report.JSON(everything()), &doc))
	require.Subset(t, slices.Collect(maps.Keys(doc)), []string{"client", "summary", "results"})
	require.Equal(t, "node client.js", doc["client"])
	require.Equal(t, map[string]any{"pass": 2.0, "fail": 2.0, "warn": 1.0, "info": 1.0, "not_applicable": 1.0, "unsupported": 1.0,
		"not_observed": 4.0, "harness_error": 1.0}, doc["summary"])
	for _, item := range doc["results"].([]any) {
		result := item.(map[string]any)
		require.Subset(t, slices.Collect(maps.Keys(result)), []string{"scenario", "revision", "check", "level", "verdict", "message",
			"requirement", "evidence", "duration_ms"}, "each result has each of them")
		require.IsType(t, []any{}, result["evidence"])
		require.IsType(t, 0.0, result["duration_ms"])
	}
	broken := doc["results"].([]any)[2].(map[string]any)
	require.Equal(t, "results-reach-model", broken["check"])
	requirement := broken["requirement"].(map[string]any)
	require.Equal(t, "2025-11-25/sampling/08", requirement["id"])
	require.Contains(t, requirement["url"], "https://")
	require.Contains(t, string(report.JSON(everything())), "<tool_result>", "read by people, too: nothing is escaped for a web page")
}

func TestNothingIsEverNullThatIsAList(t *testing.T) {
	raw := string(report.JSON(&report.Results{}))
	require.Contains(t, raw, `"results": []`)
	require.Contains(t, raw, `"pass": 0`)
	rs := &report.Results{Results: []report.Result{{Level: report.Must, Verdict: report.Pass}}}
	require.Contains(t, string(report.JSON(rs)), `"evidence": []`)
	require.Nil(t, rs.Results[0].Evidence, "what is encoded is left as it is")
	_, err := report.ReadJSON([]byte(raw))
	require.NoError(t, err)
}

func TestResultsThatCannotBeTrustedAreNotRead(t *testing.T) {
	whole := string(report.JSON(calm()))
	change := func(old, new string) string {
		require.Contains(t, whole, old)
		return strings.Replace(whole, old, new, 1)
	}
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":               {"", "unreadable results: EOF"},
		"cut in the middle":     {whole[:len(whole)/2], "unreadable results: unexpected EOF"},
		"null":                  {"null", "unreadable results: there are none: results is missing or null"},
		"two documents":         {whole + whole, "unreadable results: there is more after the document"},
		"a foreign document":    {`{"version":"2.1.0"}`, `unreadable results: json: unknown field "version"`},
		"an unknown verdict":    {change(`"verdict": "pass"`, `"verdict": "passed"`), `unreadable results: results[0].verdict is "passed": want one of ["fail" "harness_error" "not_observed" "warn" "info" "pass" "unsupported" "not_applicable"]`},
		"an unknown level":      {change(`"level": "ADVICE"`, `"level": "advice"`), `unreadable results: results[1].level is "advice": want one of ["MUST" "SHOULD" "MAY" "ROBUST" "ADVICE"]`},
		"frames that are null":  {change(`"evidence": []`, `"frames": null`), "unreadable results: results[0].frames is missing or null"},
		"a summary that is off": {change(`"pass": 1`, `"pass": 2`), "unreadable results: summary is map[fail:0 harness_error:0 info:0 not_applicable:0 not_observed:0 pass:2 unsupported:0 warn:1], and the results count map[fail:0 harness_error:0 info:0 not_applicable:0 not_observed:0 pass:1 unsupported:0 warn:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := report.ReadJSON([]byte(c.doc))
			require.EqualError(t, err, c.want)
		})
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add(report.JSON(everything()))
	f.Add(report.JSON(calm()))
	f.Add([]byte(`{"results":[],"summary":{}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rs, err := report.ReadJSON(raw)
		if err != nil {
			require.Nil(t, rs)
			return
		}
		again, err := report.ReadJSON(report.JSON(rs))
		require.NoError(t, err)
		require.Equal(t, string(report.JSON(rs)), string(report.JSON(again)))
		report.Text(rs, report.TextOptions{Color: true})
	})
}
