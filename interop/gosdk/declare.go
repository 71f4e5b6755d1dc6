package gosdk

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// declaring limits the declared sampling capabilities to asked, capabilities as JSON (empty: no limit). It adds
// nothing. The SDK declares sampling for every client with a handler, so a client that declares none must have no
// handler.
func declaring(asked json.RawMessage, options *mcp.ClientOptions) (*mcp.ClientOptions, error) {
	limited := mcp.ClientOptions{}
	if options != nil {
		limited = *options
	}
	if len(asked) == 0 {
		return &limited, nil
	}
	var limit struct {
		Sampling *struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"sampling"`
	}
	if err := json.Unmarshal(asked, &limit); err != nil {
		return nil, fmt.Errorf("invalid capabilities to declare %s, expected a JSON object: %w", asked, err)
	}
	capabilities := mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: true}} // the SDK's default
	if limited.Capabilities != nil {
		capabilities = *limited.Capabilities
	}
	samples := capabilities.Sampling != nil || limited.CreateMessageHandler != nil ||
		limited.CreateMessageWithToolsHandler != nil
	switch {
	case !samples || limit.Sampling != nil && limit.Sampling.Tools != nil:
		return &limited, nil
	case limit.Sampling == nil:
		capabilities.Sampling = nil
		limited.CreateMessageHandler, limited.CreateMessageWithToolsHandler = nil, nil
	default:
		var sampling mcp.SamplingCapabilities
		if capabilities.Sampling != nil {
			sampling = *capabilities.Sampling
		}
		sampling.Tools = nil
		capabilities.Sampling = &sampling
	}
	limited.Capabilities = &capabilities
	return &limited, nil
}
