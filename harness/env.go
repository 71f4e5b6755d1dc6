package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Env is what a client under test is told: where the server and the model are, and how to behave.
type Env struct {
	// URL is the server's MCP endpoint; "" for a client that launches the server.
	URL string
	// Server is the command line that launches the server, for a client over stdio in a process of its own; nil for others. It may be run
	// any number of times.
	Server []string
	// Launch launches the server and returns its standard streams: what is written is its input. Close ends the input and waits for the
	// server's end, and so does the end of ctx, less patiently; they have a method Kill() error too, which ends the server at once. What the server writes to its standard error goes to stderr, on a goroutine of
	// its own; where that is nil it goes to ours, or nowhere for a server that is no process. Nil for a client that connects to URL.
	Launch func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error)
	// HTTP reaches the server and the model. A client in process has to use it for both: in a test's bubble
	// there is no other network. For a client in a process of its own it is [http.DefaultClient].
	HTTP *http.Client
	// Revision is the protocol revision that the server speaks; "" where the client is left to find out.
	Revision server.Revision
	// Model holds the model's base URL for each dialect, as that provider's SDK wants it: "openai-chat" with /v1, "anthropic" without. "native"
	// is a whole URL, to which a CreateMessageRequestParams is posted.
	Model map[string]string
	// Key is the API key for the model. It is planted: it must never show up on the MCP wire.
	Key string
	// Declare holds the client capabilities to declare, as JSON.
	Declare json.RawMessage
	// Tools are the tools to call, once each with {}, in this order; nil for all that the server lists.
	Tools []string
	// Prompts are the names of prompts to get, once each without arguments, and Resources the URIs of resources to read, once each, after the
	// tools were called. A client that gets none leaves them alone.
	Prompts, Resources []string
	// Decision is what the person decides who is asked before a sample is made or given away: [Approve] (also when ""), [Decline] or
	// [DeclineAnswer]. It is for the client to act upon, which says so with [Env.Announce]: what it then does is its own doing.
	Decision string
	// Timeout is how long the client is to wait for the model's answer to one sample, to its end, before it gives up and says so to the
	// server; 0 leaves that to the client. It is for the client to act upon.
	Timeout time.Duration
	// GiveUp are tools the call of which is to be given up. A client that can do so calls such a tool with a progress token, and, by whatever
	// means it has to give up a request, gives the call up as soon as a progress notification for it comes, or the model begins to
	// answer a sample that was asked for it: its header is there. It then reports [GaveUp] and goes on with the next tool. For a client in
	// Go [Env.Call] sees to that.
	GiveUp []string
	// Report is told how a call of the client's ended; it may be called from any goroutine. Nil where nobody wants to know.
	Report func(Outcome)

	calls    *giveUps             // nil where no call is to be given up
	announce func(feature string) // see [Env.Announce]; nil where nobody wants to know
	settle   func(time.Duration)  // waits, so long at most, until what the client wrote has arrived; nil over HTTP
}

// Decisions of the person.
const (
	Approve       = "approve"
	Decline       = "decline"        // the request is refused before the model is asked
	DeclineAnswer = "decline-answer" // the model's answer is refused before the server gets it
)

// Variables of the contract with a client in a process of its own. The first three are those of the official suite.
const (
	envScenario = "MCP_CONFORMANCE_SCENARIO"
	envVersion  = "MCP_CONFORMANCE_PROTOCOL_VERSION"
	envContext  = "MCP_CONFORMANCE_CONTEXT"
)

// providers are the variables in which the SDKs of a dialect's provider look for a base URL, and for the key.
var providers = []struct {
	dialect    string
	base, keys []string
}{
	{dialect.OpenAIChat, []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, []string{"OPENAI_API_KEY"}},
	{dialect.OpenAIResponses, []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, []string{"OPENAI_API_KEY"}},
	{dialect.Anthropic, []string{"ANTHROPIC_BASE_URL"}, []string{"ANTHROPIC_API_KEY"}},
	{dialect.Gemini, []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"}, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	{dialect.Ollama, []string{"OLLAMA_HOST"}, []string{"OLLAMA_API_KEY"}},
}

// contextVar is what MCP_CONFORMANCE_CONTEXT holds, as JSON.
type contextVar struct {
	Scenario     string            `json:"scenario"`
	Capabilities json.RawMessage   `json:"capabilities,omitempty"`
	Models       map[string]string `json:"models,omitempty"`
	Key          string            `json:"key,omitempty"`
	Tools        []string          `json:"tools,omitempty"`
	Prompts      []string          `json:"prompts,omitempty"`
	Resources    []string          `json:"resources,omitempty"`
	Decision     string            `json:"decision"`
	TimeoutMS    int64             `json:"timeoutMs,omitempty"`
	GiveUp       []string          `json:"giveUp,omitempty"`
	Server       *serverVar        `json:"server,omitempty"`
}

// serverVar is the command that launches the server.
type serverVar struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

const scenarioName = "sampling"

// told is the part of the environment that goes into a process as one value, and tell puts it back.
func (e *Env) told() contextVar {
	told := contextVar{scenarioName, e.Declare, e.Model, e.Key, e.Tools, e.Prompts, e.Resources, cmp.Or(e.Decision, Approve), e.Timeout.Milliseconds(),
		e.GiveUp, nil}
	if e.Server != nil {
		told.Server = &serverVar{e.Server[0], e.Server[1:]}
	}
	return told
}

func (v *contextVar) tell(e *Env) {
	e.Declare, e.Model, e.Key, e.Decision, e.GiveUp = v.Capabilities, v.Models, v.Key, v.Decision, v.GiveUp
	e.Tools, e.Prompts, e.Resources = v.Tools, v.Prompts, v.Resources
	e.Timeout = time.Duration(v.TimeoutMS) * time.Millisecond
	if v.Server != nil {
		e.launches(append([]string{v.Server.Command}, v.Server.Args...))
	}
}

// sayOutcome is how a client in a process of its own reports.
func sayOutcome(o Outcome) { _, _ = os.Stdout.Write(o.Line()) } // whom nobody reads has nothing to say

// offer tells of the prompts and resources among the cases.
func (e *Env) offer(cases []Case) {
	for i := range cases {
		switch c := &cases[i]; c.Carrier {
		case server.PromptsGet:
			e.Prompts = append(e.Prompts, c.Tool())
		case server.ResourcesRead:
			e.Resources = append(e.Resources, server.ResourceURI(c.Tool()))
		}
	}
}

// variables returns the environment of a client in a process of its own: ours, less every real provider's, and the contract's. A proxy
// stays, for a client that fetches something of its own, but not for loopback.
func (e *Env) variables(ours []string) []string {
	var kept, direct []string
	for _, v := range ours {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case strings.EqualFold(name, "no_proxy"): // programs read the one or the other, so that both get what was in either
			if value != "" && !slices.Contains(direct, value) {
				direct = append(direct, value)
			}
		case !isProviders(name):
			kept = append(kept, v)
		}
	}
	noProxy := strings.Join(append(direct, "127.0.0.1,localhost,::1"), ",")
	raw, err := json.Marshal(e.told())
	if err != nil {
		panic(fmt.Sprintf("harness: the capabilities to declare are not JSON: %v", err))
	}
	set := map[string]string{
		envScenario: scenarioName, envVersion: string(e.Revision), envContext: string(raw),
		"NO_PROXY": noProxy, "no_proxy": noProxy,
	}
	maps.Copy(set, ModelVariables(e.Model, e.Key))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		kept = append(kept, name+"="+set[name])
	}
	return kept
}

// ModelVariables are the variables that lead the providers' own SDKs to a model server, given its base URL for each dialect and a key. Dialects
// that have none add none.
func ModelVariables(bases map[string]string, key string) map[string]string {
	set := map[string]string{}
	for _, p := range providers {
		if bases[p.dialect] == "" {
			continue
		}
		for _, name := range p.base {
			set[name] = bases[p.dialect]
		}
		for _, name := range p.keys {
			set[name] = key
		}
	}
	return set
}

// isProviders reports whether a variable belongs to a model provider, or to this contract: a client under test must neither see
// a real key nor call a real model.
func isProviders(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL") {
		return true
	}
	for _, prefix := range []string{"MCP_CONFORMANCE_", "OPENAI_", "ANTHROPIC_", "CLAUDE_", "GEMINI_", "GOOGLE_", "VERTEX_", "OLLAMA_",
		"MISTRAL_", "GROQ_", "XAI_", "OPENROUTER_", "COHERE_", "DEEPSEEK_", "AZURE_OPENAI_", "AWS_", "HF_", "HUGGINGFACE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// EnvFromProcess reads the contract from the other side: what a client written in Go is told by its last argument and its
// environment, given as functions such as [os.Getenv]. Its error says which part is missing or unreadable; only the server is
// required, which is the URL, or for a client of [CommandStdio] the command in the environment. What the environment does not say stays zero.
func EnvFromProcess(args []string, getenv func(string) string) (Env, error) {
	e := Env{HTTP: http.DefaultClient, Revision: server.Revision(getenv(envVersion)), Report: sayOutcome, announce: sayFeature}
	var told contextVar
	if raw := getenv(envContext); raw != "" {
		if err := json.Unmarshal([]byte(raw), &told); err != nil {
			return Env{}, fmt.Errorf("%s is not the JSON it should be: %w", envContext, err)
		}
	}
	told.tell(&e)
	e.watched()
	switch {
	case told.Server != nil && told.Server.Command == "":
		return Env{}, fmt.Errorf("%s has a server without a command", envContext)
	case told.Server != nil:
		return e, nil
	case len(args) == 0:
		return Env{}, errors.New("the server's URL is missing: it is the last argument")
	}
	e.URL = args[len(args)-1]
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Env{}, fmt.Errorf("the last argument is %q: want the server's URL, such as http://127.0.0.1:8080/mcp", e.URL)
	}
	return e, nil
}
