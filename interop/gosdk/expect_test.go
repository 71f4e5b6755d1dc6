package gosdk_test

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// judged are the scenarios for which clients that are broken on purpose have their tables: a new one is no news of them.
var judged = []string{"basic", "tool-use", "parallel"}

// notStreamed is in every table of a client that asks the model in the native dialect.
var notStreamed = expect.NotApplicable("ours: the native dialect has no streams", "parallel/streamed-uses", "parallel/late-delta")

// permissive is in every table of a client that besides returns whatever the model says.
var permissive = slices.Concat(notStreamed, expect.Fails("the handler's: it returns whatever the model says", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use"))
