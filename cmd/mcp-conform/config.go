package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

const configName = "mcp-conform.yaml"

// configFile has clients by name. The members of a client are the flags of run, and its command.
type configFile struct {
	Defaults yamlfile.Members `yaml:"defaults"`
	Clients  yamlfile.Members `yaml:"clients"`

	path string
	data []byte
}

// notConfigured are the flags of run that a file does not have.
var notConfigured = []string{"all", "config", "name", "shard", "format", "verbose", "conversation", "help"}

var clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// readConfig reads a configuration and checks what it can without the flags.
func readConfig(path string) (*configFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	file := &configFile{path: path, data: data}
	if err := yamlfile.Decode(path, data, file); err != nil {
		return nil, err
	}
	if len(file.Clients) == 0 {
		return nil, fmt.Errorf("%s: expected at least one client under clients, found none", path)
	}
	for _, name := range file.names() {
		if !clientName.MatchString(name) {
			return nil, file.wrong(fmt.Errorf("expected a name of letters, digits, dots and hyphens, found %q", name),
				"clients", name)
		}
	}
	return file, nil
}

func (f *configFile) names() []string {
	var names []string
	for _, item := range f.Clients {
		names = append(names, item.Name)
	}
	return names
}

func (f *configFile) wrong(err error, at ...any) error {
	return yamlfile.ValueError(f.path, f.data, err, at...)
}

// arguments returns the words of a run of the client. given are the flags of the command line, which win.
func (f *configFile) arguments(name string, flags *pflag.FlagSet, given map[string][]string) ([]string, error) {
	value := f.Clients[slices.Index(f.names(), name)].Value
	members, ok := value.(yamlfile.Members)
	if !ok && value != nil {
		return nil, f.wrong(errors.New("expected the members of a client, such as command"), "clients", name)
	}
	own := func(m yamlfile.Member) bool {
		return slices.ContainsFunc(members, func(other yamlfile.Member) bool { return other.Name == m.Name })
	}
	b := clientWords{file: f, name: name, flags: flags, given: given, words: []string{"run", "--name=" + name}}
	for _, m := range slices.DeleteFunc(slices.Clone(f.Defaults), own) {
		if err := b.add(m, "defaults"); err != nil {
			return nil, err
		}
	}
	for _, m := range members {
		if err := b.add(m, "clients", name); err != nil {
			return nil, err
		}
	}
	flags.VisitAll(func(f *pflag.Flag) { b.words = append(b.words, given[f.Name]...) })
	builtin := func(word string) bool { return strings.HasPrefix(word, "--client=") }
	switch {
	case b.command != nil:
		b.words = append(append(b.words, "--"), b.command...)
	case !slices.ContainsFunc(b.words, builtin):
		return nil, f.wrong(errors.New("expected the client's command, found none"), "clients", name)
	}
	return b.words, nil
}

// clientWords collects the words of a client.
type clientWords struct {
	file           *configFile
	name           string
	flags          *pflag.FlagSet
	given          map[string][]string
	words, command []string
}

func (b *clientWords) add(m yamlfile.Member, at ...any) (err error) {
	member := m.Name
	at = append(at, member)
	if member == "command" {
		if b.command, err = commandWords(m.Value); err != nil {
			return b.file.wrong(err, at...)
		}
		return nil
	}
	flag := b.flags.Lookup(member)
	if flag == nil || slices.Contains(notConfigured, member) {
		return b.file.wrong(unknownMember(member, b.flags), at...)
	}
	if b.given[member] != nil || b.given["shard"] != nil && (member == "report" || member == "format") {
		return nil // A shard only plays: mcp-conform merge writes the reports.
	}
	more, err := flagWords(flag.Value.(*value), m.Value)
	if err != nil {
		return b.file.wrong(err, at...)
	}
	b.words = append(b.words, more...)
	return nil
}

func unknownMember(member string, flags *pflag.FlagSet) error {
	known := []string{"command"}
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notConfigured, f.Name) {
			known = append(known, f.Name)
		}
	})
	return fmt.Errorf("unknown member %q; %s", member, hint(member, known, "members are the flags of run, and command"))
}

// commandWords is a command: it is never split, so that no word is quoted wrongly.
func commandWords(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("expected a list of words, such as [node, client.js], found %v", value)
	}
	var words []string
	for i, one := range list {
		word, err := scalar(one)
		if err != nil {
			return nil, fmt.Errorf("word %d: %w", i+1, err)
		}
		words = append(words, word)
	}
	return words, nil
}

func scalar(value any) (string, error) {
	switch value.(type) {
	case nil:
		return "", errors.New("the value is missing")
	case []any, yamlfile.Members:
		return "", errors.New("expected one value, found a list or a mapping: use quotes if it is a text")
	}
	return fmt.Sprint(value), nil
}

// flagWords are the words for a flag with the value of a member.
func flagWords(flag *value, member any) ([]string, error) {
	parts := yamlfile.Members{{Value: member}}
	switch v := member.(type) {
	case bool:
		if !flag.isBool() {
			return nil, fmt.Errorf("expected a value, found %v", v)
		}
	case []any:
		if !flag.isList() {
			return nil, errors.New("expected one value, found a list")
		}
		parts = nil
		for _, one := range v {
			parts = append(parts, yamlfile.Member{Value: one})
		}
	case yamlfile.Members:
		if !flag.isMap() {
			return nil, errors.New("expected one value, found a mapping")
		}
		parts = v
	default:
		if v != nil && flag.isBool() {
			return nil, fmt.Errorf("expected true or false, found %v", v)
		}
		if v != nil && flag.isMap() {
			return nil, fmt.Errorf("expected a mapping, such as junit: FILE, found %v", v)
		}
	}
	var words []string
	for _, part := range parts {
		text, err := scalar(part.Value)
		if err != nil {
			return nil, err
		}
		words = append(words, flag.word(part.Name, text))
	}
	return words, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
