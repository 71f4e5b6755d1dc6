package openai

import (
	"bytes"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// events are the events of a stream.
type events struct {
	text bytes.Buffer
	ends []int
}

func (e *events) add(event string) {
	e.text.WriteString(event)
	e.ends = append(e.ends, e.text.Len())
}

// addJSON adds an event with JSON on the line that begins so, and a blank line.
func (e *events) addJSON(before string, v any) {
	e.text.WriteString(before)
	jsonvalue.Write(&e.text, v)
	e.add("\n")
}

func (e *events) each() [][]byte {
	all, begin := make([][]byte, len(e.ends)), 0
	for i, end := range e.ends {
		all[i], begin = e.text.Bytes()[begin:end:end], end
	}
	return all
}
