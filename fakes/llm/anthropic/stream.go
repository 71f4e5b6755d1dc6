package anthropic

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// event writes an event: its name, which is also the type in its data, and a blank line.
func event(name string, data any) []byte {
	return append(append([]byte("event: "+name+"\ndata: "), dialect.Marshal(data)...), "\n\n"...)
}

// ping has a space in its data, as in real traffic.
var ping = []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")

type blockStart struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block any    `json:"content_block"`
}

type blockDelta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta any    `json:"delta"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type inputDelta struct {
	Type string `json:"type"`
	JSON string `json:"partial_json"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   *string      `json:"stop_reason"`
		StopSequence *string      `json:"stop_sequence"`
		StopDetails  *stopDetails `json:"stop_details"`
	} `json:"delta"`
	Usage struct {
		Input         int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		Output        int `json:"output_tokens"`
	} `json:"usage"`
}

// stream returns the events: the empty message, the deltas of each block, then the stop reason. A ping follows the
// start of the first block, as in real traffic.
func (m *answer) stream() [][]byte {
	begun := *m
	begun.Content, begun.StopReason, begun.StopSequence, begun.StopDetails = []any{}, nil, nil, nil
	begun.Usage.Output = 1
	events := [][]byte{event("message_start", struct {
		Type    string  `json:"type"`
		Message *answer `json:"message"`
	}{"message_start", &begun})}
	for i, b := range m.blocks {
		start, deltas := inPieces(b)
		events = append(events, event("content_block_start", blockStart{"content_block_start", i, start}))
		if i == 0 {
			events = append(events, ping)
		}
		for _, delta := range deltas {
			events = append(events, event("content_block_delta", blockDelta{"content_block_delta", i, delta}))
		}
		events = append(events, event("content_block_stop", blockStop{"content_block_stop", i}))
	}
	end := messageDelta{Type: "message_delta"}
	end.Delta.StopReason, end.Delta.StopSequence, end.Delta.StopDetails = m.StopReason, m.StopSequence, m.StopDetails
	end.Usage.Input, end.Usage.Output = m.Usage.Input, m.Usage.Output
	return append(events, event("message_delta", end), event("message_stop", struct {
		Type string `json:"type"`
	}{"message_stop"}))
}

// inPieces returns the start of a block and its deltas. The first delta of a tool use's input is always empty.
func inPieces(b dialect.Block) (start any, deltas []any) {
	switch b.Type {
	case dialect.Text:
		for _, fragment := range dialect.Fragments(b.Text) {
			deltas = append(deltas, textDelta{"text_delta", fragment})
		}
		return textBlock{Type: "text"}, deltas
	case dialect.Thinking:
		for _, fragment := range dialect.Fragments(b.Text) {
			deltas = append(deltas, thinkingDelta{"thinking_delta", fragment})
		}
		return thinkingBlock{Type: "thinking"}, append(deltas, signatureDelta{"signature_delta", b.Signature})
	case dialect.ToolUse:
		input := string(b.Input)
		if input == string(noInput) {
			input = ""
		}
		deltas = append(deltas, inputDelta{Type: "input_json_delta"})
		for _, fragment := range dialect.Fragments(input) {
			deltas = append(deltas, inputDelta{"input_json_delta", fragment})
		}
		return useBlock{"tool_use", b.ID, b.Name, noInput, caller{"direct"}}, deltas
	}
	return whole(b), nil
}
