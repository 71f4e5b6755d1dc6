package sse

// Cutter cuts a stream that comes in pieces of any size into its events, each with the empty line that ends it. The
// zero value begins a stream.
type Cutter struct {
	event []byte // so far
	text  bool   // the line has a character
	cr    bool   // the last byte was a CR, which ended its line
}

// Cut adds a piece, and returns the events that it completes. They stay valid.
func (c *Cutter) Cut(piece []byte) [][]byte {
	var events [][]byte
	for _, b := range piece {
		if c.cr && b == '\n' { // of the line before, or of the event before
			c.cr = false
			if len(c.event) > 0 {
				c.event = append(c.event, b)
			}
			continue
		}
		c.event = append(c.event, b)
		c.cr = b == '\r'
		switch {
		case b != '\n' && b != '\r':
			c.text = true
		case c.text:
			c.text = false
		default:
			events = append(events, c.event)
			c.event = nil
		}
	}
	return events
}
