// Package html encodes the results of one or several runs as one page that needs no network: an overview by scenario,
// revision and client, and each finding with a picture of the messages around it.
package html

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// Run is a column of the page: results and, if there are any, the traces with their messages.
type Run struct {
	*report.Results
	Traces []*trace.Trace
}

// Encode encodes the runs as a page. In strict runs, warnings fail, too. Equal runs give equal bytes.
func Encode(runs []Run, strict bool) []byte {
	data := document(runs, strict)
	raw, err := json.Marshal(data) // It escapes <, > and &, so that no text ends the element.
	if err != nil {
		panic(fmt.Sprintf("html: encoding plain results cannot fail: %v", err))
	}
	// One pass, so that no value is read as a place. html/template would add half a megabyte.
	page := strings.NewReplacer("{{.Title}}", html.EscapeString(data.Title), "{{.CSS}}", pageCSS, "{{.JS}}", pageJS,
		"{{.Data}}", string(raw))
	return []byte(page.Replace(pageHTML))
}

// The data of the page. Short names keep a page of many runs small.
type pageData struct {
	Title     string       `json:"title"`
	Pages     string       `json:"pages"` // of the checks
	Runs      []runData    `json:"runs"`
	Checks    []checkData  `json:"checks"`
	Columns   []columnData `json:"columns"`
	Findings  []finding    `json:"findings"`
	Texts     []string     `json:"texts"`
	textIndex map[string]int
}

type runData struct {
	Client   string                   `json:"client"`
	Tool     string                   `json:"tool"`
	Seed     int64                    `json:"seed"`
	Headline string                   `json:"headline"`
	Failed   bool                     `json:"failed"`
	Problems []report.BaselineProblem `json:"problems,omitempty"`
}

type checkData struct {
	Scenario string `json:"s"`
	Check    string `json:"c"`
}

// columnData is a run in a revision. Cells has a letter for each check, and Messages the index of its text.
type columnData struct {
	Run      int    `json:"run"`
	Revision string `json:"revision"`
	Cells    string `json:"cells"`
	Messages []int  `json:"messages"`
}

type finding struct {
	Column int    `json:"column"`
	Check  int    `json:"check"`
	Cell   string `json:"cell"`
	*report.Result
	Steps []stepData `json:"around,omitempty"`
}

// stepData is a step with the index of its message; -1 if no trace has it.
type stepData struct {
	report.Step
	Message int `json:"message"`
}

// Letters of cells: one for each verdict, and one for known failures. What was not judged because another check failed
// has the letter of unsupported: the legend is that of the other reports.
var letters = map[report.Verdict]string{report.Pass: "p", report.Fail: "f", report.HarnessError: "h",
	report.NotObserved: "o", report.Warn: "w", report.Info: "i", report.Unsupported: "u", report.NotApplicable: "n"}

const (
	knownLetter  = "k"
	absentLetter = "."
	// longestMessage is how much of a message a page has, in bytes.
	longestMessage = 24 << 10
)

func document(runs []Run, strict bool) *pageData {
	d := &pageData{Title: "mcp-conform", Findings: []finding{}, textIndex: map[string]int{}}
	index := map[checkData]int{}
	for _, run := range runs {
		for i := range run.Results.Results {
			r := &run.Results.Results[i]
			if id := (checkData{r.Scenario, r.Check}); index[id] == 0 {
				d.insert(id, index)
			}
		}
	}
	for n, run := range runs {
		d.addRun(n, run, strict, index)
	}
	if len(runs) > 0 {
		d.Pages = report.CheckPages(runs[0].Tool)
	}
	if len(runs) == 1 {
		d.Title = runs[0].Client + " · mcp-conform"
	}
	return d
}

// insert appends a check behind the others of its scenario. index counts from 1.
func (d *pageData) insert(id checkData, index map[checkData]int) {
	at := len(d.Checks)
	for i := range d.Checks {
		if d.Checks[i].Scenario == id.Scenario {
			at = i + 1
		}
	}
	d.Checks = slices.Insert(d.Checks, at, id)
	for i, c := range d.Checks {
		index[c] = i + 1
	}
}

func (d *pageData) addRun(n int, run Run, strict bool, index map[checkData]int) {
	rs := run.Results
	one := runData{Client: rs.Client, Tool: rs.Tool, Seed: rs.Seed, Headline: report.Headline(rs, strict),
		Failed: rs.Failed(strict) || rs.Has(report.HarnessError)}
	if rs.Baseline != nil {
		one.Problems = rs.Baseline.Problems
	}
	d.Runs = append(d.Runs, one)
	found := messages(run)
	columns := map[string]int{}
	cells := map[int][]string{}
	for i := range rs.Results {
		r := &rs.Results[i]
		column, ok := columns[r.Revision]
		if !ok {
			column = len(d.Columns)
			columns[r.Revision] = column
			blank := columnData{Run: n, Revision: r.Revision, Messages: make([]int, len(d.Checks))}
			d.Columns = append(d.Columns, blank)
			cells[column] = strings.Split(strings.Repeat(absentLetter, len(d.Checks)), "")
		}
		at := index[checkData{r.Scenario, r.Check}] - 1
		cells[column][at] = letterOf(r)
		d.Columns[column].Messages[at] = d.text(r.Message)
		if r.Verdict == report.Pass || r.Verdict == report.Info || r.Verdict == report.NotApplicable {
			continue
		}
		d.addFindings(column, at, r, found)
	}
	for _, column := range columns {
		d.Columns[column].Cells = strings.Join(cells[column], "")
	}
}

func (d *pageData) addFindings(column, check int, r *report.Result, found eventsByPlace) {
	for _, one := range r.Findings() {
		f := finding{Column: column, Check: check, Cell: letterOf(one), Result: one}
		for _, s := range one.Around {
			message := -1
			if text := found.of(r.Revision, one.Around, s); text != "" {
				message = d.text(text)
			}
			f.Steps = append(f.Steps, stepData{s, message})
		}
		d.Findings = append(d.Findings, f)
	}
}

func letterOf(r *report.Result) string {
	switch {
	case r.Known != nil:
		return knownLetter
	case r.Prerequisite != "":
		return letters[report.Unsupported]
	}
	return letters[r.Verdict]
}

func (d *pageData) text(text string) int {
	i, ok := d.textIndex[text]
	if !ok {
		i = len(d.Texts)
		d.Texts, d.textIndex[text] = append(d.Texts, text), i
	}
	return i
}
