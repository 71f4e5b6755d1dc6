package harness

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// told is what a client in a process is told in these tests.
var told = Env{
	URL:      "http://127.0.0.1:4711/mcp",
	Revision: server.V20251125,
	Model: map[string]string{"openai-chat": "http://127.0.0.1:4712/v1", "anthropic": "http://127.0.0.1:4712", "gemini": "http://127.0.0.1:4712",
		"ollama": "http://127.0.0.1:4712", "native": "http://127.0.0.1:4712/native"},
	Key:      plantedKey,
	Declare:  json.RawMessage(declared),
	Tools:    []string{"basic-question"},
	Decision: Decline,
}

// getenv looks a variable up as a process does: the last of a name counts.
func getenv(variables []string) func(string) string {
	return func(name string) string {
		value := ""
		for _, v := range variables {
			if n, after, _ := strings.Cut(v, "="); n == name {
				value = after
			}
		}
		return value
	}
}

func TestAProcessIsToldTheContract(t *testing.T) {
	get := getenv(told.variables([]string{"HOME=/home/me", "LANG=C"}))
	for name, want := range map[string]string{
		"MCP_CONFORMANCE_SCENARIO":         "sampling",
		"MCP_CONFORMANCE_PROTOCOL_VERSION": "2025-11-25",
		"OPENAI_BASE_URL":                  "http://127.0.0.1:4712/v1",
		"OPENAI_API_KEY":                   plantedKey,
		"ANTHROPIC_BASE_URL":               "http://127.0.0.1:4712",
		"ANTHROPIC_API_KEY":                plantedKey,
		"OLLAMA_HOST":                      "http://127.0.0.1:4712",
		"OLLAMA_API_KEY":                   plantedKey,
		"GOOGLE_GEMINI_BASE_URL":           "http://127.0.0.1:4712",
		"GOOGLE_VERTEX_BASE_URL":           "http://127.0.0.1:4712",
		"GEMINI_API_KEY":                   plantedKey,
		"GOOGLE_API_KEY":                   plantedKey,
		"NO_PROXY":                         "127.0.0.1,localhost,::1",
		"no_proxy":                         "127.0.0.1,localhost,::1",
		"HOME":                             "/home/me",
		"LANG":                             "C",
	} {
		require.Equal(t, want, get(name), name)
	}
	require.JSONEq(t, `{
		"scenario": "sampling",
		"capabilities": {"sampling": {"tools": {}}},
		"models": {"openai-chat": "http://127.0.0.1:4712/v1", "anthropic": "http://127.0.0.1:4712", "gemini": "http://127.0.0.1:4712",
			"ollama": "http://127.0.0.1:4712", "native": "http://127.0.0.1:4712/native"},
		"key": "`+plantedKey+`",
		"tools": ["basic-question"],
		"decision": "decline"
	}`, get("MCP_CONFORMANCE_CONTEXT"))
}

func TestWhatAProcessIsToldIsWhatItReads(t *testing.T) {
	env, err := EnvFromProcess([]string{"--verbose", told.URL}, getenv(told.variables(nil)))
	require.NoError(t, err)
	want := told
	want.HTTP = http.DefaultClient
	require.NotNil(t, env.Report)
	env.Report, env.announce = nil, nil // functions do not compare
	require.Equal(t, want, env)
}

func TestNoKeyAndNoAddressOfARealProviderIsPassedOn(t *testing.T) {
	ours := []string{
		"OPENAI_API_KEY=sk-real", "OPENAI_BASE_URL=https://real", "OPENAI_ORG_ID=org-real", "openai_api_key=sk-real",
		"ANTHROPIC_API_KEY=sk-real", "ANTHROPIC_AUTH_TOKEN=real", "ANTHROPIC_BASE_URL=https://real", "CLAUDE_CODE_USE_BEDROCK=real",
		"GEMINI_API_KEY=real", "GOOGLE_API_KEY=real", "GOOGLE_APPLICATION_CREDENTIALS=/real", "GOOGLE_GEMINI_BASE_URL=https://real",
		"OLLAMA_HOST=real:11434", "AWS_SECRET_ACCESS_KEY=real", "AWS_SESSION_TOKEN=real", "AZURE_OPENAI_ENDPOINT=https://real",
		"MISTRAL_API_KEY=real", "HF_TOKEN=real", "SOME_NEW_PROVIDER_API_KEY=real", "SOME_NEW_PROVIDER_BASE_URL=https://real",
		"MCP_CONFORMANCE_CONTEXT=real", "MCP_CONFORMANCE_SOMETHING=real", "HARMLESS=kept",
	}
	variables := told.variables(ours)
	for _, v := range variables {
		require.NotContains(t, v, "real", "of our own environment")
	}
	require.Contains(t, variables, "HARMLESS=kept")
}

func TestTheProxysExceptionsAreExtended(t *testing.T) {
	for name, c := range map[string]struct {
		ours []string
		want string
	}{
		"none":             {nil, "127.0.0.1,localhost,::1"},
		"empty":            {[]string{"NO_PROXY="}, "127.0.0.1,localhost,::1"},
		"upper case":       {[]string{"NO_PROXY=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		"lower case":       {[]string{"no_proxy=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		"both, the same":   {[]string{"no_proxy=.corp", "NO_PROXY=.corp"}, ".corp,127.0.0.1,localhost,::1"},
		"both, and differ": {[]string{"no_proxy=.corp", "NO_PROXY=.lab"}, ".corp,.lab,127.0.0.1,localhost,::1"},
	} {
		t.Run(name, func(t *testing.T) {
			variables := told.variables(append(c.ours, "HTTP_PROXY=http://proxy:3128"))
			get := getenv(variables)
			require.Equal(t, c.want, get("NO_PROXY"))
			require.Equal(t, c.want, get("no_proxy"))
			require.Equal(t, "http://proxy:3128", get("HTTP_PROXY"), "the proxy itself is the client's business")
			seen := map[string]bool{}
			for _, v := range variables {
				name, _, _ := strings.Cut(v, "=")
				require.False(t, seen[name], "%s is there once", name)
				seen[name] = true
			}
		})
	}
}

func TestCapabilitiesThatAreNoJSONAreAMistakeOfOurs(t *testing.T) {
	broken := Env{Declare: json.RawMessage("{")}
	require.PanicsWithValue(t, "harness: the capabilities to declare are not JSON: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input",
		func() { broken.variables(nil) })
}

func TestAProcessThatIsToldTooLittleSaysWhat(t *testing.T) {
	context := func(raw string) func(string) string {
		return func(name string) string {
			if name == envContext {
				return raw
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		args    []string
		context string
		want    string
	}{
		"no URL":            {nil, "", "the server's URL is missing: it is the last argument"},
		"an option last":    {[]string{"http://127.0.0.1/mcp", "--verbose"}, "", `the last argument is "--verbose": want the server's URL, such as http://127.0.0.1:8080/mcp`},
		"no web address":    {[]string{"file:///mcp"}, "", `the last argument is "file:///mcp": want the server's URL, such as http://127.0.0.1:8080/mcp`},
		"an empty word":     {[]string{""}, "", `the last argument is "": want the server's URL, such as http://127.0.0.1:8080/mcp`},
		"no JSON":           {[]string{told.URL}, "{", "MCP_CONFORMANCE_CONTEXT is not the JSON it should be: unexpected end of JSON input"},
		"a model's address": {[]string{told.URL}, `{"models":{"native":5}}`, "MCP_CONFORMANCE_CONTEXT is not the JSON it should be: json: cannot unmarshal number into Go struct field contextVar.models of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := EnvFromProcess(c.args, context(c.context))
			require.EqualError(t, err, c.want)
		})
	}
	env, err := EnvFromProcess([]string{told.URL}, context(""))
	require.NoError(t, err, "a client that was started by the official suite has no context")
	env.Report, env.announce = nil, nil
	require.Equal(t, Env{URL: told.URL, HTTP: http.DefaultClient}, env)
}

func FuzzEnvFromProcess(f *testing.F) {
	f.Add(told.URL, "2025-11-25", `{"capabilities":{"sampling":{}},"models":{"native":"http://127.0.0.1/native"},"key":"sk","tools":["a"]}`)
	f.Add("", "", "")
	f.Add("--flag", "x", "null")
	f.Add("", "2026-07-28", `{"server":{"command":"/bin/x","args":["y",""]}}`)
	f.Add("http://[::1", "2026-07-28", `{"models":null}`)
	f.Fuzz(func(t *testing.T, arg, version, context string) {
		vars := map[string]string{envVersion: version, envContext: context}
		env, err := EnvFromProcess([]string{arg}, func(name string) string { return vars[name] })
		if err != nil {
			require.Zero(t, env, "half an environment is of no use")
			return
		}
		if env.Server == nil {
			require.Equal(t, arg, env.URL)
		} else {
			require.Empty(t, env.URL)
			require.NotNil(t, env.Launch)
		}
		// What was read says the same when it is passed on.
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
