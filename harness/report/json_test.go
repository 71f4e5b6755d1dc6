package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestResultsSurviveJSON(t *testing.T) {
	for _, rs := range []*report.Results{everything(), calm()} {
		read, err := report.ReadJSON(report.JSON(rs))
		require.NoError(t, err)
		require.Equal(t, rs, read)
	}
}

// Others read these keys.
func TestTheJSONKeysAreStable(t *testing.T) {
	raw := report.JSON(everything())
	var doc struct {
		Client  string
		Summary map[string]int
		Results []map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	require.Equal(t, "node client.js", doc.Client)
	require.Equal(t, map[string]int{"pass": 2, "fail": 2, "warn": 1, "info": 1, "not_applicable": 1, "unsupported": 1,
		"not_observed": 4, "harness_error": 1}, doc.Summary)
	for _, result := range doc.Results {
		for _, key := range strings.Fields("scenario revision check level verdict message requirement") {
			require.Contains(t, result, key)
		}
		require.IsType(t, []any{}, result["evidence"])
	}
	failed := doc.Results[2]
	require.Equal(t, "results-reach-model", failed["check"])
	for _, key := range strings.Fields("cause fix reproduce around cases dialects") {
		require.Contains(t, failed, key)
	}
	requirement := failed["requirement"].(map[string]any)
	require.Equal(t, "2025-11-25/sampling/08", requirement["id"])
	require.Contains(t, requirement["url"], "https://")
	require.Contains(t, requirement, "text")
	require.Contains(t, string(raw), "<tool_result>", "not escaped for HTML")
}

func TestListsAreNeverNull(t *testing.T) {
	raw := string(report.JSON(&report.Results{}))
	require.Contains(t, raw, `"results": []`)
	require.Contains(t, raw, `"pass": 0`)
	rs := &report.Results{Results: []report.Result{{Level: report.Must, Verdict: report.Pass}}}
	require.Contains(t, string(report.JSON(rs)), `"evidence": []`)
	require.Nil(t, rs.Results[0].Evidence, "JSON leaves its argument unchanged")
	_, err := report.ReadJSON([]byte(raw))
	require.NoError(t, err)
}

func TestInvalidResultsAreRefused(t *testing.T) {
	valid := string(report.JSON(calm()))
	change := func(old, new string) string {
		require.Contains(t, valid, old)
		return strings.Replace(valid, old, new, 1)
	}
	for want, doc := range map[string]string{
		"EOF":                                    "",
		"unexpected EOF":                         valid[:len(valid)/2],
		"results is missing or null":             "null",
		"unexpected text after the document":     valid + valid,
		`unknown member "version"`:               `{"version":"2.1.0"}`,
		`results[0].verdict: expected one of `:   change(`"verdict": "pass"`, `"verdict": "passed"`),
		`results[1].level: expected one of `:     change(`"level": "ADVICE"`, `"level": "advice"`),
		"results[0].evidence is missing or null": change(`"evidence": []`, `"evidence": null`),
		`unknown member "frames"`:                change(`"evidence": []`, `"frames": []`),
		"summary: expected map[":                 change(`"pass": 1`, `"pass": 2`),
	} {
		_, err := report.ReadJSON([]byte(doc))
		require.ErrorContains(t, err, "invalid results: ")
		require.ErrorContains(t, err, want)
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

func TestThePublishedSchemaDescribesTheJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/results.schema.json")
	require.NoError(t, err)
	rs := everything()
	rs.Format, rs.Transport, rs.Flags, rs.Interrupted = report.Format, "http", []string{"-v"}, true
	rs.Notes = []string{"note"}
	valid := func(raw []byte) error {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		return schema.Validate(document)
	}
	raw := report.JSON(rs)
	require.NoError(t, valid(raw))
	require.Error(t, valid(bytes.Replace(raw, []byte(`"verdict": "pass"`), []byte(`"verdict": "green"`), 1)))
	require.Error(t, valid(bytes.Replace(raw, []byte(`"tool"`), []byte(`"tools"`), 1)))
}

func TestResultsOfAnotherFormatAreRefused(t *testing.T) {
	_, err := report.ReadJSON([]byte(`{"format": 99, "results": [], "summary": {}}`))
	require.ErrorContains(t, err, "format: expected at most 1, found 99")
}
