// Package reports_test reads our reports with other people's parsers.
package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// hostile is text of a client that tries to break formats.
const hostile = "``` ]]> </testsuite> | a | b |\n# head\n| x | y |\n\x1b[31m<script>alert(1)</script>\x00\xff"

func results() *report.Results {
	rs := &report.Results{Tool: "v1", Client: hostile}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for i, v := range report.Verdicts() {
			rs.Results = append(rs.Results, report.Result{Scenario: "s", Check: string(v), Revision: revision, Verdict: v,
				Level: report.Must, Message: hostile, Fix: hostile, Reproduce: hostile, DurationMS: int64(100 * i),
				Requirement: &report.Requirement{ID: "x", Text: hostile, URL: "https://example.com/a#b"}})
		}
		rs.Results = append(rs.Results, report.Result{Scenario: "s", Check: "known", Revision: revision, Verdict: report.Fail,
			Level: report.Must, Message: hostile, Known: &report.Known{Reason: hostile}})
	}
	rs.Baseline = &report.Baseline{Problems: []report.BaselineProblem{{Kind: "stale", Check: "s/c", Message: hostile}}}
	rs.Count()
	return rs
}

func TestAJUnitParserFindsEveryResult(t *testing.T) {
	rs := results()
	suites, err := junit.Ingest(report.JUnit(rs, false))
	require.NoError(t, err)
	var totals junit.Totals
	for _, s := range suites {
		s.Aggregate()
		totals.Tests += s.Totals.Tests
		totals.Failed += s.Totals.Failed
		totals.Error += s.Totals.Error
		totals.Skipped += s.Totals.Skipped
		totals.Passed += s.Totals.Passed
	}
	require.Equal(t, len(rs.Results)+1, totals.Tests)
	require.Equal(t, 2*2+1, totals.Failed, "fail and not_observed in two revisions, and the baseline")
	require.Equal(t, 2, totals.Error)
	require.Equal(t, 2*3, totals.Skipped, "known, unsupported and not_applicable")
	require.Equal(t, 2*3, totals.Passed, "pass, info and warn")
	for _, s := range suites {
		for _, c := range s.Tests {
			if c.Status == junit.StatusFailed && c.Classname != "baseline" {
				require.Contains(t, c.Error.Error(), "<script>alert(1)</script>", "the text is whole")
			}
		}
	}
}

func TestAMarkdownParserFindsOurHeadingsAndNoneOfTheClients(t *testing.T) {
	source := report.Markdown(results(), report.MarkdownOptions{})
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	headings, tables, raw := 0, 0, 0
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings++
		case *table.Table:
			tables++
			require.Equal(t, 2, n.ChildCount(), "a head and one scenario")
		case *ast.HTMLBlock:
			raw++
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(source)); !strings.HasSuffix(tag, "code>") {
				raw++
			}
		case *ast.Link:
			require.Equal(t, "https://example.com/a#b", string(n.Destination))
		}
		return ast.WalkContinue, nil
	}))
	require.Equal(t, 5, headings, "the title, the baseline, and three failures that revisions share")
	require.Equal(t, 1, tables)
	require.Zero(t, raw, "no HTML of the client")
	var page bytes.Buffer
	require.NoError(t, goldmark.Convert(source, &page))
	require.NotContains(t, page.String(), "<script>")
}
