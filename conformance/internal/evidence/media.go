package evidence

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// shows counts the media of the type that the model was given: a client may send one in another size or format than it came in, or by its
// address.
func (x *Exchange) Shows(t dialect.BlockType) int {
	n := 0
	for _, b := range dialect.Blocks(x.Request.Messages, t) {
		if len(b.Data) > 0 || b.Text != "" {
			n++
		}
	}
	return n
}
