// Command testlog reads what go test -json prints and writes a line a package, the output of what failed, and a
// closing count. A test that was skipped although CI is set fails the run: whatever it needs, CI has to install. Not so a verdict of
// conformance.Run that does not apply: it shows as a skip, and is one for the test to expect.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func main() {
	passed, failed, notApplicable := 0, 0, 0
	var skipped []string
	output := map[string]string{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // not of go test: a compiler's error, say
			continue
		}
		name := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[name] += e.Output
		case "pass", "fail", "skip":
			tell(e, name, output)
			switch {
			case e.Test == "":
			case e.Action == "pass":
				passed++
			case e.Action == "fail":
				failed++
			case strings.Contains(output[name], "verdict not_applicable: "):
				notApplicable++
			default:
				skipped = append(skipped, name)
			}
			delete(output, name)
		}
	}
	fmt.Printf("verdicts that did not apply: %d\n", notApplicable)
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, len(skipped))
	if len(skipped) > 0 && os.Getenv("CI") != "" {
		fmt.Printf("skipped in CI, where nothing may be: %q\n", skipped)
		os.Exit(1)
	}
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// tell prints a package's line, and all that something which failed has said.
func tell(e event, name string, output map[string]string) {
	switch {
	case e.Action == "fail":
		fmt.Printf("--- FAIL %s (%.2fs)\n%s", name, e.Elapsed, output[name])
	case e.Test == "" && e.Action == "pass":
		fmt.Printf("ok  %s  %.2fs\n", e.Package, e.Elapsed)
	case e.Action == "skip" && e.Test != "" && !strings.Contains(output[name], "verdict not_applicable: "):
		fmt.Printf("--- SKIP %s\n%s", name, output[name])
	}
}
