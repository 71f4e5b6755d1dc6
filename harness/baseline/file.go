package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

// File is a baseline as it is on disk.
type File struct {
	Name    string
	Entries []Entry

	head   string   // the text before the first entry, with the member known
	chunks []string // the text of each entry, with the comments above it
}

type document struct {
	Known []Entry `yaml:"known"`
}

// Read reads a file. Its errors name the place and show it. A file that does not exist is an error of [os.ReadFile].
func Read(name string, known Checks) (*File, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return Parse(name, data, known)
}

// Parse is Read for text.
func Parse(name string, data []byte, known Checks) (*File, error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	var doc document
	if err := yamlfile.Decode(name, data, &doc); err != nil {
		return nil, err
	}
	f := &File{Name: name, Entries: doc.Known}
	seen, line := map[string]string{}, yamlfile.Lines(data)
	for i := range f.Entries {
		e := &f.Entries[i]
		if member, err := e.Validate(known); err != nil {
			path := []any{"known", i, member}
			if member == "" {
				path = path[:2]
			}
			return nil, yamlfile.ValueError(name, data, err, path...)
		}
		e.place = fmt.Sprintf("%s:%d", name, line("known", i, "check"))
		key := fmt.Sprint(e.Check, e.Revisions, e.Dialect)
		if first, twice := seen[key]; twice {
			err := fmt.Errorf("the entry is there twice: also in %s", first)
			return nil, yamlfile.ValueError(name, data, err, "known", i, "check")
		}
		seen[key] = e.place
	}
	return f, f.split(string(data), line)
}

const newHead = "# Known failures. A run with --baseline fails if one of them changes or no longer fails.\nknown:\n"

// knownMember matches the member and, of an empty list, its value.
var knownMember = regexp.MustCompile(`(?m)^(["']?known["']?[ \t]*:)(?:[ \t]*(?:\[[ \t]*\]|null|~))?`)

// emptyHead is the head of a file without entries: its text, if that is comments and the member on a line of its own.
func emptyHead(text string) string {
	if strings.TrimSpace(text) == "" {
		return newHead
	}
	head := knownMember.ReplaceAllString(strings.TrimRight(text, "\n")+"\n", "known:")
	member := 0
	for line := range strings.Lines(head) {
		switch rest, found := strings.CutPrefix(line, "known:"); {
		case found && comment(rest):
			member++
		case !comment(line) && line != "---\n":
			return newHead
		}
	}
	if member == 0 {
		head += "known:\n"
	}
	return head
}

// split keeps the text of each entry, so that an update leaves alone what it does not change.
func (f *File) split(text string, line func(path ...any) int) error {
	if len(f.Entries) == 0 {
		f.head = emptyHead(text)
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	var starts []int
	for i := range f.Entries {
		at := line("known", i) - 1 // of the first member
		for at >= 0 && !strings.HasPrefix(strings.TrimSpace(lines[at]), "-") {
			at--
		}
		for at > 0 && i > 0 && comment(lines[at-1]) {
			at-- // The comment above an entry is its own.
		}
		if at < 0 || i > 0 && at <= starts[i-1] {
			return errors.New(f.Name + ": expected each entry on lines of its own, which start with a hyphen")
		}
		starts = append(starts, at)
	}
	f.head = strings.Join(lines[:starts[0]], "")
	for i, at := range starts {
		end := len(lines)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		f.chunks = append(f.chunks, strings.TrimRight(strings.Join(lines[at:end], ""), "\n")+"\n")
	}
	return nil
}

func comment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

func chunk(e Entry) string {
	raw, err := yaml.Dump(document{Known: []Entry{e}}, yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1),
		yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic(fmt.Sprintf("baseline: encoding a plain entry cannot fail: %v", err))
	}
	return strings.TrimPrefix(string(raw), "known:\n")
}
