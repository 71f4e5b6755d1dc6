package cassettes

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

// leaf is a JSON string in a body, without its quotes and still escaped.
type leaf struct {
	span
	name string // of its member, or of the member with its array
	// keys are equal for leaves that may be pieces of one text.
	keys [groupings]uint64
}

// Groupings of leaves. Clients join texts by the first. The others cover surprises: a text may begin in another kind of
// event than it continues in, and a plain answer may list the tokens of its text.
const (
	byPlace   = iota // path, kind of event, and which of several texts
	byPath           // path, and numbers called index
	byName           // member name, and numbers called index
	groupings        // count
)

// leavesOf returns the texts of a body in order. It reads JSON, several JSON values, JSON lines and server-sent events,
// whose data need not be JSON. A truncated body yields the leaves it has.
func leavesOf(body string) []leaf {
	text := strings.TrimLeft(body, byteOrder+" \t\r\n")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return jsonLeaves(body, len(body)-len(text))
	}
	return eventLeaves(body)
}

// jsonLeaves reads JSON values from a place of a body on.
func jsonLeaves(body string, at int) []leaf {
	var all []leaf
	one := body[at] == '{' && json.Valid([]byte(body[at:]))
	for at < len(body) {
		s := leafScan{data: body[at:], base: at, positions: one}
		end, err := s.scan()
		all = append(all, s.leaves...)
		if at += end; err != nil {
			_, rest, _ := strings.Cut(body[at:], "\n") // the next line may be valid again
			at = len(body) - len(rest)
		}
	}
	return all
}

func eventLeaves(body string) []leaf {
	var all []leaf
	at := len(body) - len(strings.TrimPrefix(body, byteOrder))
	for _, event := range events([]byte(body[at:])) {
		all = append(all, leavesOfEvent(body, dataLines(body, at, at+len(event)))...)
		at += len(event)
	}
	return all
}

// byteOrder is the byte order mark that may precede a text.
const byteOrder = "\ufeff"

// leavesOfEvent returns the leaves of one event, given its data lines. A line that is not JSON is one leaf.
func leavesOfEvent(body string, lines []span) []leaf {
	if len(lines) == 0 {
		return nil
	}
	var data strings.Builder
	for i, line := range lines {
		if i > 0 {
			data.WriteByte('\n')
		}
		data.WriteString(body[line.From:line.To])
	}
	s := leafScan{data: data.String()}
	_, err := s.scan()
	isJSON := err == nil && strings.HasPrefix(strings.TrimLeft(s.data, " \t\n"), "{") // otherwise words or numbers
	if len(s.leaves) == 0 && !isJSON && s.data != "[DONE]" {
		for _, line := range lines {
			s.leaves = append(s.leaves, leaf{span: line})
		}
		return s.leaves
	}
	at, line := 0, 0 // at is the beginning of the line in the data
	for i := range s.leaves {
		l := &s.leaves[i]
		for l.From > at+lines[line].To-lines[line].From {
			at += lines[line].To - lines[line].From + 1
			line++
		}
		move := lines[line].From - at
		l.From, l.To = l.From+move, min(l.To+move, lines[line].To)
	}
	return s.leaves
}

type leafScan struct {
	data      string
	base      int  // its place in the body
	positions bool // array indexes separate texts; false if each event has its own array
	decoder   *json.Decoder
	leaves    []leaf
}

func (s *leafScan) scan() (end int, err error) {
	s.decoder = json.NewDecoder(strings.NewReader(s.data))
	_, err = s.value([groupings]uint64{}, "", 0)
	return int(s.decoder.InputOffset()), err
}

// maxDepth bounds the nesting of JSON values.
const maxDepth = 1000

var errTooDeep = errors.New("nested too deep")

func (s *leafScan) value(keys [groupings]uint64, name string, depth int) (json.Token, error) {
	before := int(s.decoder.InputOffset())
	token, err := s.decoder.Token()
	if err != nil {
		if begun := s.begins(before); errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(s.data[begun:], `"`) {
			s.leaf(span{From: begun + 1, To: len(s.data)}, keys, name)
		}
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return nil, s.object(keys, depth)
	case json.Delim('['):
		return nil, s.array(keys, name, depth)
	}
	if _, isText := token.(string); isText {
		s.leaf(span{From: s.begins(before) + 1, To: int(s.decoder.InputOffset()) - 1}, keys, name)
	}
	return token, nil
}

func (s *leafScan) array(keys [groupings]uint64, name string, depth int) error {
	if depth >= maxDepth {
		return errTooDeep
	}
	for i := 0; s.decoder.More(); i++ {
		place := keys
		if s.positions {
			place[byPlace] = mixed(place[byPlace], strconv.Itoa(i))
		}
		if _, err := s.value(place, name, depth+1); err != nil {
			return err
		}
	}
	_, err := s.decoder.Token()
	return err
}

// begins returns where the token after a place begins.
func (s *leafScan) begins(place int) int {
	return len(s.data) - len(strings.TrimLeft(s.data[place:], " \t\r\n,:"))
}

func (s *leafScan) leaf(text span, keys [groupings]uint64, name string) {
	keys[byName] = mixed(keys[byName], name)
	s.leaves = append(s.leaves, leaf{span{From: s.base + text.From, To: s.base + text.To}, name, keys})
}

// object reads an object after its brace. Members that separate its texts from others may follow those texts.
func (s *leafScan) object(keys [groupings]uint64, depth int) error {
	first := len(s.leaves)
	var apart [groupings]uint64
	err := errTooDeep
	for depth < maxDepth {
		if !s.decoder.More() {
			_, err = s.decoder.Token()
			break
		}
		var token json.Token
		if token, err = s.decoder.Token(); err != nil {
			break
		}
		name, _ := token.(string) // the decoder accepts only strings here
		below := keys
		below[byPlace], below[byPath] = mixed(keys[byPlace], name), mixed(keys[byPath], name)
		if token, err = s.value(below, name, depth+1); err != nil {
			break
		}
		separate(&apart, name, token, depth)
	}
	for i := range s.leaves[first:] {
		for k := range apart {
			s.leaves[first+i].keys[k] += apart[k]
		}
	}
	return err
}

// separate notes a member that separates the texts of its object from others. Some providers omit an index of 0.
func separate(apart *[groupings]uint64, name string, value json.Token, depth int) {
	switch v := value.(type) {
	case float64:
		if v != 0 && (name == "index" || strings.HasSuffix(name, "_index")) {
			for k := range apart {
				apart[k] += mixed(1, name+strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
	case string:
		if name == "item_id" || name == "type" && depth == 0 {
			apart[byPlace] += mixed(2, name+v)
		}
	case bool:
		if v && depth > 0 { // such as Gemini's thought; at the top level it says that the answer is done
			apart[byPlace] += mixed(3, name)
		}
	}
}

func mixed(key uint64, part string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, part) // never fails
	return (key + h.Sum64()) * 0x9e3779b97f4a7c15
}
