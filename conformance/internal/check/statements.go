package check

// ResultSchema and ToolUseSchema are the statements of the schema about the types that results are made of.
var (
	ResultSchema = []string{"2025-03-26/schema/CreateMessageResult", "2025-06-18/schema/CreateMessageResult",
		"2025-11-25/schema/CreateMessageResult", "2026-07-28/schema/CreateMessageResult"}
	ToolUseSchema = []string{"2025-11-25/schema/ToolUseContent", "2026-07-28/schema/ToolUseContent"}
)
