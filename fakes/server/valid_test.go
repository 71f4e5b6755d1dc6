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
)

// published are the schemas of the specification. They are not part of the repository.
const published = "../../../shared/spec"

func TestThePublishedSchemasAreAtHand(t *testing.T) {
	for _, revision := range server.Revisions() {
		if document(revision) == nil {
			require.NotEqual(t, "true", os.Getenv("CI"), "want %s/%s.schema.json", published, revision)
			t.Skipf("frames are held to our own schemas only: put the published ones at %s/%s.schema.json", published, revision)
		}
	}
}

// validFrames holds every frame to the client that was not hostile against our schemas, and against the published ones
// where they are at hand. Frames outside of any session are held to the revision that is given.
func validFrames(t testing.TB, events []trace.Event, otherwise server.Revision) {
	t.Helper()
	revisions := map[string]server.Revision{} // by session
	methods := map[string]string{}            // of the client's requests, by session and id
	for _, e := range events {
		f := e.Frame
		if f == nil || f.Raw == nil || f.Hostile {
			continue
		}
		m := loosely(f.Raw)
		if f.Dir == trace.FromClient {
			if m.Method != "" { // a response of the client's may have the same id
				methods[f.Session+" "+string(m.ID)] = m.Method
			}
			continue
		}
		method := methods[f.Session+" "+string(m.ID)]
		if m.Result != nil && (method == "" || method == "initialize") { // over HTTP the answer to initialize has the session that it opens
			var initialized struct {
				ProtocolVersion server.Revision `json:"protocolVersion"`
			}
			require.NoError(t, json.Unmarshal(m.Result, &initialized))
			method, revisions[f.Session] = "initialize", initialized.ProtocolVersion
		}
		revision := revisions[f.Session]
		if revision == "" {
			revision = otherwise
		}
		if m.ID == nil && m.Error != nil && !revision.HasTools() {
			// The schemas of those revisions know no error without an id, their text does (2025-06-18, basic/transports#sending-messages-to-the-server).
			revision = server.V20251125
		}
		for name, part := range parts(t, m, method) {
			require.NoError(t, schema.Validate(string(revision), name, part), "%s in %s: %s", name, revision, f.Raw)
			if spec := specification(t, revision, name); spec != nil {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(part))
				require.NoError(t, err)
				require.NoError(t, spec.Validate(value), "the published %s in %s: %s", name, revision, f.Raw)
			}
		}
	}
}

func loosely(raw []byte) message {
	m := message{raw: string(raw)}
	_ = json.Unmarshal(raw, &m)
	return m
}

// parts names what a frame, and what it carries, has to be.
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
		require.NotEmpty(t, name, "a result that no request asked for: %s", m.raw)
		return map[schema.Name][]byte{schema.JSONRPCResponse: whole, name: m.Result}
	}
	require.Fail(t, "a frame that we do not know", m.raw)
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

// specifications are the published schemas, compiled.
var specifications = struct {
	sync.Mutex
	compiled map[string]*jsonschema.Schema
}{compiled: map[string]*jsonschema.Schema{}}

// specification returns the published schema that answers to a name of ours; nil where the published schemas are not at hand.
func specification(t testing.TB, revision server.Revision, name schema.Name) *jsonschema.Schema {
	t.Helper()
	if revision.HasTools() {
		switch name {
		case schema.JSONRPCResponse:
			name = "JSONRPCResultResponse"
		case schema.JSONRPCError:
			name = "JSONRPCErrorResponse"
		}
	}
	key := fmt.Sprint(revision, name)
	specifications.Lock()
	defer specifications.Unlock()
	if compiled := specifications.compiled[key]; compiled != nil {
		return compiled
	}
	document := document(revision)
	if document == nil {
		return nil
	}
	keyword := "definitions"
	if document["$defs"] != nil {
		keyword = "$defs"
	}
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("spec:", document))
	compiled, err := compiler.Compile(fmt.Sprintf("spec:#/%s/%s", keyword, name))
	require.NoError(t, err)
	specifications.compiled[key] = compiled
	return compiled
}

// document reads a published schema; nil where it is not at hand.
func document(revision server.Revision) map[string]any {
	text, err := os.ReadFile(filepath.Join(published, string(revision)+".schema.json"))
	if err != nil {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	return document.(map[string]any)
}
