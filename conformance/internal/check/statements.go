package check

// ResultSchema and ToolUseSchema are the statements of the schema about the types that results are made of.
var (
	ResultSchema  = []string{"schema/CreateMessageResult"}
	ToolUseSchema = []string{"schema/ToolUseContent"}
)
