// Package schema validates the MCP messages that a sampling server and its client exchange, in each revision, by our
// own JSON Schemas. Rules that a schema cannot express belong to conformance.
//
// The schemas are small JSON files under definitions. The oldest revision is complete; each later one is a JSON merge
// patch (RFC 7396) of the previous one. A test compares them with the published schemas, and lists the exceptions.
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

// Error is the first violation of a message: invalid text, or else the outermost violation and, among siblings, the one
// with the first path. It is deterministic.
type Error struct {
	// Path locates the value, such as `content[1].input`; "" is the whole message.
	Path string
	// Message has the expected and the actual value, such as "expected object, found string".
	Message string
	// Missing is true if a required property is missing.
	Missing bool
}

// Error returns the path and the message.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Validate validates a message, or the part of one that name stands for, in a revision such as "2025-11-25".
//
// It returns nil or an [*Error]; for an unknown revision or name, an error of another type that lists the known ones.
// Raw must be exactly one JSON value in UTF-8, without duplicate properties, of at most 10,000 levels, 50,000 values
// and 10,000 digits per number. Numbers are exact at any size. Unknown properties are allowed, as in the protocol.
//
// Validate compiles the schemas of a revision at first use, and caches verdicts, because many sessions have the same
// messages. It is safe for concurrent use.
func Validate(revision string, name Name, raw []byte) error {
	if len(raw) > maxCachedText {
		return validate(revision, name, raw)
	}
	key := cacheKey{revision, name, sha256.Sum256(raw)}
	err, known := verdicts.get(key)
	if !known {
		err = validate(revision, name, raw)
		verdicts.put(key, err)
	}
	return err
}

// Has reports whether a revision has the type.
func Has(revision string, name Name) bool {
	schemas, ok := revisions[revision]
	return ok && schemas().defined[string(name)] != nil
}

func validate(revision string, name Name, raw []byte) error {
	schemas, ok := revisions[revision]
	if !ok {
		known := slices.Sorted(maps.Keys(revisions))
		return fmt.Errorf("schema: unknown revision %q: expected one of %s", revision, strings.Join(known, ", "))
	}
	compiled := schemas().named(name)
	if compiled == nil {
		names := slices.Sorted(maps.Keys(schemas().defined))
		return fmt.Errorf("schema: no %q in revision %s: expected one of %s", name, revision, strings.Join(names, ", "))
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
