package trace

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Message is the JSON-RPC message of a frame. Members have their exact names and are as they were written; nil if
// missing or null. A frame without a JSON object gives the zero Message.
type Message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error, Version json.RawMessage // Version is the member jsonrpc.
}

// ReadMessage reads a message. It never fails: what is invalid counts as missing. The members are parts of raw and
// valid JSON.
func ReadMessage(raw []byte) Message {
	if len(raw) == 0 {
		return Message{}
	}
	o, err := jsonvalue.ReadMembers(raw)
	if err != nil {
		return Message{}
	}
	m := Message{ID: o.Raw("id"), Method: o.Text("method"), Params: o.Raw("params"), Result: o.Raw("result"),
		Version: o.Raw("jsonrpc")}
	if o.Has("error") {
		m.Error = o.Raw("error")
	}
	return m
}
