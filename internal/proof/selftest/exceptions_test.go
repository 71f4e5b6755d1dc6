package selftest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListSaysWhichPairsNeedNoName(t *testing.T) {
	const list = "Pairs.\n\n== never\n\nIt cannot be.\n\tstory one-* / media errors  2\n\n== harmless\n\n" +
		"Nobody sees it.\n\tquiet / media  1\nThey may cross.\n\tcrossing / media errors  1\n\n" +
		"== survives\n\nRules to come.\n\tloud / media  1\n"
	named := Pair{Mutant: "loud", Condition: "errors", Fired: true, Named: "s/one"}
	never := []Pair{{Mutant: "one-a", Condition: "media"}, {Mutant: "b", Condition: "errors", chapter: "story"}}
	quiet := Pair{Mutant: "quiet", Condition: "media", Fired: true}
	loud := Pair{Mutant: "loud", Condition: "media", Fired: true}
	crossing := []Pair{{Mutant: "crossing", Condition: "media", Fired: true},
		{Mutant: "crossing", Condition: "errors", Fired: true}}
	all := append([]Pair{named, quiet, loud}, never...)
	silent := Pair{Mutant: "new", Condition: "media"}
	cannot, fires := silent, never[0]
	cannot.Reason, fires.Fired, fires.Named = neverOfSample, true, "s/one"
	for name, c := range map[string]struct {
		pairs []Pair
		wrong int
	}{
		"what the list says":             {all, 0},
		"a pair that is not listed":      {append([]Pair{{Mutant: "new", Condition: "media", Fired: true}}, all...), 1},
		"a silent pair that is not":      {append([]Pair{silent}, all...), 1},
		"a silent pair that cannot fire": {append([]Pair{cannot}, all...), 0},
		"one more silent pair":           {append([]Pair{{Mutant: "one-b", Condition: "media"}}, all...), 1},
		"one less, which fires":          {[]Pair{named, quiet, loud, fires, never[1]}, 1},
		"as many as may cross":           {append(crossing[:1:1], all...), 0},
		"more than may cross":            {append(crossing, all...), 1},
		"a survivor that is named":       {append([]Pair{named, quiet}, never...), 1},
	} {
		t.Run(name, func(t *testing.T) {
			played := Conditions{Pairs: c.pairs}
			played.judge(readExceptions(list), true)
			require.Len(t, played.Wrong, c.wrong, "%q", played.Wrong)
			played.judge(readExceptions(list), false)
		})
	}
}

func TestAnUpdateKeepsTheCountsOfHarmlessPairs(t *testing.T) {
	updated, kept := readExceptions(string((&Conditions{}).UpdatedConditions())), readExceptions(conditionsText)
	require.Equal(t, kept[harmless], updated[harmless])
	require.Empty(t, updated[never])
}
