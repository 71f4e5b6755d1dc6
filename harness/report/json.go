package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// JSON encodes the results as one JSON document, with a newline at its end. Lists are never null in it, and the summary is
// counted anew.
func JSON(rs *Results) []byte {
	whole := *rs
	whole.Results = append([]Result{}, rs.Results...)
	for i := range whole.Results {
		if r := &whole.Results[i]; r.Evidence == nil {
			r.Evidence = []Evidence{}
		}
	}
	whole.Count()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(whole); err != nil {
		panic(fmt.Sprintf("report: results are plain data and cannot fail to encode: %v", err))
	}
	return b.Bytes()
}

// ReadJSON reads what [JSON] wrote. Its error says where the document is not what it should be: a verdict that nobody knows
// must not pass for one that fails nothing.
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
			err = errors.New("there is more after the document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("unreadable results: %w", err)
	}
	return &rs, nil
}

// check holds results that were read against what is written.
func (rs *Results) check() error {
	if rs.Results == nil {
		return errors.New("there are none: results is missing or null")
	}
	for i := range rs.Results {
		r := &rs.Results[i]
		if !slices.Contains(Verdicts(), r.Verdict) {
			return fmt.Errorf("results[%d].verdict is %q: want one of %q", i, r.Verdict, Verdicts())
		}
		if !slices.Contains(Levels(), r.Level) {
			return fmt.Errorf("results[%d].level is %q: want one of %q", i, r.Level, Levels())
		}
		if r.Evidence == nil {
			return fmt.Errorf("results[%d].frames is missing or null", i)
		}
	}
	said := rs.Summary
	if rs.Count(); !maps.Equal(said, rs.Summary) {
		return fmt.Errorf("summary is %v, and the results count %v", said, rs.Summary)
	}
	return nil
}
