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

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// asking is a correct client: its handler asks the model and works around faults of the SDK.
func asking(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.AskModel(env)}
}

// everything is the whole catalogue, in all revisions.
func everything(c harness.Client) conformance.Suite {
	return conformance.Suite{Client: c, Revisions: conformance.AllRevisions(), Skip: expect.SeparateRuns}
}

func TestCorrectClient(t *testing.T) {
	expect.Verdicts(t, everything(gosdk.Client(asking)), permissive, rounded, overHTTP, unbatched)
}

func TestStrictClient(t *testing.T) {
	strict := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.Handler(host.Host{Env: env, Strict: true})}
	})
	expect.Verdicts(t, everything(strict), common, rounded, inRounds, answersCancelled, overHTTP,
		unbatched)
}

func TestCorrectClientOverSockets(t *testing.T) {
	expect.Verdicts(t, everything(gosdk.Client(asking, harness.Loopback())), permissive, rounded, overHTTP, unbatched)
}

func TestClientOverStdio(t *testing.T) {
	expect.Verdicts(t, everything(gosdk.Client(asking, harness.Stdio())), permissive, rounded, withoutHTTP)
}

func TestProcessOverStdio(t *testing.T) {
	expect.Verdicts(t, everything(harness.CommandStdio(os.Args[0], "asking")), permissive, rounded, withoutHTTP)
}

// The handler decodes the model's answer into the SDK's result and returns it.
func TestClientWithTheSDKsTypesAlone(t *testing.T) {
	client := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: func(ctx context.Context, req *sampleRequest) (*sampleResult,
			error) {
			return pass[mcp.CreateMessageWithToolsResult](ctx, env, req.Params)
		}}
	})
	expect.Verdicts(t, conformance.Suite{Client: client, Skip: expect.SeparateRuns}, permissive, patient, undecided,
		overHTTP, quotesURL,
		expect.Warns("SDK: ToolUseContent.Input decodes numbers as float64: 9007199254740993 becomes …992",
			"always/server-was-given"))
}

// The older handler knows neither tools nor content arrays, and the SDK declares sampling without tools for it.
func TestClientWithoutTools(t *testing.T) {
	expect.Verdicts(t, everything(gosdk.Client(plain)), quiet, patient, undeclaredServed, withoutTools, expect.OneHint,
		quotesURL, undecided, inRounds, answersCancelled, overHTTP, unbatched,
		expect.NotApplicable("fine: the client declares no tools", "declare/tools-declared", "basic/meta-preserved"),
	)
}

// plain is a client with the older handler.
func plain(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageHandler: func(ctx context.Context,
		req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return pass[mcp.CreateMessageResult](ctx, env, req.Params)
	}}
}

var withoutTools = slices.Concat(
	expect.Passes("fine: requests without tools are allowed", "loop/concurrent"),
	expect.NotApplicable("fine: the client does not declare sampling.tools", "loop/*", "balance/*"), undeclaredTools)

var undeclaredTools = slices.Concat(
	expect.NotApplicable("fine: the client does not declare sampling.tools", "tool-use/*", "parallel/*"))

func TestClientAsProcess(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: process("asking"), Skip: expect.SeparateRuns}, permissive, rounded,
		overHTTP)
}

// pass sends a sampling request to the model through the SDK's types alone.
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

func TestMalformedRequests(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(asking), Only: expect.SeparateRuns, Skip: expect.Slow},
		malformed)
}

func TestMalformedRequestsWithoutTools(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: gosdk.Client(plain), Only: expect.SeparateRuns, Skip: expect.Slow},
		malformedPlain)
}
