package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// DecodedReply is what a model said, read from the bytes of its answer.
type DecodedReply struct {
	// Content is the blocks in order; fragments of a stream are joined. A tool use has the provider's ID, "" if it gives
	// none, and its Input as written, which may be invalid JSON or empty.
	Content []Block
	// FinishReason is the provider's own word for why the model stopped; "" if it gave none.
	FinishReason string
	// StopReason is the same in MCP's words, or the provider's word if MCP has none. Providers that report tool use like
	// any end of a turn give toolUse here.
	StopReason StopReason
	// Model is the model's name; "" if the answer has none.
	Model string
	// Complete is true if the answer was received to its end.
	Complete bool
}

// Say appends text to the last block if that has the same type, or adds a block. An empty text adds nothing.
func (r *DecodedReply) Say(t BlockType, text string) {
	switch last := len(r.Content) - 1; {
	case text == "":
	case last >= 0 && r.Content[last].Type == t:
		r.Content[last].Text += text
	default:
		r.Content = append(r.Content, Block{Type: t, Text: text})
	}
}

// stopReasons in order: the first with the provider's word counts.
var stopReasons = []StopReason{EndTurn, StopToolUse, StopMaxTokens, StopStopSequence, StopRefusal, StopContentFilter}

// End sets the finish reason, if given, and the stop reason by the provider's words. Content must be known.
func (r *DecodedReply) End(word string, words map[StopReason]string) {
	r.FinishReason = word
	r.StopReason = StopReason(word)
	if i := slices.IndexFunc(stopReasons, func(s StopReason) bool { return words[s] == word }); word != "" && i >= 0 {
		r.StopReason = stopReasons[i]
	}
	uses := slices.ContainsFunc(r.Content, func(b Block) bool { return b.Type == ToolUse })
	if uses && r.StopReason == EndTurn {
		r.StopReason = StopToolUse
	}
}

// Documents returns the JSON documents of an answer, in order: the body, the lines or elements of a stream, or the data
// of its events. It reports whether the data of an event was [DONE]. An error is about the first invalid document;
// those before it are returned. A last event without a blank line does not count.
func Documents(body []byte) (documents []json.RawMessage, done bool, err error) {
	if text := bytes.TrimLeft(body, " \t\r\n"); jsonvalue.IsKind(text, '{') || jsonvalue.IsKind(text, '[') {
		documents, err = sequence(text)
		return documents, false, err
	}
	// A read of bytes cannot fail.
	_ = sse.Events(bytes.NewReader(body), func(data []byte) bool {
		switch data = bytes.TrimSpace(data); {
		case string(data) == "[DONE]":
			done = true
		case len(data) > 0 && !json.Valid(data):
			err = fmt.Errorf("invalid JSON in an event: %.60q", data)
		case len(data) > 0:
			documents = append(documents, bytes.Clone(data))
		}
		return err == nil
	})
	return documents, done, err
}

// sequence returns the elements of an array, or values one after the other.
func sequence(body []byte) (documents []json.RawMessage, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	inArray := jsonvalue.IsKind(body, '[')
	if inArray {
		_, _ = dec.Token()
	}
	for !inArray || dec.More() {
		var next json.RawMessage
		if err := dec.Decode(&next); errors.Is(err, io.EOF) && !inArray {
			return documents, nil
		} else if err != nil {
			return documents, err
		}
		documents = append(documents, next)
	}
	_, err = dec.Token()
	return documents, err
}

// EachDocument decodes each document of an answer and calls take with it, until an error. It reports whether the data
// of an event was [DONE].
func EachDocument[T any](body []byte, take func(*T) error) (done bool, err error) {
	documents, done, err := Documents(body)
	for _, raw := range documents {
		v := new(T)
		if err := json.Unmarshal(raw, v); err != nil {
			return false, err
		}
		if err := take(v); err != nil {
			return false, err
		}
	}
	if err == nil && documents == nil {
		err = errors.New("the answer has no JSON")
	}
	return done, err
}

// ReportedError is the error of decoding an answer in which the model reports an error.
func ReportedError(raw json.RawMessage) error {
	return fmt.Errorf("the model reports an error: %.200s", raw)
}
