package cassettes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// How an answer ended.
const (
	wholeAnswer   = ""
	cutByCaller   = "caller"   // who closed it, or gave up, before it was all there
	cutByProvider = "provider" // or something on the way: the connection broke
)

// timing is when an answer came, and how it ended: what a cassette of go-vcr has no place for. It stands in a file beside it.
type timing struct {
	// ID is the interaction's.
	ID int `json:"id"`
	// First is the time to the answer's head, in milliseconds.
	First int64 `json:"first_ms"`
	// Pieces are the body's: how many bytes, and how many milliseconds after the piece before. Nil where they are not known.
	Pieces [][2]int64 `json:"pieces,omitempty"`
	// Cut is who cut the answer short; "" for one that is whole.
	Cut string `json:"cut,omitempty"`
}

// timings is the file.
type timings struct {
	Version      int      `json:"version"`
	Interactions []timing `json:"interactions"`
}

const (
	timingExtension = ".timing.json"
	timingVersion   = 1
)

// timingFile returns the path of the timings of a cassette's.
func timingFile(path string) string { return strings.TrimSuffix(path, extension) + timingExtension }

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }

// encode writes a line for each interaction.
func (t *timings) encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\"version\": %d, \"interactions\": [", timingVersion)
	for i, one := range t.Interactions {
		line, err := json.Marshal(one)
		if err != nil {
			panic(err) // numbers and a word
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return []byte(b.String())
}

// parseTimings reads the timings of a cassette. Its error begins with the name and says what to do.
func parseTimings(name string, data []byte, r *recording) ([]timing, error) {
	wrong := func(format string, args ...any) ([]timing, error) {
		return nil, fmt.Errorf("timings "+name+": "+format+"; restore the file, or record the cassette again", args...)
	}
	var t timings
	if err := json.Unmarshal(data, &t); err != nil {
		return wrong("%w", err)
	}
	switch {
	case t.Version != timingVersion:
		return wrong("the format is version %d, and not %d", t.Version, timingVersion)
	case len(t.Interactions) != len(r.interactions):
		return wrong("there are %d interactions in it, and %d in the cassette", len(t.Interactions), len(r.interactions))
	}
	for i := range t.Interactions {
		if err := t.Interactions[i].check(i, len(r.interactions[i].Response.Body)); err != nil {
			return wrong("interaction %d: %w", i, err)
		}
	}
	return t.Interactions, nil
}

// check holds a timing against the body that it is of.
func (t *timing) check(id, length int) error {
	if t.ID != id {
		return fmt.Errorf("it has the id %d", t.ID)
	}
	if t.Cut != wholeAnswer && t.Cut != cutByCaller && t.Cut != cutByProvider {
		return fmt.Errorf("cut is %q: want %q or %q", t.Cut, cutByCaller, cutByProvider)
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
			return fmt.Errorf("a piece is %v: want a number of bytes, and of milliseconds", p)
		}
		sum += p[0]
	}
	if sum != int64(length) {
		return fmt.Errorf("its pieces are %d bytes, and the body in the cassette is %d", sum, length)
	}
	return nil
}

// fit has the pieces fit a body after edits. A piece keeps its end where that is not within what was replaced.
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

// loadTimings reads the timings beside a cassette, where it says that there are some.
func loadTimings(path string, r *recording) error {
	if !r.timed {
		return nil
	}
	name := timingFile(path)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cassette %s: its timings are to be in %s beside it, which is not there: restore it, or record the cassette again", path, filepath.Base(name))
	}
	if err != nil {
		return fmt.Errorf("timings %s: %w", name, err)
	}
	r.timings, err = parseTimings(name, data, r)
	return err
}
