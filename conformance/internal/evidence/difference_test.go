package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

func TestADifferenceShowsThePlaceWhereTwoTextsDiffer(t *testing.T) {
	long := strings.Repeat("a", 200)
	for name, c := range map[string]struct{ want, got, wanted, found string }{
		"short": {"ab", "ac", `"ab"`, `"ac"`},
		"long": {long + "b" + long, long + "c", fmt.Sprintf(`%q at byte 200 of 401`, long[:20]+"b"+long[:59]),
			fmt.Sprintf(`%q at byte 200 of 201`, long[:20]+"c")},
		"cut": {long, long[:100], fmt.Sprintf(`%q at byte 100 of 200`, long[:80]),
			fmt.Sprintf(`%q at byte 100 of 100`, long[:20])},
	} {
		wanted, found := evidence.Difference(c.want, c.got)
		require.Equal(t, []string{c.wanted, c.found}, []string{wanted, found}, name)
	}
}

func TestADifferenceOfJSONNamesThePathOfTheFirst(t *testing.T) {
	pad := `"pad":"` + strings.Repeat("x", 100) + `"`
	for name, c := range map[string]struct{ want, got, wanted, found string }{
		"short":            {`{"a": 1}`, `{"a": 2}`, `{"a":1}`, `{"a":2}`},
		"a nested value":   {`{"a":[{"b":1}],` + pad + `}`, `{"a":[{"b":2}],` + pad + `}`, "a[0].b: 1", "a[0].b: 2"},
		"a missing member": {`{"n":null,"z":"q",` + pad + `}`, `{"n":null,` + pad + `}`, `z: "q"`, "z: none"},
		"one more item":    {`{"a":[1],` + pad + `}`, `{"a":[1,2],` + pad + `}`, "a[1]: none", "a[1]: 2"},
		"equal numbers":    {`{"a":1.0,"b":1,` + pad + `}`, `{"a":1,"b":2,` + pad + `}`, "b: 1", "b: 2"},
		"another type":     {`{"a":{"b":1},` + pad + `}`, `{"a":"{}",` + pad + `}`, `a: {"b":1}`, `a: "{}"`},
		"invalid JSON":     {`{"a":1}`, `{"a":`, `"{\"a\":1}"`, `"{\"a\":"`},
	} {
		wanted, found := evidence.JSONDifference([]byte(c.want), []byte(c.got))
		require.Equal(t, []string{c.wanted, c.found}, []string{wanted, found}, name)
	}
}

func TestTheErrorOfAClientIsTheLineThatNamesIt(t *testing.T) {
	for name, c := range map[string]struct{ stderr, want string }{
		"Node": {"node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n" +
			"    at there (loader:1)\n\nNode.js v20.20.2\n", "Error: Cannot find module 'x'"},
		"Python": {"Traceback (most recent call last):\n  File \"a.py\", line 4\nKeyError: 'a'\n\nDuring handling of the " +
			"above exception, another exception occurred:\n\nTraceback (most recent call last):\nValueError: no key\n",
			"ValueError: no key"},
		"a group of Python": {"  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 4\n  | " +
			"ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n" +
			"    | Traceback (most recent call last):\n    |   File \"b.py\", line 9\n    | KeyError: 'a'\n" +
			"    +------------------------------------\n", "KeyError: 'a'"},
		"a group of Python, the last line alone": {"    | no such host\n    +------------------------------------\n",
			"no such host"},
		"Go": {"panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n",
			"panic: assignment to entry in nil map"},
		"Rust": {"thread 'main' panicked at src/main.rs:2:5:\nno key\nnote: run with\n",
			"thread 'main' panicked at src/main.rs:2:5: no key"},
		"Rust 1.91": {"\nthread 'main' (10565) panicked at a.rs:2:5:\nno key\nstack backtrace:\n   0: there\nnote: Some\n",
			"thread 'main' (10565) panicked at a.rs:2:5: no key"},
		"Java": {"Exception in thread \"main\" java.lang.Error: no\n\tat A.main(A.java)\n",
			`Exception in thread "main" java.lang.Error: no`},
		"the last":   {"starting\n  no such host\n\n", "no such host"},
		"of nothing": {" \n", ""},
	} {
		require.Equal(t, c.want, evidence.OwnError(c.stderr), name)
	}
}
