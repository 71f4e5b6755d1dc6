package schema

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exported has the constants of name.go.
var exported = []Name{
	JSONRPCRequest, JSONRPCNotification, JSONRPCResponse, JSONRPCError,
	ListToolsRequest, ListToolsResult, Tool, CallToolRequest, CallToolResult,
	GetPromptRequest, GetPromptResult, ReadResourceRequest, ReadResourceResult,
	CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, SamplingMessage,
	ClientCapabilities, ServerCapabilities, RequestMeta, CancelledNotification, ProgressNotification,
	InitializeRequest, InitializeResult, InitializedNotification, PingRequest,
	DiscoverRequest, DiscoverResult, InputRequiredResult,
	HeaderMismatchError, MissingRequiredClientCapabilityError, UnsupportedProtocolVersionError,
}

func TestNamesExistInTheirRevisions(t *testing.T) {
	legacy := []Name{InitializeRequest, InitializeResult, InitializedNotification, PingRequest}
	modern := []Name{
		DiscoverRequest, DiscoverResult, InputRequiredResult,
		HeaderMismatchError, MissingRequiredClientCapabilityError, UnsupportedProtocolVersionError,
	}
	known := slices.Sorted(maps.Keys(revisions))
	require.Equal(t, []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}, known[:4])
	for revision, schemas := range revisions {
		for _, name := range exported {
			want := true
			if slices.Contains(legacy, name) {
				want = revision < "2026-07-28"
			} else if slices.Contains(modern, name) {
				want = revision >= "2026-07-28"
			}
			require.Equal(t, want, schemas().named(name) != nil, "%s in %s", name, revision)
		}
	}
}
