package harness

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// example is an environment for a client in a process of its own.
var example = Env{
	URL:      "http://127.0.0.1:4711/mcp",
	Revision: server.V20251125,
	Model: map[string]string{"openai-chat": "http://127.0.0.1:4712/v1", "anthropic": "http://127.0.0.1:4712",
		"gemini": "http://127.0.0.1:4712", "ollama": "http://127.0.0.1:4712", "native": "http://127.0.0.1:4712/native",
		"cohere-chat": "http://127.0.0.1:4712"},
	Key:       leak.PlantedKey,
	Declare:   json.RawMessage(defaultDeclare),
	Tools:     []string{"basic-question"},
	Arguments: map[string]json.RawMessage{"basic-question": json.RawMessage(`{"again":true}`)},
	Prompts:   []string{"mrtr-prompt"},
	Resources: []string{"mcp-conform:/mrtr-resource"},
	Decision:  Decline,
	Timeout:   1500 * time.Millisecond,
}

// getenv looks a variable up as a process does: the last value of a name counts.
func getenv(variables []string) func(string) string {
	values := map[string]string{}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

func TestAProcessReceivesTheContract(t *testing.T) {
	lookup := getenv(example.variables([]string{"HOME=/home/me", "LANG=C"}))
	for name, want := range map[string]string{
		"MCP_CONFORMANCE_SCENARIO":         "sampling",
		"MCP_CONFORMANCE_PROTOCOL_VERSION": "2025-11-25",
		"OPENAI_BASE_URL":                  "http://127.0.0.1:4712/v1",
		"OPENAI_API_KEY":                   leak.PlantedKey,
		"SAMPLING_PROVIDER":                "openai",
		"SAMPLING_ENDPOINT":                "http://127.0.0.1:4712/v1",
		"SAMPLING_API_KEY":                 leak.PlantedKey,
		"ANTHROPIC_BASE_URL":               "http://127.0.0.1:4712",
		"ANTHROPIC_API_KEY":                leak.PlantedKey,
		"OLLAMA_HOST":                      "http://127.0.0.1:4712",
		"OLLAMA_API_KEY":                   leak.PlantedKey,
		"CO_API_URL":                       "http://127.0.0.1:4712",
		"CO_API_KEY":                       leak.PlantedKey,
		"COHERE_API_KEY":                   leak.PlantedKey,
		"GOOGLE_GEMINI_BASE_URL":           "http://127.0.0.1:4712",
		"GOOGLE_VERTEX_BASE_URL":           "http://127.0.0.1:4712",
		"GEMINI_API_KEY":                   leak.PlantedKey,
		"GOOGLE_API_KEY":                   leak.PlantedKey,
		"NO_PROXY":                         "127.0.0.1,localhost,::1",
		"no_proxy":                         "127.0.0.1,localhost,::1",
		"HOME":                             "/home/me",
		"LANG":                             "C",
	} {
		require.Equal(t, want, lookup(name), name)
	}
	require.JSONEq(t, `{
		"scenario": "sampling",
		"capabilities": {"sampling": {"tools": {}}},
		"models": {"openai-chat": "http://127.0.0.1:4712/v1", "anthropic": "http://127.0.0.1:4712",
			"gemini": "http://127.0.0.1:4712", "ollama": "http://127.0.0.1:4712",
			"cohere-chat": "http://127.0.0.1:4712", "native": "http://127.0.0.1:4712/native"},
		"key": "`+leak.PlantedKey+`",
		"tools": ["basic-question"],
		"arguments": {"basic-question": {"again": true}},
		"prompts": ["mrtr-prompt"],
		"resources": ["mcp-conform:/mrtr-resource"],
		"decision": "decline",
		"timeoutMs": 1500
	}`, lookup("MCP_CONFORMANCE_CONTEXT"))
}

func TestAProcessReadsTheContract(t *testing.T) {
	env, err := EnvFromProcess([]string{"--verbose", example.URL}, getenv(example.variables(nil)))
	require.NoError(t, err)
	want := example
	want.HTTP = http.DefaultClient
	require.NotNil(t, env.Report)
	env.Report, env.announce = nil, nil // functions do not compare
	require.Equal(t, want, env)

	env, err = EnvFromProcess([]string{example.URL}, func(string) string { return "" })
	require.NoError(t, err, "the official suite sets no context")
	env.Report, env.announce = nil, nil
	require.Equal(t, Env{URL: example.URL, HTTP: http.DefaultClient}, env)
}

func TestRealProvidersAreNotPassedOn(t *testing.T) {
	variables := example.variables([]string{
		"OPENAI_API_KEY=real", "SAMPLING_MODEL=real", "OPENAI_BASE_URL=real", "OPENAI_ORG_ID=real", "openai_api_key=real",
		"ANTHROPIC_API_KEY=real", "ANTHROPIC_AUTH_TOKEN=real", "ANTHROPIC_BASE_URL=real",
		"CLAUDE_CODE_USE_BEDROCK=real",
		"GEMINI_API_KEY=real", "GOOGLE_API_KEY=real", "GOOGLE_APPLICATION_CREDENTIALS=real",
		"GOOGLE_GEMINI_BASE_URL=real",
		"OLLAMA_HOST=real", "CO_API_URL=real", "AWS_SECRET_ACCESS_KEY=real", "AWS_SESSION_TOKEN=real",
		"AZURE_OPENAI_ENDPOINT=real",
		"MISTRAL_API_KEY=real", "HF_TOKEN=real", "SOME_NEW_PROVIDER_API_KEY=real", "SOME_NEW_PROVIDER_BASE_URL=real",
		"MCP_CONFORMANCE_CONTEXT=real", "MCP_CONFORMANCE_SOMETHING=real", "HARMLESS=kept",
	})
	for _, v := range variables {
		require.NotContains(t, v, "real")
	}
	require.Contains(t, variables, "HARMLESS=kept")
}

func TestLoopbackIsAddedToNoProxy(t *testing.T) {
	for _, c := range []struct {
		ours []string
		want string
	}{
		{nil, "127.0.0.1,localhost,::1"},
		{[]string{"NO_PROXY="}, "127.0.0.1,localhost,::1"},
		{[]string{"NO_PROXY=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		{[]string{"no_proxy=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		{[]string{"no_proxy=.corp", "NO_PROXY=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		{[]string{"no_proxy=.corp", "NO_PROXY=.lab"}, ".corp,.lab,127.0.0.1,localhost,::1"},
	} {
		variables := example.variables(append(c.ours, "HTTP_PROXY=http://proxy:3128"))
		lookup := getenv(variables)
		require.Equal(t, c.want, lookup("NO_PROXY"))
		require.Equal(t, c.want, lookup("no_proxy"))
		require.Equal(t, "http://proxy:3128", lookup("HTTP_PROXY"))
		seen := map[string]bool{}
		for _, v := range variables {
			name, _, _ := strings.Cut(v, "=")
			require.False(t, seen[name], "%s is set twice", name)
			seen[name] = true
		}
	}
}

func TestInvalidCapabilitiesAreOurMistake(t *testing.T) {
	require.Panics(t, func() { (&Env{Declare: json.RawMessage("{")}).variables(nil) })
}

func TestAnIncompleteContractIsAnError(t *testing.T) {
	const invalid = "invalid JSON in MCP_CONFORMANCE_CONTEXT: "
	const url = "expected the server's URL, such as http://127.0.0.1:8080/mcp, found "
	for _, c := range []struct {
		args          []string
		context, want string
	}{
		{nil, "", "the server's URL is missing"},
		{[]string{"http://127.0.0.1/mcp", "--verbose"}, "", url + `"--verbose"`},
		{[]string{"file:///mcp"}, "", url + `"file:///mcp"`},
		{[]string{""}, "", url + `""`},
		{[]string{example.URL}, "{", invalid + "unexpected end of JSON input"},
		{[]string{example.URL}, `{"models":{"native":5}}`, invalid + "json: cannot unmarshal number"},
		{nil, `{"server":{}}`, "MCP_CONFORMANCE_CONTEXT has a server without a command"},
	} {
		_, err := EnvFromProcess(c.args, getenv([]string{envContext + "=" + c.context}))
		require.ErrorContains(t, err, c.want)
	}
}

func FuzzEnvFromProcess(f *testing.F) {
	f.Add(example.URL, "2025-11-25",
		`{"capabilities":{"sampling":{}},"models":{"native":"http://127.0.0.1/native"},"key":"sk","tools":["a"]}`)
	f.Add("", "", "")
	f.Add("--flag", "x", "null")
	f.Add("", "2026-07-28", `{"server":{"command":"/bin/x","args":["y",""]}}`)
	f.Add("http://[::1", "2026-07-28", `{"models":null}`)
	f.Fuzz(func(t *testing.T, arg, version, context string) {
		variables := []string{envVersion + "=" + version, envContext + "=" + context}
		env, err := EnvFromProcess([]string{arg}, getenv(variables))
		if err != nil {
			require.Zero(t, env)
			return
		}
		if env.Server == nil {
			require.Equal(t, arg, env.URL)
		} else {
			require.Empty(t, env.URL)
			require.NotNil(t, env.Launch)
		}
		again, err := EnvFromProcess([]string{env.URL}, getenv(env.variables(nil)))
		require.NoError(t, err)
		if env.Declare != nil {
			require.JSONEq(t, string(env.Declare), string(again.Declare))
		}
		require.Equal(t, env.Key, again.Key)
		require.Equal(t, env.Server, again.Server)
		require.ElementsMatch(t, env.Tools, again.Tools)
		require.Len(t, again.Model, len(env.Model))
	})
}

func TestThePageForAdaptersNamesEveryMemberOfTheContext(t *testing.T) {
	page, err := os.ReadFile("../docs/adapters.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "| member of the context |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, member := range reflect.VisibleFields(reflect.TypeFor[contextVar]()) {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		require.Contains(t, table, "`"+name+"`")
	}
}
