package faults

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// Kinds of messages besides the requests and notifications of the client, whose kind is their method.
const (
	samplingRequest  = "sampling request" // as the client reads it
	samplingResponse = "sampling response"
	otherResponse    = "response"
	retry            = "retry" // a call with input responses
	modelRequest     = "model request"
	modelReply       = "model reply" // as the client reads it
	headers          = "headers"     // of a message to the server over HTTP
	received         = "received "   // and a kind: another message of the server, as the client reads it
)

func isRead(kind string) bool {
	return kind == samplingRequest || kind == modelReply || strings.HasPrefix(kind, received)
}

// groups are the kinds that are drawn with equal chances; the last has all others.
var groups = [][]string{{samplingRequest}, {samplingResponse, retry}, {modelRequest}, {modelReply}, nil}

// groupOf returns the index of a kind's group.
func groupOf(kind string) int {
	for i, kinds := range groups {
		if slices.Contains(kinds, kind) {
			return i
		}
	}
	return len(groups) - 1
}

// hooks returns an edit that passes every message of the known kinds to a function. A message that it may drop or send
// twice is m; for others it is nil.
func hooks(see func(kind string, body object, m *mutants.Message)) mutants.Edit {
	return mutants.Edit{
		Params: func(params object) { see(samplingRequest, params, nil) },
		In: func(m *mutants.Message) {
			switch {
			case m.IsResponse(): // Without it, the client would wait to the end of its session.
				see(received+otherResponse, m.Body, nil)
			case !m.IsRequest():
				see(received+m.Method(), m.Body, m)
			}
		},
		Out: func(m *mutants.Message) {
			see(kindOf(m), m.Body, m)
			if m.Header != nil {
				editHeader(m.Header, func(o object) { see(headers, o, nil) })
			}
		},
		ModelRequest: func(body object) { see(modelRequest, body, nil) },
		ModelReply: func(chunks []object) []object {
			if len(chunks) == 1 { // a whole reply
				see(modelReply, chunks[0], nil)
			}
			if len(chunks) < 2 {
				return chunks
			}
			list := make([]any, len(chunks))
			for i, chunk := range chunks {
				list[i] = chunk
			}
			body := object{"chunks": list}
			see(modelReply, body, nil)
			list, _ = body["chunks"].([]any)
			var left []object
			for _, chunk := range list {
				if o, ok := chunk.(object); ok {
					left = append(left, o)
				}
			}
			return left
		},
	}
}

// editHeader edits the headers of a request as an object.
func editHeader(h http.Header, edit func(o object)) {
	o := object{}
	for name := range h {
		o[name] = h.Get(name)
	}
	was := maps.Clone(o)
	edit(o)
	for name := range was {
		if o[name] == nil {
			h.Del(name)
		}
	}
	for name, value := range o {
		if value != was[name] {
			h.Set(name, fmt.Sprint(value))
		}
	}
}

func kindOf(m *mutants.Message) string {
	switch {
	case m.AnswersSample():
		return samplingResponse
	case m.IsResponse():
		return otherResponse
	case m.Call() != nil && m.Call().Retries > 0:
		return retry
	}
	return m.Method()
}
