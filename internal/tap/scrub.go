package tap

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
	"github.com/mcp-conform/mcp-conform/internal/secrets"
)

// Scrub replaces the secrets of a trace: those of the environment, and what looks like one.
func Scrub(t *trace.Trace, environment []string) {
	mask := leak.NewMask(environment)
	clean := func(raw trace.Bytes) trace.Bytes {
		if raw.IsZero() {
			return raw
		}
		return trace.Bytes(secrets.Replace(string(mask.Bytes(raw)), "REMOVED"))
	}
	header := func(h map[string]string) map[string]string {
		cleaned := map[string]string{}
		for name, value := range h {
			cleaned[name] = secrets.Replace(mask.Text(value), "REMOVED")
		}
		return cleaned
	}
	joinAnswers(t)
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case e.Frame != nil:
			f := *e.Frame
			f.Raw = clean(f.Raw)
			if f.HTTP != nil {
				head := *f.HTTP
				head.Header = header(head.Header)
				f.HTTP = &head
			}
			e.Frame = &f
		case e.Request != nil:
			r := *e.Request
			r.Body, r.Header, r.Path = clean(r.Body), header(r.Header), secrets.Replace(mask.Text(r.Path), "REMOVED")
			e.Request = &r
		case e.Chunk != nil:
			e.Chunk = &trace.ModelChunk{Exchange: e.Chunk.Exchange, Data: clean(e.Chunk.Data)}
		}
	}
}

// joinAnswers makes one event of the pieces of each answer of the model: a secret may be in two of them.
func joinAnswers(t *trace.Trace) {
	first := map[int64]*trace.ModelChunk{}
	events := t.Events[:0]
	for _, e := range t.Events {
		if e.Chunk != nil {
			if whole := first[e.Chunk.Exchange]; whole != nil {
				whole.Data = append(whole.Data, e.Chunk.Data...)
				continue
			}
			e.Chunk = &trace.ModelChunk{Exchange: e.Chunk.Exchange, Data: slices.Clone(e.Chunk.Data)}
			first[e.Chunk.Exchange] = e.Chunk
		}
		events = append(events, e)
	}
	t.Events = events
}

// said are the members whose texts somebody said: a user, a model, a tool, the author of a tool.
var said = []string{"text", "data", "blob", "systemPrompt", "arguments", "input", "structuredContent", "content",
	"description", "message", "instructions", "inputSchema", "outputSchema", "metadata", "stopSequences"}

// kept are the members of what was said that only name or order it.
var kept = []string{"type", "role", "id", "toolUseId", "name", "mimeType"}

// WithoutBodies leaves out what was said: of each text only its length remains, and of the model's wire only that there
// was a request.
func WithoutBodies(t *trace.Trace) {
	events := t.Events[:0]
	for _, e := range t.Events {
		switch {
		case e.Chunk != nil:
			continue
		case e.Request != nil:
			r := *e.Request
			r.Body = nil
			e.Request = &r
		case e.Frame != nil && !e.Frame.Raw.IsZero():
			f := *e.Frame
			if value := jsonvalue.Decode(f.Raw); value != nil {
				f.Raw = jsonvalue.Marshal(silent(value, false))
			} else {
				f.Raw = fmt.Appendf(nil, "(%d bytes)", len(f.Raw))
			}
			e.Frame = &f
		}
		events = append(events, e)
	}
	t.Events = events
}

// silent replaces the texts of a decoded value that were said.
func silent(v any, within bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			_, isText := one.(string)
			if !within || !isText || !slices.Contains(kept, name) {
				v[name] = silent(one, within || slices.Contains(said, name))
			}
		}
	case []any:
		for i := range v {
			v[i] = silent(v[i], within)
		}
	case string:
		if within {
			return fmt.Sprintf("(%d bytes)", len(v))
		}
	case json.Number:
		if within {
			return json.Number("0")
		}
	}
	return v
}
