package cassettes

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

// leaf is a text in a body: a JSON string without its quotes, as it is written there.
type leaf struct {
	span
	name string // of the member that it is, or is in a list of
	// keys are equal for leaves that may be pieces of one text.
	keys [groupings]uint64
}

// The groupings of leaves, the first of which is what clients put together, and the others are for what it does not foresee: a text may begin in
// an event of another kind than it goes on in, and a plain answer may list the tokens of what it says.
const (
	byPlace   = iota // the names on the way to it, the kind of event, and which of several texts it is of
	byPath           // the names on the way, and numbers called index
	byName           // its own name, and those numbers
	groupings        // how many there are
)

// leavesOf returns the texts in a body, in their order: of JSON, of several in a row or in lines, and of server-sent events, whose data need not be
// JSON. A body that ends too early has those that are there.
func leavesOf(body string) []leaf {
	var all []leaf
	text := strings.TrimLeft(body, byteOrder+" \t\r\n")
	if begin := len(body) - len(text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		one := strings.HasPrefix(text, "{") && json.Valid([]byte(text))
		for at := begin; at < len(body); {
			s := leafScan{data: body[at:], base: at, positions: one}
			end, err := s.scan()
			all = append(all, s.leaves...)
			if at += end; err != nil {
				_, rest, _ := strings.Cut(body[at:], "\n") // what follows may be read again
				at = len(body) - len(rest)
			}
		}
		return all
	}
	for at, event := len(body)-len(strings.TrimPrefix(body, byteOrder)), []span(nil); at <= len(body); {
		end := at + len(body[at:])
		if i := strings.IndexAny(body[at:], "\r\n"); i >= 0 {
			end = at + i
		}
		switch line := body[at:end]; {
		case strings.HasPrefix(line, "data:"):
			from := at + len("data:")
			if strings.HasPrefix(body[from:end], " ") {
				from++
			}
			event = append(event, span{from, end})
		case line == "":
			all, event = append(all, leavesOfEvent(body, event)...), nil
		}
		if end == len(body) {
			return append(all, leavesOfEvent(body, event)...)
		}
		if at = end + 1; strings.HasPrefix(body[end:], "\r\n") {
			at++
		}
	}
	return all
}

// byteOrder is what may stand before a text, and is none of it.
const byteOrder = "\ufeff"

// leavesOfEvent returns those of an event with the lines of data. Where they are no JSON, each line is one.
func leavesOfEvent(body string, lines []span) []leaf {
	if len(lines) == 0 {
		return nil
	}
	var data strings.Builder
	for i, line := range lines {
		if i > 0 {
			data.WriteByte('\n')
		}
		data.WriteString(body[line.from:line.to])
	}
	s := leafScan{data: data.String()}
	_, err := s.scan()
	isJSON := err == nil && strings.HasPrefix(strings.TrimLeft(s.data, " \t\n"), "{") // else words, also those that are a number
	if len(s.leaves) == 0 && !isJSON && s.data != "[DONE]" {
		for _, line := range lines {
			s.leaves = append(s.leaves, leaf{span: line})
		}
		return s.leaves
	}
	at, line := 0, 0 // where the line begins in the data
	for i := range s.leaves {
		l := &s.leaves[i]
		for l.from > at+lines[line].to-lines[line].from {
			at += lines[line].to - lines[line].from + 1
			line++
		}
		move := lines[line].from - at
		l.from, l.to = l.from+move, min(l.to+move, lines[line].to)
	}
	return s.leaves
}

// leafScan reads one JSON value.
type leafScan struct {
	data      string
	base      int  // where it begins in the body
	positions bool // whether places in arrays tell texts apart: not where each event has an array of its own
	decoder   *json.Decoder
	leaves    []leaf
}

// scan reads the value, and returns where it ends, or where it can be read no more.
func (s *leafScan) scan() (end int, err error) {
	s.decoder = json.NewDecoder(strings.NewReader(s.data))
	_, err = s.value([groupings]uint64{}, "", 0)
	return int(s.decoder.InputOffset()), err
}

// deepestJSON is how deep a value may be nested that is read.
const deepestJSON = 1000

var errTooDeep = errors.New("it is nested too deep")

// value reads a value with the keys, of the member name, and returns it where it is no array or object.
func (s *leafScan) value(keys [groupings]uint64, name string, depth int) (json.Token, error) {
	before := int(s.decoder.InputOffset())
	token, err := s.decoder.Token()
	if err != nil {
		if begun := s.begins(before); errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(s.data[begun:], `"`) {
			s.leaf(span{begun + 1, len(s.data)}, keys, name)
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
		s.leaf(span{s.begins(before) + 1, int(s.decoder.InputOffset()) - 1}, keys, name)
	}
	return token, nil
}

func (s *leafScan) array(keys [groupings]uint64, name string, depth int) error {
	if depth >= deepestJSON {
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

// begins returns where the token begins that comes after a place.
func (s *leafScan) begins(place int) int {
	return len(s.data) - len(strings.TrimLeft(s.data[place:], " \t\r\n,:"))
}

func (s *leafScan) leaf(text span, keys [groupings]uint64, name string) {
	keys[byName] = mixed(keys[byName], name)
	s.leaves = append(s.leaves, leaf{span{s.base + text.from, s.base + text.to}, name, keys})
}

// object reads an object whose brace has been read. What tells its texts from those of others may stand behind them.
func (s *leafScan) object(keys [groupings]uint64, depth int) error {
	first := len(s.leaves)
	var apart [groupings]uint64
	err := errTooDeep
	for depth < deepestJSON {
		if !s.decoder.More() {
			_, err = s.decoder.Token()
			break
		}
		var token json.Token
		if token, err = s.decoder.Token(); err != nil {
			break
		}
		name, _ := token.(string) // the decoder has seen that it is one
		below := keys
		below[byPlace], below[byPath] = mixed(keys[byPlace], name), mixed(keys[byPath], name)
		if token, err = s.value(below, name, depth+1); err != nil {
			break
		}
		tellApart(&apart, name, token, depth)
	}
	for i := range s.leaves[first:] {
		for k := range apart {
			s.leaves[first+i].keys[k] += apart[k]
		}
	}
	return err
}

// tellApart takes down a member that tells the texts of its object from others. Some write no index where it is 0.
func tellApart(apart *[groupings]uint64, name string, value json.Token, depth int) {
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
		if v && depth > 0 { // as a thought of Gemini's; at the top it says that the answer is done
			apart[byPlace] += mixed(3, name)
		}
	}
}

// mixed returns a key with one more part to it.
func mixed(key uint64, part string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, part) // a hash takes all
	return (key + h.Sum64()) * 0x9e3779b97f4a7c15
}
