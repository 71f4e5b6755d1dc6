package schema

// Name names a schema: a message, or a part of one. The constants name the schemas that other packages use; the files
// under definitions have more, such as "ContentBlock" and "Role".
type Name string

// The envelope of JSON-RPC, in all revisions.
const (
	JSONRPCRequest      Name = "JSONRPCRequest"
	JSONRPCNotification Name = "JSONRPCNotification"
	// JSONRPCResponse is a response with a result.
	JSONRPCResponse Name = "JSONRPCResponse"
	// JSONRPCError is a response with an error. Since 2025-11-25 it may lack an id.
	JSONRPCError Name = "JSONRPCError"
)

// Messages and parts of all revisions. Requests and notifications are whole messages; up to 2025-06-18 their schemas do
// not cover jsonrpc and id, which [JSONRPCRequest] and [JSONRPCNotification] do. Results are the value of "result".
const (
	ListToolsRequest    Name = "ListToolsRequest"
	ListToolsResult     Name = "ListToolsResult"
	Tool                Name = "Tool"
	CallToolRequest     Name = "CallToolRequest"
	CallToolResult      Name = "CallToolResult"
	GetPromptRequest    Name = "GetPromptRequest"
	GetPromptResult     Name = "GetPromptResult"
	ReadResourceRequest Name = "ReadResourceRequest"
	ReadResourceResult  Name = "ReadResourceResult"

	// CreateMessageRequest has method and params: a message or, in 2026-07-28, an input request.
	CreateMessageRequest       Name = "CreateMessageRequest"
	CreateMessageRequestParams Name = "CreateMessageRequestParams"
	CreateMessageResult        Name = "CreateMessageResult"
	SamplingMessage            Name = "SamplingMessage"

	ClientCapabilities Name = "ClientCapabilities"
	ServerCapabilities Name = "ServerCapabilities"
	// RequestMeta is the _meta of a request. In 2026-07-28 it replaces initialize.
	RequestMeta Name = "RequestMeta"

	CancelledNotification Name = "CancelledNotification"
	ProgressNotification  Name = "ProgressNotification"
)

// Messages of the revisions up to 2025-11-25.
const (
	InitializeRequest       Name = "InitializeRequest"
	InitializeResult        Name = "InitializeResult"
	InitializedNotification Name = "InitializedNotification"
	PingRequest             Name = "PingRequest"
)

// Tasks of the revision 2025-11-25.
const (
	TaskStatusNotification Name = "TaskStatusNotification"
	CreateTaskResult       Name = "CreateTaskResult"
	// GetTaskResult is the result of tasks/get and of tasks/cancel.
	GetTaskResult   Name = "GetTaskResult"
	ListTasksResult Name = "ListTasksResult"
)

// Messages of the revision 2026-07-28. Its errors are whole messages.
const (
	DiscoverRequest     Name = "DiscoverRequest"
	DiscoverResult      Name = "DiscoverResult"
	InputRequiredResult Name = "InputRequiredResult"

	HeaderMismatchError                  Name = "HeaderMismatchError"
	MissingRequiredClientCapabilityError Name = "MissingRequiredClientCapabilityError"
	UnsupportedProtocolVersionError      Name = "UnsupportedProtocolVersionError"
)
