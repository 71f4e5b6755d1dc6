package schema

// Name names a schema: a message, or a part of one that travels alone. Besides those below, the parts from which they
// are made have names too, such as "ContentBlock" and "Role"; see the files under definitions.
type Name string

// The envelope of JSON-RPC, in all revisions.
const (
	JSONRPCRequest      Name = "JSONRPCRequest"
	JSONRPCNotification Name = "JSONRPCNotification"
	// JSONRPCResponse is a response with a result.
	JSONRPCResponse Name = "JSONRPCResponse"
	// JSONRPCError is a response with an error. From 2025-11-25 on it may lack an id.
	JSONRPCError Name = "JSONRPCError"
)

// Messages and parts of all revisions. Requests and notifications are whole messages; up to 2025-06-18 their schemas say
// nothing of jsonrpc and id, which are those of [JSONRPCRequest] and [JSONRPCNotification]. Results are what is under
// "result".
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

	// CreateMessageRequest has method and params, also where it is an input request (2026-07-28) and no message.
	CreateMessageRequest       Name = "CreateMessageRequest"
	CreateMessageRequestParams Name = "CreateMessageRequestParams"
	CreateMessageResult        Name = "CreateMessageResult"
	SamplingMessage            Name = "SamplingMessage"

	ClientCapabilities Name = "ClientCapabilities"
	ServerCapabilities Name = "ServerCapabilities"
	// RequestMeta is the _meta of a request. In 2026-07-28 it carries what initialize did before.
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

// Messages of the revision 2026-07-28. Its errors are whole messages.
const (
	DiscoverRequest     Name = "DiscoverRequest"
	DiscoverResult      Name = "DiscoverResult"
	InputRequiredResult Name = "InputRequiredResult"

	HeaderMismatchError                  Name = "HeaderMismatchError"
	MissingRequiredClientCapabilityError Name = "MissingRequiredClientCapabilityError"
	UnsupportedProtocolVersionError      Name = "UnsupportedProtocolVersionError"
)
