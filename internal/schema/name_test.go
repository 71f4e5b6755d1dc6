package schema

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exported are the constants of name.go.
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

func TestWhichNamesExistInWhichRevision(t *testing.T) {
	eraA := []Name{InitializeRequest, InitializeResult, InitializedNotification, PingRequest}
	eraB := []Name{
		DiscoverRequest, DiscoverResult, InputRequiredResult,
		HeaderMismatchError, MissingRequiredClientCapabilityError, UnsupportedProtocolVersionError,
	}
	require.Equal(t, []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}, slices.Sorted(maps.Keys(revisions)))
	for revision, schemas := range revisions {
		for _, name := range exported {
			want := true
			if slices.Contains(eraA, name) {
				want = revision < "2026-07-28"
			} else if slices.Contains(eraB, name) {
				want = revision >= "2026-07-28"
			}
			require.Equal(t, want, schemas()[name] != nil, "%s in %s", name, revision)
		}
	}
}
