package cassettes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// How an answer ended.
const (
	wholeAnswer   = ""
	cutByCaller   = "caller"   // who closed or cancelled before the end
	cutByProvider = "provider" // or the connection broke
)

// timing says when an answer arrived and how it ended. It is saved in a file beside the cassette.
type timing struct {
	// ID is the number of the interaction.
	ID int `json:"id"`
	// First is the time to the response head, in milliseconds.
	First int64 `json:"first_ms"`
	// Pieces are the pieces of the body: bytes, and milliseconds since the previous piece. Nil: unknown.
	Pieces [][2]int64 `json:"pieces,omitempty"`
	// Cut says who cut the answer short: "caller", "provider" or "" (complete).
	Cut string `json:"cut,omitempty"`
}

type timings struct {
	Version      int      `json:"version"`
	Interactions []timing `json:"interactions"`
}

const (
	timingExtension = ".timing.json"
	timingVersion   = 1
)

func timingFile(path string) string { return strings.TrimSuffix(path, extension) + timingExtension }

func (t *timings) encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\"version\": %d, \"interactions\": [", timingVersion)
	for i, one := range t.Interactions {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(jsonvalue.Marshal(one))
	}
	b.WriteString("\n]}\n")
	return []byte(b.String())
}

// parseTimings decodes the timings of a cassette. Its error starts with the name and says what to do.
func parseTimings(name string, data []byte, r *recording) ([]timing, error) {
	wrong := func(format string, args ...any) ([]timing, error) {
		return nil, fmt.Errorf("timings "+name+": "+format+"; restore the file or record the cassette again", args...)
	}
	var t timings
	if err := json.Unmarshal(data, &t); err != nil {
		return wrong("%w", err)
	}
	switch {
	case t.Version != timingVersion:
		return wrong("unknown format version %d, expected %d", t.Version, timingVersion)
	case len(t.Interactions) != len(r.interactions):
		return wrong("found %d interactions, expected %d as in the cassette", len(t.Interactions), len(r.interactions))
	}
	for i := range t.Interactions {
		if err := t.Interactions[i].check(i, len(r.interactions[i].Response.Body)); err != nil {
			return wrong("interaction %d: %w", i, err)
		}
	}
	return t.Interactions, nil
}

// check compares a timing with the length of its body.
func (t *timing) check(id, length int) error {
	if t.ID != id {
		return fmt.Errorf("unexpected id %d", t.ID)
	}
	if t.Cut != wholeAnswer && t.Cut != cutByCaller && t.Cut != cutByProvider {
		return fmt.Errorf("cut is %q: expected %q or %q", t.Cut, cutByCaller, cutByProvider)
	}
	if t.First < 0 {
		return errors.New("first_ms is less than 0")
	}
	if t.Pieces == nil {
		return nil
	}
	sum := int64(0)
	for _, p := range t.Pieces {
		if p[0] <= 0 || p[1] < 0 || p[0] > int64(length) {
			return fmt.Errorf("invalid piece %v: expected a number of bytes and of milliseconds", p)
		}
		sum += p[0]
	}
	if sum != int64(length) {
		return fmt.Errorf("the pieces have %d bytes, the body in the cassette has %d", sum, length)
	}
	return nil
}

// fit adapts the pieces to an edited body. A piece keeps its end unless the end was inside a replaced part.
func (t *timing) fit(edits []edit) {
	if len(edits) == 0 || t.Pieces == nil {
		return
	}
	var pieces [][2]int64
	read, written, pause := int64(0), int64(0), int64(0)
	after := mover{edits: edits}
	for _, p := range t.Pieces {
		read += p[0]
		pause += p[1]
		if end := int64(after.to(int(read))); end > written {
			pieces = append(pieces, [2]int64{end - written, pause})
			written, pause = end, 0
		}
	}
	t.Pieces = pieces
}

func loadTimings(path string, r *recording) error {
	if !r.timed {
		return nil
	}
	name := timingFile(path)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // only a replay with the recorded pace needs them
	}
	if err != nil {
		return fmt.Errorf("timings %s: %w", name, err)
	}
	r.timings, err = parseTimings(name, data, r)
	return err
}
