package codecs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var mistakesOfTables = map[string]string{
	`{"model":"m","n":4,"t":-7,"stop":["a"],"as":[{"type":"x","only":true},{"type":"y","rest":["a"]}],"any":1}`: "",
	`{"model":"m","n":null,"stop":"a"}`: "",
	`{`:                                 "unreadable true",
	`null`:                              "unreadable false",
	`{"n":1.0}`:                         "n: expected an integer, found 1.0",
	`{"n":"1","as":7}`:                  "n: expected an integer, found \"1\"",
	`{"stop":1}`:                        "stop: expected a string or an array of strings, found 1",
	`{"as":{}}`:                         "as: expected an array, found {}",
	`{"as":[{},null]}`:                  "as[1]: expected an object, found null",
	`{"as":[{"type":"x","only":1}]}`:    "as[0].only: expected true or false, found 1",
	`{"as":[{"type":"z","rest":"a"}]}`:  "as[0].rest: expected an array of strings, found \"a\"",
	`{"none":null}`:                     "none: expected a string, found null",
	`{"model":"","zz":1,"b":2}`:         "unknown [b zz]",
	`{"model":""}`:                      "missing model",
	`{"model":"m","n":5}`:               "n: int64 5 not in \"1\" to \"4\"",
	`{"model":"m","t":1.6}`:             "t: float64 1.6 not in \"\" to \"1.5\"",
	`{"model":"m","as":[{"type":"x","rest":[]}]}`: "unknown as[0].[rest]",
	`{"model":"m","as":[{"type":"z"}]}`:           "as[0].type: \"z\" is not one of [x y]",
	`{"model":"m","as":[{}]}`:                     "as[0].type: \"\" is not one of [x y]",
}

func TestTablesReadAndCheck(t *testing.T) {
	refusal := func(format string, args ...any) *dialect.Error {
		return &dialect.Error{Message: fmt.Sprintf(format, args...)}
	}
	api := &API{
		Table: NewTable("request\n\tmodel:string! n:integer[1,4] t:number[,1.5] stop:text|strings as:[]a\n" +
			"\tany none:string^\n" + "a\n\ttype:string!{x,y}\na/x\n\ttype only:bool\na/*\n\ttype rest:strings\n"),
		Unreadable: func(_ []byte, err error) *dialect.Error { return refusal("unreadable %t", err != nil) },
		WrongType: func(path, expected string, found json.RawMessage) *dialect.Error {
			return refusal("%s: expected %s, found %s", path, expected, found)
		},
		Unknown: func(path string, names []string) *dialect.Error { return refusal("unknown %s%s", path, names) },
		Missing: func(path, name string) *dialect.Error { return refusal("missing %s%s", path, name) },
		Outside: func(path string, v any, low, high string) *dialect.Error {
			return refusal("%s: %T %v not in %q to %q", path, v, v, low, high)
		},
		NotOneOf: func(path, found string, words []string) *dialect.Error {
			return refusal("%s: %q is not one of %s", path, found, words)
		},
	}
	for body, expected := range mistakesOfTables {
		q, err := api.Read([]byte(body))
		if err == nil {
			err = First(q, func(q *Node) *dialect.Error { return api.CheckKnown(q, "request", "") },
				func(q *Node) *dialect.Error { return api.CheckValues(q, "request", "") },
				func(q *Node) *dialect.Error {
					return Each(q.List("as"), func(a *Node) *dialect.Error {
						if err := api.CheckKnown(a, "a", a.Path+"."); err != nil {
							return err
						}
						return api.CheckValues(a, "a", a.Path)
					})
				})
		}
		if expected == "" {
			require.Nil(t, err, body)
			continue
		}
		require.NotNil(t, err, body)
		require.Equal(t, expected, strings.TrimSpace(err.Message), body)
	}
}
