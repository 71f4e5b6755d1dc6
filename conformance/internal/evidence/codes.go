package evidence

// codeInvalidParams is how a client says that a request cannot be right.
const CodeInvalidParams = -32602

// codeInvalidRequest is how a client says that a message is no request.
const CodeInvalidRequest = -32600

// methodNotFound is the error of JSON-RPC for a request that nobody takes.
const MethodNotFound = -32601
