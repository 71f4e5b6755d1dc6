package gosdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
	"github.com/mcp-conform/mcp-conform/interop/host"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// asking is a correct client: its handler asks the model and works around faults of the SDK.
func asking(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.AskModel(env)}
}

// judge judges a client by the whole catalogue, in all revisions.
func judge(t *testing.T, c harness.Client, file, counts string) {
	t.Helper()
	need.Baseline(t, c, "testdata/"+file, counts, everything...)
}

var everything = []conformance.Option{conformance.In(server.AllRevisions()...), conformance.Skip("malformed")}

func TestCorrectClient(t *testing.T) {
	column := &matrix.Column{
		Name:     "go-sdk",
		Language: "Go",
		Run:      "gosdk",
		Version:  need.Built(t, "github.com/modelcontextprotocol/go-sdk"),
	}
	need.InMatrix(t, column, gosdk.Client(asking), "testdata/correct.yaml", "45 known, 87 not applicable", everything...)
}

func TestStrictClient(t *testing.T) {
	strict := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.Handler(host.Host{Env: env, Strict: true})}
	})
	judge(t, strict, "strict.yaml", "16 known, 87 not applicable")
}

func TestCorrectClientOverSockets(t *testing.T) {
	judge(t, gosdk.Client(asking, harness.Loopback()), "correct.yaml", "45 known, 87 not applicable")
}

func TestClientOverStdio(t *testing.T) {
	judge(t, gosdk.Client(asking, harness.Stdio()), "stdio.yaml", "39 known, 92 not applicable")
}

func TestProcessOverStdio(t *testing.T) {
	judge(t, harness.CommandStdio(os.Args[0], "asking"), "stdio.yaml", "39 known, 92 not applicable")
}

// The handler decodes the model's answer into the SDK's result and returns it.
func TestClientWithTheSDKsTypesAlone(t *testing.T) {
	client := gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{
			CreateMessageWithToolsHandler: func(ctx context.Context, req *sampleRequest) (*sampleResult,
				error) {
				return pass[mcp.CreateMessageWithToolsResult](ctx, env, req.Params)
			},
		}
	})
	need.Baseline(t, client, "testdata/types-alone.yaml", "50 known, 69 not applicable, 11 unsupported",
		conformance.Skip("malformed"))
}

// The older handler knows neither tools nor content arrays, and the SDK declares sampling without tools for it.
func TestClientWithoutTools(t *testing.T) {
	judge(t, gosdk.Client(plain), "without-tools.yaml", "26 known, 147 not applicable, 21 unsupported")
}

// plain is a client with the older handler.
func plain(env harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageHandler: func(ctx context.Context,
		req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return pass[mcp.CreateMessageResult](ctx, env, req.Params)
	}}
}

func TestClientAsProcess(t *testing.T) {
	need.Baseline(t, process("asking"), "testdata/correct.yaml", "43 known, 69 not applicable",
		conformance.Skip("malformed"))
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
	need.Baseline(t, gosdk.Client(asking), "testdata/malformed.yaml", "17 known, 11 not applicable",
		conformance.Only("malformed"),
		conformance.Skip("malformed/long-string"))
}

func TestMalformedRequestsWithoutTools(t *testing.T) {
	need.Baseline(t, gosdk.Client(plain), "testdata/malformed-without-tools.yaml", "14 known, 15 not applicable",
		conformance.Only("malformed"),
		conformance.Skip("malformed/long-string"))
}
