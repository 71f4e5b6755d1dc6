package report

import "regexp"

// released matches the version of a release.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// CheckPages returns the address of the pages of all checks, in the version of the program that judged. The page of a
// check is SCENARIO.md#CHECK below it.
func CheckPages(tool string) string {
	if !released.MatchString(tool) {
		tool = "main"
	}
	return "https://github.com/mcp-conform/mcp-conform/blob/" + tool + "/docs/checks/"
}
