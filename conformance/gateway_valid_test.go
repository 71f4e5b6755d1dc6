package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestWhatAGatewayGivesItsClientIsValid(t *testing.T) {
	const legacy, modern = "2025-11-25", "2026-07-28"
	const info = `"serverInfo":{"name":"g","version":"1"}`
	const tool = `{"name":"look","inputSchema":{"type":"object"}}`
	for name, c := range map[string]struct {
		asked    string // the method of the client's request; "" for a message of the server
		message  string // without jsonrpc
		revision string // of the run; "" for the older one
		others   bool   // the server speaks another revision
		server   string // what the server sent in its place; "" for a valid message
		says     string // "" for a pass
	}{
		"a result": {asked: "tools/list", message: `"id":1,"result":{"tools":[` + tool + `]}`},
		"a null error": {asked: "tools/list",
			message: `"id":1,"result":{"tools":[]},"error":null`,
			says:    "a response to tools/list from the gateway: expected a result or an error, found both"},
		"a null result": {asked: "tools/call",
			message: `"id":1,"result":null,"error":{"code":1,"message":"m"}`, says: "found both"},
		"an error": {asked: "tools/call", message: `"id":1,"error":{"code":1,"message":"m","data":null}`},
		"a code as text": {asked: "tools/call",
			message: `"id":1,"error":{"code":"1","message":"m"}`, says: "error.code"},
		"no message": {asked: "tools/call", message: `"id":1,"error":{"code":1}`, says: "message"},
		"initialize": {asked: "initialize",
			message: `"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},` + info + `}`},
		"no capabilities": {asked: "initialize",
			message: `"id":1,"result":{"protocolVersion":"2025-11-25",` + info + `}`, says: "capabilities"},
		"no serverInfo": {asked: "initialize",
			message: `"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}`, says: "serverInfo"},
		"no inputSchema": {asked: "tools/list",
			message: `"id":1,"result":{"tools":[{"name":"look"}]}`, says: "inputSchema"},
		"a schema as text": {asked: "tools/list",
			message: `"id":1,"result":{"tools":[{"name":"look","inputSchema":"{}"}]}`, says: "inputSchema"},
		"the server's fault": {asked: "tools/list",
			message: `"id":1,"result":{"tools":[` + tool + `,{"name":"look"}]}`,
			server:  `"id":1,"result":{"tools":[{"name":"look"}]}`},
		"another fault": {asked: "tools/list",
			message: `"id":1,"result":{"tools":[{"name":7,"inputSchema":{"type":"object"}}]}`,
			server:  `"id":1,"result":{"tools":[{"name":"look"}]}`, says: "result.tools[0].name"},
		"a task": {asked: "tools/call",
			message: `"id":1,"result":{"task":{"taskId":"1","status":"working","createdAt":"2025-11-25T00:00:00Z",` +
				`"lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":null}}`},
		"a prompt":           {asked: "prompts/get", message: `"id":1,"result":{"messages":{}}`, says: "messages"},
		"a resource":         {asked: "resources/read", message: `"id":1,"result":{"contents":{}}`, says: "contents"},
		"an unknown method":  {asked: "gateway/own", message: `"id":1,"result":{"anything":1}`},
		"a response to none": {message: `"id":7,"result":{},"error":null`},
		"a request":          {message: `"id":7,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}`},
		"an invalid request": {
			message: `"id":7,"method":"sampling/createMessage","params":{"messages":[]}`,
			says:    "sampling/createMessage from the gateway: params"},
		"an id that is null": {
			message: `"id":null,"method":"notifications/progress","params":{"progressToken":1,"progress":1}`,
			says:    "notifications/progress from the gateway: id"},
		"null params":    {message: `"method":"notifications/tools/list_changed","params":null`, says: "params"},
		"a notification": {message: `"method":"gateway/hello"`},
		"progress": {
			message: `"method":"notifications/progress","params":{"progress":"1","progressToken":1}`, says: "progress"},
		"a cancel":            {message: `"method":"notifications/cancelled","params":{"requestId":[]}`, says: "requestId"},
		"of another revision": {asked: "tools/list", message: `"id":1,"result":{"tools":[]},"error":null`, others: true},
		"input": {asked: "tools/call", revision: modern,
			message: `"id":1,"result":{"resultType":"input_required","requestState":"s",` +
				`"inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}}}`},
		"invalid input": {asked: "tools/call", revision: modern,
			message: `"id":1,"result":{"resultType":"input_required","inputRequests":[]}`, says: "inputRequests"},
		"no result type": {asked: "tools/call", revision: modern,
			message: `"id":1,"result":{"content":[]}`, says: "resultType"},
		"discovered": {asked: "server/discover", revision: modern,
			message: `"id":1,"result":{"resultType":"complete"}`, says: "a response to server/discover"},
	} {
		t.Run(name, func(t *testing.T) {
			var both twoLegs
			raw := func(message string) string { return `{"jsonrpc":"2.0",` + message + "}" }
			for _, front := range []bool{true, false} {
				if c.asked != "" {
					both.add(front, trace.FromClient, "%s", raw(`"id":1,"method":"`+c.asked+`","params":{}`))
				}
			}
			if c.server != "" {
				both.add(false, trace.ToClient, "%s", raw(c.server))
			}
			both.add(true, trace.ToClient, "%s", raw(c.message))
			header := trace.Header{Revision: legacy}
			if c.revision != "" {
				header.Revision = c.revision
			}
			if c.others {
				header.ServerRevisions = []string{modern}
			}
			only := oneResult(report.Pass, report.Must)
			only.Results[0].Revision = header.Revision
			rs := conformance.JudgeGateway(only, only, []*trace.Trace{{Header: header, Events: both, Whole: true}})
			i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "gateway/valid-messages" })
			found := rs.Results[i]
			require.Equal(t, c.says != "", found.Verdict == report.Fail, found.Message)
			if c.says != "" {
				require.Contains(t, found.Message, c.says)
				require.NotEmpty(t, found.Fix)
				require.True(t, strings.Contains(found.Message, " from the gateway: "))
			}
		})
	}
}

func TestAMessageInAnEventOfAnotherTypeIsNamed(t *testing.T) {
	for data, want := range map[string]report.Verdict{
		`{"jsonrpc":"2.0","method":"gateway/hello"}`: report.Fail, `{}`: report.Pass, `now`: report.Pass,
	} {
		var both twoLegs
		both.add(true, trace.ToClient, `{"jsonrpc":"2.0","method":"gateway/hello"}`)
		both.add(true, trace.ToClient, "%s", data)
		both[1].Front.Stream, both[1].Front.Type = "1", "mcp"
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/valid-messages" })
		require.Equal(t, want, results[i].Verdict, "%s: %s", data, results[i].Message)
		if want == report.Fail {
			require.Contains(t, results[i].Message, `found "mcp"`)
		}
	}
}

// Clients skip such an event: the request in it did not reach the client.
func TestAMessageInAnEventOfAnotherTypeIsNotCompared(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`
	for kind, want := range map[string]report.Verdict{"": report.Pass, "mcp": report.NotApplicable} {
		var both twoLegs
		both.add(false, trace.ToClient, request)
		both.add(true, trace.ToClient, request)
		both[1].Front.Stream, both[1].Front.Type = "1", kind
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/requests" })
		require.Equal(t, want, results[i].Verdict, results[i].Message)
	}
}

// Invalid messages of the client are not the gateway's, and a second response is judged as the first.
func TestAllMessagesForTheClientAreJudgedAndNoOthers(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	const response = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}%s}`
	for again, want := range map[string]report.Verdict{"": report.Pass, `,"error":null`: report.Fail} {
		var both twoLegs
		both.add(true, trace.FromClient, call)
		both.add(true, trace.FromClient, `{"jsonrpc":"2.0","id":null,"method":"notifications/progress","params":7}`)
		both.add(true, trace.ToClient, response, "")
		both.add(true, trace.ToClient, response, again)
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/valid-messages" })
		require.Equal(t, want, results[i].Verdict, results[i].Message)
	}
}

// A gateway may agree with its client on another revision than that of the run.
func TestTheRevisionOfTheClientDecidesWhatIsValid(t *testing.T) {
	for version, want := range map[string]report.Verdict{"2025-06-18": report.Fail, "2025-11-25": report.Pass,
		"2099-01-01": report.Pass} {
		var both twoLegs
		both.add(true, trace.FromClient, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		both.add(true, trace.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"%s","capabilities":{},`+
			`"serverInfo":{"name":"g","version":"1"}}}`, version)
		both.add(true, trace.ToClient, `{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{"maxTokens":1,`+
			`"messages":[{"role":"user","content":[]}]}}`) // a list since 2025-11-25
		results := both.judged()
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/valid-messages" })
		require.Equal(t, want, results[i].Verdict, "%s: %s", version, results[i].Message)
	}
}
