package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestADifferenceShowsWhatIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		recorded, found string
		ignored         []string
		says            string
		count           int
	}{
		"equal":           {`{"n":1.0}`, `{"n":1}`, nil, "", 0},
		"numbers":         {`{"n":0.2}`, `{"n":0.30}`, nil, "at r.n the recording has 0.2, found 0.30", 1},
		"nothing":         {`{}`, `{"n":0.5}`, nil, "at r.n the recording has nothing, found 0.5", 1},
		"several":         {`{"a":1,"b":[1,2]}`, `{"a":2,"b":[2]}`, nil, "at r.a the recording has 1, found 2", 3},
		"JSON in strings": {`["{\"a\":1}"]`, `["{\"a\":2}"]`, nil, "at r[0].a the recording has 1, found 2", 1},
		"another kind of block": {`{"type":"text","text":"a"}`, `{"type":"image","data":"AA"}`, nil,
			`at r the recording has {"text":"a","type":"text"}, found {"data":"AA","type":"image"}`, 1},
		"another type alone": {`{"type":"string"}`, `{"type":"number"}`, nil,
			`at r.type the recording has "string", found "number"`, 1},
		"an ignored type": {`{"type":"text","text":"a"}`, `{"type":"image","data":"AA"}`, []string{"r.type", "r.data"},
			`at r.text the recording has "a", found nothing`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := NewRules(c.ignored)
			require.NoError(t, err)
			d := rules.Compare("r", jsonvalue.Decode([]byte(c.recorded)), jsonvalue.Decode([]byte(c.found)))
			if c.says == "" {
				require.Nil(t, d)
				return
			}
			require.Equal(t, c.says, d.String())
			require.Equal(t, c.count, d.Count)
		})
	}
}
