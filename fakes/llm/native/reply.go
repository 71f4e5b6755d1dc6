package native

import (
	"errors"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// DecodeReply reads a CreateMessageResult.
func (codec) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	result, err := jsonvalue.ReadMembers(body)
	switch {
	case err != nil:
		return nil, err
	case result.Has("error"):
		return nil, dialect.ReportedError(result.Raw("error"))
	case !result.Has("content"):
		return nil, errors.New("the result has no content")
	}
	reply := &dialect.DecodedReply{Model: result.Text("model"), Content: Blocks(result.Raw("content")), Complete: true}
	reply.End(result.Text("stopReason"), nil)
	return reply, nil
}
