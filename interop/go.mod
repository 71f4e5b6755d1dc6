module github.com/mcp-conform/mcp-conform/interop

go 1.25.0

require (
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
)
