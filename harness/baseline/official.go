package baseline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

// Official is a list of expected failures in the format of the official conformance suite: scenario, or scenario:check.
type Official struct {
	names   []string
	matched map[string]bool
}

// ReadOfficial reads the client's part of such a file. The file has no messages, reasons and revisions: they come from
// the results that [File.Update] is given, through [Official.Lists].
func ReadOfficial(name string, data []byte) (*Official, error) {
	var file struct {
		Server []string `yaml:"server"`
		Client []string `yaml:"client"`
	}
	if err := yamlfile.Decode(name, data, &file); err != nil {
		return nil, err
	}
	if len(file.Client) == 0 {
		return nil, fmt.Errorf("%s: expected names of scenarios under client, found none", name)
	}
	return &Official{file.Client, map[string]bool{}}, nil
}

// Lists reports whether the list has the scenario or the check of a result.
func (o *Official) Lists(r *report.Result) bool {
	listed := false
	for _, name := range o.names {
		if name == r.Scenario || strings.Replace(name, ":", "/", 1) == r.ID() {
			o.matched[name], listed = true, true
		}
	}
	return listed
}

// Unmatched returns the names for which [Official.Lists] has seen no result.
func (o *Official) Unmatched() []string {
	return slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return o.matched[name] })
}
