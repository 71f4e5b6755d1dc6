module github.com/mcp-conform/mcp-conform/interop

go 1.25.5

require (
	github.com/mark3labs/mcp-go v1.2.1
	github.com/mcp-conform/mcp-conform v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.4.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/text v0.27.0 // indirect
)

// The two modules are released together; until the first release the root is where it stands.
replace github.com/mcp-conform/mcp-conform => ../
