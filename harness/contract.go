package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Variables of the contract with a client in a process of its own. All three are the official suite's.
const (
	envScenario = "MCP_CONFORMANCE_SCENARIO"
	envVersion  = "MCP_CONFORMANCE_PROTOCOL_VERSION"
	envContext  = "MCP_CONFORMANCE_CONTEXT"
)

const scenarioName = "sampling"

type contextVar struct {
	Scenario     string                     `json:"scenario"`
	Capabilities json.RawMessage            `json:"capabilities,omitempty"`
	Models       map[string]string          `json:"models,omitempty"`
	Key          string                     `json:"key,omitempty"`
	Tools        []string                   `json:"tools,omitempty"`
	Arguments    map[string]json.RawMessage `json:"arguments,omitempty"`
	Prompts      []string                   `json:"prompts,omitempty"`
	Resources    []string                   `json:"resources,omitempty"`
	Prompt       string                     `json:"prompt,omitempty"`
	Decision     string                     `json:"decision"`
	TimeoutMS    int64                      `json:"timeoutMs,omitempty"`
	GiveUp       []string                   `json:"giveUp,omitempty"`
	Server       *serverVar                 `json:"server,omitempty"`
}

type serverVar struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// context returns the part of the environment that MCP_CONFORMANCE_CONTEXT holds; setContext restores it.
func (e *Env) context() contextVar {
	v := contextVar{
		Scenario:     scenarioName,
		Capabilities: e.Declare,
		Models:       e.Model,
		Key:          e.Key,
		Tools:        e.Tools,
		Arguments:    e.Arguments,
		Prompts:      e.Prompts,
		Resources:    e.Resources,
		Prompt:       e.Prompt,
		Decision:     cmp.Or(e.Decision, Approve),
		TimeoutMS:    e.Timeout.Milliseconds(),
		GiveUp:       e.Abandon,
	}
	if e.Server != nil {
		v.Server = &serverVar{e.Server[0], e.Server[1:]}
	}
	return v
}

func (e *Env) setContext(v *contextVar) {
	e.Declare, e.Model, e.Key, e.Decision, e.Abandon = v.Capabilities, v.Models, v.Key, v.Decision, v.GiveUp
	e.Tools, e.Arguments, e.Prompts, e.Resources, e.Prompt = v.Tools, v.Arguments, v.Prompts, v.Resources, v.Prompt
	e.Timeout = time.Duration(v.TimeoutMS) * time.Millisecond
	if v.Server != nil {
		e.launches(append([]string{v.Server.Command}, v.Server.Args...))
	}
}

// ModelVariables returns the variables that lead the providers' SDKs to a model server, given its base URL by dialect
// and a key. Dialects without variables add none.
func ModelVariables(bases map[string]string, key string) map[string]string {
	set := map[string]string{}
	for name, facts := range dialects.Facts() {
		if bases[name] == "" {
			continue
		}
		for _, variable := range facts.BaseVariables {
			set[variable] = bases[name]
		}
		for _, name := range facts.KeyVariables {
			set[name] = key
		}
	}
	return set
}

// samplingVariables returns the variables of clients that choose their model by SAMPLING_PROVIDER and its like: the
// first provider that the run offers.
func (e *Env) samplingVariables() map[string]string {
	for _, name := range dialects.APIs() {
		facts := dialects.FactsOf(name)
		if url := e.Model[name]; url != "" && facts.Address != "" {
			return map[string]string{"SAMPLING_PROVIDER": facts.Provider, "SAMPLING_ENDPOINT": url,
				"SAMPLING_API_KEY": e.Key}
		}
	}
	return nil
}

// variables returns the environment of a client in a process of its own: ours without real providers, and the
// contract. Proxy settings stay, for a client that downloads something, but not for loopback.
func (e *Env) variables(ours []string) []string {
	var kept, direct []string
	for _, v := range ours {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case strings.EqualFold(name, "no_proxy"): // programs read either case, so both get the values of both
			if value != "" && !slices.Contains(direct, value) {
				direct = append(direct, value)
			}
		case !isProviderVariable(name):
			kept = append(kept, v)
		}
	}
	noProxy := strings.Join(append(direct, "127.0.0.1,localhost,::1"), ",")
	raw, err := json.Marshal(e.context())
	if err != nil {
		panic(fmt.Sprintf("harness: the capabilities to declare are invalid JSON: %v", err))
	}
	set := map[string]string{
		envScenario: scenarioName, envVersion: string(e.Revision), envContext: string(raw),
		"NO_PROXY": noProxy, "no_proxy": noProxy,
	}
	maps.Copy(set, ModelVariables(e.Model, e.Key))
	maps.Copy(set, e.samplingVariables())
	for _, name := range slices.Sorted(maps.Keys(set)) {
		kept = append(kept, name+"="+set[name])
	}
	return kept
}

// isProviderVariable reports whether a variable belongs to a model provider, or to this contract: a client under test
// must neither see a real key nor call a real model.
func isProviderVariable(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL") {
		return true
	}
	for _, facts := range dialects.Facts() {
		if slices.Contains(facts.BaseVariables, name) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"MCP_CONFORMANCE_", "SAMPLING_", "OPENAI_", "ANTHROPIC_", "CLAUDE_", "GEMINI_",
		"GOOGLE_", "VERTEX_", "OLLAMA_", "MISTRAL_", "GROQ_", "XAI_", "OPENROUTER_", "COHERE_", "DEEPSEEK_", "AZURE_OPENAI_",
		"AWS_", "HF_", "HUGGINGFACE_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// EnvFromProcess reads the contract in a client written in Go, from the last argument and the environment, given as a
// function such as [os.Getenv]. Only the server is required: the URL, or for a client of [CommandStdio] the command
// in the environment. The rest may be zero. Its error says which part is missing or invalid.
func EnvFromProcess(args []string, getenv func(string) string) (Env, error) {
	e := Env{HTTP: http.DefaultClient, Revision: server.Revision(getenv(envVersion)),
		Report: printOutcome, announce: printFeature}
	var v contextVar
	if raw := getenv(envContext); raw != "" {
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			return Env{}, fmt.Errorf("invalid JSON in %s: %w", envContext, err)
		}
	}
	e.setContext(&v)
	e.watchModel()
	switch {
	case v.Server != nil && v.Server.Command == "":
		return Env{}, fmt.Errorf("%s has a server without a command", envContext)
	case v.Server != nil:
		return e, nil
	case len(args) == 0:
		return Env{}, errors.New("the server's URL is missing: expected it as the last argument")
	}
	e.URL = args[len(args)-1]
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Env{}, fmt.Errorf(
			"last argument: expected the server's URL, such as http://127.0.0.1:8080/mcp, found %q", e.URL)
	}
	return e, nil
}
