package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *junitText `xml:"skipped"`
	Output  string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit encodes the results as JUnit XML: a suite for each scenario and revision, a test for each check. Known
// failures, and what could not be judged, are skipped tests. Each problem of the baseline is a failing test. In a
// strict run, warnings fail, too.
func JUnit(rs *Results, strict bool) []byte {
	all := junitSuites{Name: printable("mcp-conform: " + rs.Client)}
	for i := range rs.Results {
		r := &rs.Results[i]
		all.add(r.Revision+" "+r.Scenario, r.junit(strict))
	}
	if rs.Baseline != nil {
		for _, p := range rs.Baseline.Problems {
			text := &junitText{Message: p.Message, Type: p.Kind, Text: strings.TrimSpace(p.Place + "\n" + p.Message)}
			all.add("baseline", junitCase{Class: "baseline", Name: p.Check, Time: "0.000", Failure: text})
		}
	}
	if rs.Interrupted || len(rs.Results) == 0 {
		const message = "the run did not finish: these are the results until then"
		all.add("run", junitCase{Class: "run", Name: "finishes", Time: "0.000", Error: &junitText{Message: message}})
	}
	raw, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("report: encoding plain results cannot fail: %v", err))
	}
	return append(append([]byte(xml.Header), raw...), '\n')
}

func (r *Result) junit(strict bool) junitCase {
	c := junitCase{Class: r.Revision + "." + r.Scenario, Name: r.Check,
		Time: fmt.Sprintf("%.3f", float64(r.DurationMS)/1000)}
	var note bytes.Buffer
	for _, one := range r.Findings() {
		Note(&note, one, TextOptions{})
	}
	first, _, _ := strings.Cut(printable(r.Message), "\n")
	text := &junitText{Message: first, Type: string(r.Level), Text: note.String()}
	switch {
	case r.Known != nil:
		c.Skipped = &junitText{Message: "known: " + printable(r.Known.text())}
		c.Output = note.String()
	case r.Verdict == HarnessError:
		c.Error = text
	case r.Prerequisite != "" && r.Verdict == NotObserved:
		c.Skipped = &junitText{Message: "not judged because of " + r.Prerequisite}
	case r.Failed(strict):
		c.Failure = text
	case r.Verdict == NotApplicable || r.Verdict == Unsupported:
		c.Skipped = &junitText{Message: fmt.Sprintf("%s: %s", r.Verdict, first)}
	case r.Verdict != Pass:
		c.Output = note.String()
	}
	return c
}

func (all *junitSuites) add(suite string, c junitCase) {
	if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != suite {
		all.Suites = append(all.Suites, junitSuite{Name: suite})
	}
	s := &all.Suites[len(all.Suites)-1]
	s.Cases = append(s.Cases, c)
	all.Tests, s.Tests = all.Tests+1, s.Tests+1
	switch {
	case c.Failure != nil:
		all.Failures, s.Failures = all.Failures+1, s.Failures+1
	case c.Error != nil:
		all.Errors, s.Errors = all.Errors+1, s.Errors+1
	case c.Skipped != nil:
		all.Skipped, s.Skipped = all.Skipped+1, s.Skipped+1
	}
}
