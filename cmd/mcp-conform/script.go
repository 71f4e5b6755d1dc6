package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

type script struct {
	options llm.Options
	rules   []*llm.Rule
}

// readScript reads a script. Its errors name the place and show it.
func readScript(path string) (*script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return parseScript(path, data)
}

func parseScript(name string, data []byte) (*script, error) {
	var file scriptFile
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: expected one YAML document, found more", name)
	}
	if len(file.Rules) == 0 {
		return nil, fmt.Errorf("%s: expected at least one rule under rules, found none", name)
	}
	s := &script{options: llm.Options{Lenient: file.Lenient}}
	if file.Pace != nil {
		s.options.Pace = file.Pace.pace()
		if err := s.options.Pace.Validate(); err != nil {
			return nil, valueError(name, data, "$.pace", fmt.Errorf("the script %w", err))
		}
	}
	for i := range file.Rules {
		path := fmt.Sprintf("$.rules[%d]", i)
		rule, at, err := file.Rules[i].rule()
		if err == nil {
			at, err = "", rule.Validate()
		}
		if err != nil {
			return nil, valueError(name, data, path+at, fmt.Errorf("rule %d %w", i+1, err))
		}
		s.rules = append(s.rules, rule)
	}
	return s, nil
}

// position matches the position in the YAML package's own messages.
var position = regexp.MustCompile(`^\[\d+:\d+\] `)

// syntaxError describes invalid YAML, or a wrong type: file, line and column, and the lines around it with a caret.
func syntaxError(name string, err error) error {
	var placed yaml.Error
	if !errors.As(err, &placed) || placed.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at, text := placed.GetToken().Position, placed.FormatError(false, true)
	message, excerpt, _ := strings.Cut(position.ReplaceAllString(text, ""), "\n")
	var mistyped *yaml.TypeError
	if errors.As(err, &mistyped) {
		message = fmt.Sprintf("expected %s, found %s", typeWord(mistyped.DstType), typeWord(mistyped.SrcType))
	}
	return fmt.Errorf("%s:%d:%d: %s\n%s", name, at.Line, at.Column, message, strings.TrimRight(excerpt, " \n"))
}

// typeWord is YAML's name for values of the type.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// valueError describes an invalid value at a path of the file, in the same form.
func valueError(name string, data []byte, path string, err error) error {
	at, pathErr := yaml.PathString(path)
	if pathErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	node, nodeErr := at.ReadNode(bytes.NewReader(data))
	excerpt, excerptErr := at.AnnotateSource(data, false)
	if nodeErr != nil || excerptErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	place := node.GetToken().Position
	lines := strings.TrimRight(string(excerpt), " \n")
	return fmt.Errorf("%s:%d:%d: %w\n%s", name, place.Line, place.Column, err, lines)
}
