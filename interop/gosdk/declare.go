package gosdk

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// declaring returns the options of a client that declares no more of sampling than asked says, which are capabilities as JSON; nothing
// asked is no limit. It adds nothing: a client that cannot sample does not start to claim so. Since the SDK declares sampling for
// whoever has a handler, a client that shall declare none has to be without one.
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
		return nil, fmt.Errorf("the capabilities to declare are %s, want those of MCP as a JSON object: %w", asked, err)
	}
	capabilities := mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: true}} // the SDK's own default
	if limited.Capabilities != nil {
		capabilities = *limited.Capabilities
	}
	samples := capabilities.Sampling != nil || limited.CreateMessageHandler != nil || limited.CreateMessageWithToolsHandler != nil
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
