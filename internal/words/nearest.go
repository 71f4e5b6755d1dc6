// Package words writes words for people and shells: names near a mistyped one, quoted command lines, names of tests.
package words

import (
	"sort"
	"strings"
)

// DidYouMean suggests the names near a mistyped one, as the end of an error message; "" if none is near.
func DidYouMean(typed string, names []string) string {
	if near := Near(typed, names); near != nil {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return ""
}

// Near returns up to three of the names that are close enough to the mistyped one, best first; nil if none is.
func Near(typed string, names []string) []string {
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	for _, name := range names {
		d := distance(typed, name)
		if _, last, found := strings.Cut(name, "/"); found {
			d = min(d, distance(typed, last)+1)
		}
		if strings.Contains(name, typed) {
			d = min(d, 1)
		}
		if d <= 1+len(typed)/3 {
			near = append(near, scored{name, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var best []string
	for _, s := range near[:min(3, len(near))] {
		best = append(best, s.name)
	}
	return best
}

// distance counts the characters to change, add or remove to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
