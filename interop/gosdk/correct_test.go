package gosdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// asking is a correct client: its handler asks the model, and makes up for what the SDK does not do right by itself.
func asking(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.AskModel(env)}
}

func TestCorrectClient(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(asking), Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(permissive, overHTTP, unbatched))
}

func TestStrictClient(t *testing.T) {
	strict := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.Handler(host.Host{Env: env, Strict: true})}
	})
	expect.Verdicts(t, conformance.Suite{Client: strict, Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(quiet, notStreamed, numbersUnread, inRounds, answersCancelled, overHTTP, unbatched))
}

func TestCorrectClientOverSockets(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(asking, harness.Loopback()), Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(permissive, overHTTP, unbatched))
}

func TestClientOverStdio(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(asking, harness.Stdio()), Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(permissive, withoutHTTP))
}

func TestProcessOverStdio(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: harness.CommandStdio(os.Args[0], "asking"), Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(permissive, withoutHTTP))
}

// The SDK's types alone: the handler reads the model's answer into the SDK's result and returns it.
func TestClientThatTrustsTheTypes(t *testing.T) {
	client := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: func(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return pass[mcp.CreateMessageWithToolsResult](ctx, env, req.Params)
		}}
	})
	expect.Verdicts(t, conformance.Suite{Client: client, Skip: expect.Apart}, slices.Concat(permissive, patient, undecided, overHTTP,
		expect.Fails("the SDK's: ToolUseContent.Input is a map[string]any whose numbers are read as float64: 9007199254740993 becomes …992", "tool-use/input-intact")))
}

// The older handler knows neither tools nor several blocks, and the SDK declares sampling without tools for it.
func TestClientWithoutTools(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(plain), Revisions: conformance.AllRevisions(), Skip: expect.Apart}, slices.Concat(quiet, patient, undeclaredServed, withoutTools, numbersUnread, undecided, inRounds, answersCancelled, overHTTP, unbatched,
		expect.NotApplicable("nothing is wrong: the client declares no tools and uses none", "declare/tools-declared", "basic/meta-preserved"),
		withTools(func() []expect.Row {
			return expect.NotApplicable("the SDK's: it refuses content that is an array for the older handler", "basic/text-beside-media")
		}),
		expect.NotSeen("the SDK's: it refuses content that is an array for the older handler", "basic/content-array")))
}

// plain are the options of a client with the older handler.
func plain(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageHandler: func(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return pass[mcp.CreateMessageResult](ctx, env, req.Params)
	}}
}

var withoutTools = slices.Concat(
	expect.Passes("the SDK's older types hold no tool use", "tool-use/no-tools-no-use"),
	expect.Passes("requests without tools may be asked of it at once", "loop/concurrent"),
	expect.NotApplicable("nothing is wrong: the client does not declare sampling.tools", "loop/*", "balance/*"), undeclaredTools)

var undeclaredTools = slices.Concat(
	expect.Passes("a request without tools may be asked of it", "tool-use/only-these-tools"),
	expect.NotApplicable("nothing is wrong: the client does not declare sampling.tools", "tool-use/*", "parallel/*"))

func TestClientAsProcess(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: process("asking"), Skip: expect.Apart}, slices.Concat(permissive, overHTTP))
}

// pass hands a sampling request on to the model, with nothing but the SDK's types between.
func pass[Result any](ctx context.Context, env harness.Env, params any) (*Result, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, env.Model[dialect.Native], bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+env.Key)
	resp, err := env.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	result := new(Result)
	return result, json.NewDecoder(resp.Body).Decode(result)
}

// What no handler sees: the SDK reads the requests, and hands on what it could read.
func TestWhatIsMalformed(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(asking), Only: expect.Apart, Skip: expect.Slow}, malformed)
}

func TestWhatIsMalformedWithoutTools(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(plain), Only: expect.Apart, Skip: expect.Slow}, malformedPlain)
}
