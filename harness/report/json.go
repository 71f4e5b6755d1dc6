package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// JSON encodes the results as one JSON document with a newline at its end. It writes no null for a list, and counts
// the summary anew.
func JSON(rs *Results) []byte {
	doc := *rs
	doc.Results = append([]Result{}, rs.Results...)
	for i := range doc.Results {
		if r := &doc.Results[i]; r.Evidence == nil {
			r.Evidence = []Evidence{}
		}
	}
	doc.Count()
	return plainJSON(doc)
}

// ReadJSON reads what [JSON] wrote. Its error says what is wrong and where: an unknown verdict must not pass for one
// that fails nothing.
func ReadJSON(raw []byte) (*Results, error) {
	var rs Results
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&rs)
	if err == nil {
		err = rs.check()
	}
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("unexpected text after the document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("invalid results: %w", jsonvalue.Plain(err))
	}
	return &rs, nil
}

// check returns what JSON would not have written.
func (rs *Results) check() error {
	if rs.Format > Format {
		return fmt.Errorf("format: expected at most %d, found %d: read it with the version of mcp-conform that wrote it",
			Format, rs.Format)
	}
	if rs.Results == nil {
		return errors.New("results is missing or null")
	}
	for i := range rs.Results {
		r := &rs.Results[i]
		if !slices.Contains(Verdicts(), r.Verdict) {
			return fmt.Errorf("results[%d].verdict: expected one of %q, found %q", i, Verdicts(), r.Verdict)
		}
		if !slices.Contains(Levels(), r.Level) {
			return fmt.Errorf("results[%d].level: expected one of %q, found %q", i, Levels(), r.Level)
		}
		if r.Evidence == nil {
			return fmt.Errorf("results[%d].evidence is missing or null", i)
		}
	}
	found := rs.Summary
	if rs.Count(); !maps.Equal(found, rs.Summary) {
		return fmt.Errorf("summary: expected %v by the results, found %v", rs.Summary, found)
	}
	return nil
}
