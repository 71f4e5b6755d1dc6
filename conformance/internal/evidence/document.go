package evidence

import (
	"encoding/json"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Document is a JSON text of the wire, decoded and validated at most once. It is safe for concurrent use.
type Document struct {
	Raw      json.RawMessage
	value    func() any
	mu       sync.Mutex
	verdicts map[typeOf]error
}

// typeOf is a type of the schema in a revision.
type typeOf struct {
	revision string
	name     schema.Name
}

func newDocument(raw json.RawMessage) *Document {
	return &Document{Raw: raw, value: sync.OnceValue(func() any { return jsonvalue.Decode(raw) })}
}

// Value returns the decoded document (see [jsonvalue.Decode]), which must not be changed.
func (d *Document) Value() any { return d.value() }

// Same reports whether two documents are equal JSON (see [jsonvalue.Same]).
func (d *Document) Same(other *Document) bool {
	return d.Value() != nil && (string(d.Raw) == string(other.Raw) || jsonvalue.Equal(d.Value(), other.Value()))
}

// Validate is [schema.Validate] of the document.
func (d *Document) Validate(revision string, name schema.Name) error {
	key := typeOf{revision, name}
	d.mu.Lock()
	defer d.mu.Unlock()
	verdict, known := d.verdicts[key]
	if !known {
		if d.verdicts == nil {
			d.verdicts = map[typeOf]error{}
		}
		verdict = schema.Validate(revision, name, d.Raw)
		d.verdicts[key] = verdict
	}
	return verdict
}
