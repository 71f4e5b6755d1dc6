package evidence

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// standardStopReasons are the words that have a meaning of their own (2025-11-25, schema#createmessageresult).
var StandardStopReasons = []string{string(dialect.EndTurn), string(dialect.StopForTool), string(dialect.StopMaxTokens), string(dialect.StopStopSequence)}
