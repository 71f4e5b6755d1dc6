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
	cases := []Case{{ID: "a"}, {ID: "b", Declare: []byte(`{}`)}, {ID: "c", Declare: []byte(declared)}, {ID: "d", Declare: []byte(`{}`)},
		{ID: "e", Isolated: true}, {ID: "f", Decision: Decline}, {ID: "g", Decision: Approve}, {ID: "h", Hostile: true}, {ID: "i", Wait: 1}, {ID: "j", Isolated: true, Stdio: true}}
	for stdio, want := range map[bool][][]string{
		true:  {{"a", "c", "g"}, {"b", "d"}, {"e"}, {"f"}, {"h"}, {"i"}, {"j"}},
		false: {{"a", "c", "g", "j"}, {"b", "d"}, {"e"}, {"f"}, {"h"}, {"i"}},
	} {
		var got [][]string
		for _, b := range batches(cases, stdio) {
			var ids []string
			for _, c := range b.cases {
				ids = append(ids, c.ID)
			}
			got = append(got, ids)
		}
		require.Equal(t, want, got, "over HTTP what is about stdio needs no session of its own")
	}
}
