package harness

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMarkIsAWordThatDependsOnTheIDAlone(t *testing.T) {
	seen := map[string]string{}
	for i := range 2000 {
		id := fmt.Sprintf("scenario-%d/case-%d", i%7, i)
		c, again := Case{ID: id}, Case{ID: id, Isolated: true}
		mark := c.Mark()
		require.Regexp(t, `^mk[a-z2-7]{8}$`, mark)
		require.Equal(t, mark, again.Mark())
		require.Empty(t, seen[mark], "%s and %s have one mark", id, seen[mark])
		seen[mark] = id
	}
}

func TestAToolIsNamedAfterItsCase(t *testing.T) {
	c := Case{ID: "parallel/two-cities"}
	require.Equal(t, "parallel-two-cities", c.Tool())
}

func TestCasesThatDeclareDifferentThingsAreNotOfOneSession(t *testing.T) {
	var got [][]string
	for _, b := range batches([]Case{{ID: "a"}, {ID: "b", Declare: []byte(`{}`)}, {ID: "c", Declare: []byte(declared)}, {ID: "d", Declare: []byte(`{}`)},
		{ID: "e", Isolated: true}, {ID: "f", Decision: Decline}, {ID: "g", Decision: Approve}, {ID: "h", Hostile: true}, {ID: "i", Wait: 1}}) {
		var ids []string
		for _, c := range b.cases {
			ids = append(ids, c.ID)
		}
		got = append(got, ids)
	}
	require.Equal(t, [][]string{{"a", "c", "g"}, {"b", "d"}, {"e"}, {"f"}, {"h"}, {"i"}}, got)
}
