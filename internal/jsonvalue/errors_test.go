package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestErrorsSpeakOfJSON(t *testing.T) {
	type inner struct {
		Name  string  `json:"name"`
		Ratio float64 `json:"ratio"`
		On    *bool   `json:"on"`
	}
	type Embedded struct {
		Last int `json:"last"`
	}
	type outer struct {
		Embedded
		N     int            `json:"n"`
		All   []inner        `json:"all"`
		By    map[string]int `json:"by"`
		Inner inner          `json:"inner"`
	}
	for raw, want := range map[string]string{
		`[]`:                      "expected an object, found an array",
		`"x"`:                     "expected an object, found a string",
		`{"n":"7"}`:               "n: expected a whole number, found a string",
		`{"n":1.5}`:               "n: expected a whole number, found the number 1.5",
		`{"n":1e30}`:              "n: expected a whole number, found the number 1e30",
		`{"all":{}}`:              "all: expected an array, found an object",
		`{"by":[]}`:               "by: expected an object, found an array",
		`{"inner":{"name":7}}`:    "inner.name: expected a string, found a number",
		`{"inner":{"ratio":""}}`:  "inner.ratio: expected a number, found a string",
		`{"inner":{"on":1}}`:      "inner.on: expected true or false, found a number",
		`{"inner":{"name":true}}`: "inner.name: expected a string, found true or false",
		`{"last":""}`:             "last: expected a whole number, found a string",
		`{"m":1}`:                 `unknown member "m"`,
		`{"n":1`:                  "unexpected EOF",
		`{}`:                      "",
	} {
		dec := json.NewDecoder(bytes.NewReader([]byte(raw)))
		dec.DisallowUnknownFields()
		err := jsonvalue.Plain(dec.Decode(new(outer)))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want, raw)
	}
	own := errors.New("of an UnmarshalJSON")
	require.ErrorIs(t, jsonvalue.Plain(own), own)
}
