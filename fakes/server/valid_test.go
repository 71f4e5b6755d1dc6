package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// This test skips when all others validate frames by our own schemas only.
func TestFramesAreValidatedByThePublishedSchemas(t *testing.T) {
	for _, revision := range server.AllRevisions() {
		require.FileExists(t, sharedtest.Path(t, "spec", string(revision)+".schema.json"))
	}
}

// validFrames validates every frame of the server that is not hostile, by our schemas and, if available, the published
// ones. Frames outside of any session must be valid in the other revision.
func validFrames(t testing.TB, events []trace.Event, other server.Revision) {
	t.Helper()
	revisions := map[string]server.Revision{} // by session
	methods := map[string]string{}            // of the client's requests, by session and id
	for _, e := range events {
		f := e.Frame
		if f == nil || f.Raw == nil || f.Hostile {
			continue
		}
		m := loosely(f.Raw)
		key := f.Session + " " + string(m.ID)
		if f.Dir == trace.FromClient {
			if m.Method != "" { // a response of the client may have the same id
				methods[key] = m.Method
			}
			continue
		}
		method := methods[key]
		if m.Result != nil && (method == "" || method == "initialize") { // over HTTP, the result opens the session
			var initialized struct {
				ProtocolVersion server.Revision `json:"protocolVersion"`
			}
			require.NoError(t, json.Unmarshal(m.Result, &initialized))
			method, revisions[f.Session] = "initialize", initialized.ProtocolVersion
		}
		revision := revisions[f.Session]
		if revision == "" {
			revision = other
		}
		if m.ID == nil && m.Error != nil && !revision.HasSamplingTools() {
			// Only the text of these revisions has errors without an id, and not their schema (2025-06-18,
			// basic/transports#sending-messages-to-the-server).
			revision = server.V20251125
		}
		for name, part := range parts(t, m, method) {
			validate(t, revision, name, part, f.Raw)
		}
	}
}

func validate(t testing.TB, revision server.Revision, name schema.Name, part, frame []byte) {
	t.Helper()
	require.NoError(t, schema.Validate(string(revision), name, part), "%s in %s: %s", name, revision, frame)
	if published := publishedSchema(t, revision, name); published != nil {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(part))
		require.NoError(t, err)
		require.NoError(t, published.Validate(value), "the published %s in %s: %s", name, revision, frame)
	}
}

// parts returns the schemas of a frame and of its result.
func parts(t testing.TB, m message, method string) map[schema.Name][]byte {
	t.Helper()
	whole := []byte(m.raw)
	switch {
	case m.Method == "sampling/createMessage":
		return map[schema.Name][]byte{schema.JSONRPCRequest: whole, schema.CreateMessageRequest: whole}
	case m.Method == "ping", strings.HasPrefix(m.Method, "tasks/"):
		return map[schema.Name][]byte{schema.JSONRPCRequest: whole}
	case m.Method == "notifications/progress":
		return map[schema.Name][]byte{schema.JSONRPCNotification: whole, schema.ProgressNotification: whole}
	case m.Method == "notifications/cancelled":
		return map[schema.Name][]byte{schema.JSONRPCNotification: whole, schema.CancelledNotification: whole}
	case m.Error != nil:
		parts := map[schema.Name][]byte{schema.JSONRPCError: whole}
		if name := errorNames[m.Error.Code]; name != "" {
			parts[name] = whole
		}
		return parts
	case m.Result != nil && method == "ping":
		return map[schema.Name][]byte{schema.JSONRPCResponse: whole}
	case m.Result != nil:
		name := resultNames[method]
		if m.call(t).ResultType == "input_required" {
			name = schema.InputRequiredResult
		}
		require.NotEmpty(t, name, "a result without a request: %s", m.raw)
		return map[schema.Name][]byte{schema.JSONRPCResponse: whole, name: m.Result}
	}
	require.Fail(t, "unknown frame", m.raw)
	return nil
}

var errorNames = map[int]schema.Name{
	-32020: schema.HeaderMismatchError,
	-32021: schema.MissingRequiredClientCapabilityError,
	-32022: schema.UnsupportedProtocolVersionError,
}

var resultNames = map[string]schema.Name{
	"initialize": schema.InitializeResult, "server/discover": schema.DiscoverResult,
	"tools/list": schema.ListToolsResult, "tools/call": schema.CallToolResult,
	"prompts/list": "CacheableResult", "prompts/get": schema.GetPromptResult,
	"resources/list": "CacheableResult", "resources/read": schema.ReadResourceResult,
}

var (
	publishedMu sync.Mutex
	published   = map[string]*jsonschema.Schema{} // by revision and name
)

// publishedSchema returns the published schema for one of our names; nil when it is not available.
func publishedSchema(t testing.TB, revision server.Revision, name schema.Name) *jsonschema.Schema {
	t.Helper()
	dir := os.Getenv(sharedtest.Variable)
	if dir == "" {
		return nil
	}
	if revision.HasSamplingTools() {
		switch name {
		case schema.JSONRPCResponse:
			name = "JSONRPCResultResponse"
		case schema.JSONRPCError:
			name = "JSONRPCErrorResponse"
		}
	}
	key := fmt.Sprint(revision, name)
	publishedMu.Lock()
	defer publishedMu.Unlock()
	if compiled := published[key]; compiled != nil {
		return compiled
	}
	text, err := os.ReadFile(filepath.Join(dir, "spec", string(revision)+".schema.json"))
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	keyword := "definitions"
	if document.(map[string]any)["$defs"] != nil {
		keyword = "$defs"
	}
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("spec:", document))
	compiled, err := compiler.Compile(fmt.Sprintf("spec:#/%s/%s", keyword, name))
	require.NoError(t, err)
	published[key] = compiled
	return compiled
}
