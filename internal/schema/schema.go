// Package schema checks MCP messages against JSON Schemas of our own: those that a server which samples and its client
// exchange, in each revision that we speak.
//
// The schemas are small JSON files under definitions. The oldest revision is whole; each later one is a
// JSON merge patch (RFC 7396) on the one before. They say what the published schemas say, which a test holds them to, with
// the few exceptions that the test lists.
package schema

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Error is the violation found first: what the text itself is ill with, or else the outermost and, among siblings, the
// one whose path sorts first. The same text gives the same error every time.
type Error struct {
	// Path is where, such as `content[1].input`; "" is the message as a whole.
	Path string
	// Message says what was expected and what came, such as "want object, got string".
	Message string
}

// Error implements error: path and message.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Validate checks a message, or the part of one that name stands for, against a revision such as "2025-11-25".
//
// It returns nil or an [*Error]; for a revision or a name that does not exist, an error of another type
// that lists those that do. Beyond the schema, raw must be one JSON value in UTF-8, with nothing after it, no property
// twice in an object, and within what we can judge: 10,000 levels, 50,000 values, 10,000 digits a number. Numbers are
// compared as they are written, however big. Properties that the schema does not know are allowed, as in the protocol.
//
// The schemas of a revision are compiled when it is first asked for, and a text that was checked before is not checked again, for the same
// messages are sent in many sessions. Validate is safe for concurrent use.
func Validate(revision string, name Name, raw []byte) error {
	if len(raw) > longestKnown {
		return validate(revision, name, raw)
	}
	c := checked{revision, name, sha256.Sum256(raw)}
	err, known := verdicts.of(c)
	if !known {
		err = validate(revision, name, raw)
		verdicts.note(c, err)
	}
	return err
}

func validate(revision string, name Name, raw []byte) error {
	schemas, ok := revisions[revision]
	if !ok {
		return fmt.Errorf("schema: unknown revision %q, there are %s", revision, strings.Join(slices.Sorted(maps.Keys(revisions)), ", "))
	}
	compiled := schemas()[name]
	if compiled == nil {
		var names []string
		for known := range schemas() {
			names = append(names, string(known))
		}
		slices.Sort(names)
		return fmt.Errorf("schema: no %q in revision %s, there are %s", name, revision, strings.Join(names, ", "))
	}
	message, err := decode(raw)
	if err != nil {
		return err
	}
	var violations *jsonschema.ValidationError
	if errors.As(compiled.Validate(message), &violations) {
		return explain(message, violations)
	}
	return nil
}
