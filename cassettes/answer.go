package cassettes

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// ofTheConnection are headers that the sender of the answer sets.
var ofTheConnection = []string{"Connection", "Content-Length", "Date", "Keep-Alive", "Transfer-Encoding"}

// answerOf returns the answer of a recorded response, without the header values that were removed. A stream has the
// recorded chunks, or its events if the timing is unknown. A missing Content-Type is that of the body.
func answerOf(r *cassette.Response, when *timing) dialect.Answer {
	a := dialect.Answer{Status: r.Code, Header: http.Header{}}
	for name, values := range r.Headers {
		if name = http.CanonicalHeaderKey(name); len(values) > 0 && values[0] != redacted {
			a.Header[name] = values
		}
	}
	for _, name := range ofTheConnection {
		delete(a.Header, name)
	}
	body := []byte(r.Body)
	if kind := mediaTypeOfBody(r.Body); kind != "" && a.Header["Content-Type"] == nil {
		a.Header.Set("Content-Type", kind)
	}
	switch mediaTypeOf(a.Header) {
	case "text/event-stream":
		a.Stream, a.Chunks = true, events(body)
	case "application/x-ndjson":
		a.Stream, a.Chunks = true, bytes.SplitAfter(body, []byte("\n"))
	default:
		a.Chunks = [][]byte{body}
	}
	if when != nil && when.Pieces != nil && a.Stream {
		a.Chunks = nil
		for _, piece := range when.Pieces {
			a.Chunks = append(a.Chunks, body[:piece[0]:piece[0]])
			body = body[piece[0]:]
		}
	}
	if last := len(a.Chunks) - 1; last >= 0 && len(a.Chunks[last]) == 0 {
		a.Chunks = a.Chunks[:last]
	}
	return a
}

// mediaTypeOf returns the media type of a header, whose names may have any case; "" if it is missing or invalid.
func mediaTypeOf(h http.Header) string {
	for name, values := range h {
		if http.CanonicalHeaderKey(name) == "Content-Type" && len(values) > 0 {
			mediaType, _, _ := mime.ParseMediaType(values[0])
			return mediaType
		}
	}
	return ""
}

// mediaTypeOfBody returns the media type of a stream or JSON; "" for anything else.
func mediaTypeOfBody(body string) string {
	text := strings.TrimLeft(body, byteOrder+" \t\r\n")
	line, _, _ := strings.Cut(text, "\n")
	switch field := eventField.FindStringIndex(text); {
	case field != nil && field[0] == 0:
		return "text/event-stream"
	case json.Valid([]byte(text)):
		return "application/json"
	case strings.HasPrefix(line, "{") && json.Valid([]byte(line)):
		return "application/x-ndjson"
	}
	return ""
}

// eventField matches the beginning of a line of an event: a field that the standard has, or a comment.
var eventField = regexp.MustCompile(`(?:^|[\r\n])(?:data|event|id|retry)?:`)

// events splits a stream after each blank line, for all line endings. The joined pieces are the stream.
func events(stream []byte) [][]byte {
	var pieces [][]byte
	begin, line := 0, 0 // of the piece and of the line
	for i := 0; i < len(stream); i++ {
		if stream[i] != '\n' && stream[i] != '\r' {
			continue
		}
		blank := i == line
		if stream[i] == '\r' && i+1 < len(stream) && stream[i+1] == '\n' {
			i++
		}
		line = i + 1
		if blank {
			pieces = append(pieces, stream[begin:line])
			begin = line
		}
	}
	if begin < len(stream) {
		pieces = append(pieces, stream[begin:])
	}
	return pieces
}

// dataLines returns the values of the data lines between two places of a body.
func dataLines(body string, at, end int) []span {
	var lines []span
	for at < end {
		stop := end
		if i := strings.IndexAny(body[at:end], "\r\n"); i >= 0 {
			stop = at + i
		}
		if value, ok := strings.CutPrefix(body[at:stop], "data:"); ok {
			lines = append(lines, span{From: stop - len(strings.TrimPrefix(value, " ")), To: stop})
		}
		at = stop + 1
	}
	return lines
}
