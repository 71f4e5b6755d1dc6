package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Config says how the client asks the model. The zero value uses the streamed form of OpenAI's chat completions.
type Config struct {
	// Dialect is the provider's wire format: [dialect.OpenAIChat], [dialect.OpenAIResponses], [dialect.Anthropic], [dialect.Gemini],
	// [dialect.Ollama], or [dialect.Native]. "" is the one that the client is told of where there is only one, and else the first of these.
	Dialect string
	// Model is the model to ask for in the dialects of Gemini and Ollama, where the server hints at none; "" is [Gemini2], or llama3.2.
	Model string
	// Plain asks for whole answers in place of streams, where the dialect has both.
	Plain bool

	broken faults
}

// Models of the generations of Gemini, which differ on the wire.
const (
	Gemini2 = "gemini-2.5-flash"
	Gemini3 = "gemini-3-pro-preview"
)

// Client returns the client as a function for [harness.InProcess]. It connects in the revision that it is told, lists the tools, calls
// each that it is told to, or else each that is listed, once with {}, and answers sampling by asking the model. It returns an error when a
// call could not be made; a call that the server answers with an error is no error of the client.
func Client(c Config) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		c := c
		if c.Dialect == "" && len(env.Model) == 1 {
			for name := range env.Model {
				c.Dialect = name
			}
		}
		c = c.complete()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if c.broken.neverConnects {
			return nil
		}
		env.Announce(harness.Decisions)
		env.Announce(harness.Tasks)
		if c.broken.keyInURL {
			env.URL += "?api_key=" + env.Key
		}
		m := &model{config: c, env: env, turn: make(chan struct{}, 1)}
		m.env.HTTP = m.network() // the wire to the server has its own
		first, err := connect(ctx, env, m)
		if err != nil {
			return err
		}
		wire := &surviving{wire: first, model: m, again: func() (wire, error) { return connect(ctx, env, m) }}
		err = errors.Join(callTools(ctx, wire, env, m), callOthers(ctx, wire, env))
		if err == nil && c.broken.failsAtTheEnd {
			err = errors.New("broken on purpose: a failure after all went well")
		}
		return errors.Join(err, wire.close(ctx))
	}
}

// complete returns the configuration with what it leaves to the client.
func (c Config) complete() Config {
	if c.Dialect == "" {
		c.Dialect = dialect.OpenAIChat
	}
	if c.Dialect == dialect.Gemini && c.Model == "" {
		c.Model = Gemini2
	}
	return c
}

// wire is the client's side of the protocol in one era.
type wire interface {
	// request sends a request and returns its result, whatever the server asks meanwhile.
	request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error)
	close(ctx context.Context) error
}

// connect opens the wire of the era that the revision belongs to, or finds out which that is.
func connect(ctx context.Context, env harness.Env, m *model) (wire, error) {
	if env.Revision == "" {
		return negotiate(ctx, env, m)
	}
	if env.Revision.Modern() {
		return openModern(ctx, env, m)
	}
	return openLegacy(ctx, env, m, false)
}

// capabilities are what the client declares: what it was told to, or else sampling, with tools where the revision has them.
func (m *model) capabilities() map[string]any {
	declared := m.told()
	if m.env.Revision.Modern() && len(declared) > 0 {
		declared["roots"] = map[string]any{} // it has none to show
	}
	edit(m.config.broken.declared, declared)
	return declared
}

// told are the capabilities that the client holds itself to.
func (m *model) told() map[string]any {
	if m.config.broken.declaresNothing {
		return map[string]any{}
	}
	var declared map[string]any
	if json.Unmarshal(m.env.Declare, &declared) != nil || declared == nil {
		declared = map[string]any{"sampling": map[string]any{"tools": map[string]any{}}}
	}
	if !m.env.Revision.HasTools() {
		if sampling, ok := declared["sampling"].(map[string]any); ok {
			delete(sampling, "tools")
		}
	}
	return declared
}

var clientInfo = map[string]any{"name": "mcp-conform-reference", "version": "1"}

// callTools calls the tools that it is told to, or all that are listed, and reports how each call ended.
func callTools(ctx context.Context, w wire, env harness.Env, m *model) error {
	raw, err := w.request(ctx, "tools/list", map[string]any{})
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	var listed struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(raw, &listed); err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	names := env.Tools
	if names == nil {
		for _, t := range listed.Tools {
			names = append(names, t.Name)
		}
	}
	for _, name := range names {
		if err := callOne(ctx, w, env, "tools/call", name, map[string]any{"name": name, "arguments": map[string]any{}}); err != nil {
			return err
		}
		if m.died() {
			return errors.New("broken on purpose: dies of a failure to ask the model")
		}
	}
	return nil
}

// callOthers gets the prompts and reads the resources that it is told to.
func callOthers(ctx context.Context, w wire, env harness.Env) error {
	for _, name := range env.Prompts {
		if err := callOne(ctx, w, env, "prompts/get", name, map[string]any{"name": name}); err != nil {
			return err
		}
	}
	for _, uri := range env.Resources {
		if err := callOne(ctx, w, env, "resources/read", uri, map[string]any{"uri": uri}); err != nil {
			return err
		}
	}
	return nil
}

// callOne makes a request that the server may answer with a wish for input, and reports how it ended. That it failed is no error.
func callOne(ctx context.Context, w wire, env harness.Env, method, name string, params map[string]any) error {
	raw, err := w.request(ctx, method, params)
	if env.Report != nil {
		env.Report(outcome(name, raw, err))
	}
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) && !errors.Is(err, errGivenUp) && !errors.Is(err, errUnusable) && !errors.Is(err, errSessionLost) && !errors.Is(err, errLost) { // what the server says is an answer, too
		return fmt.Errorf("%s of %s: %w", method, name, err)
	}
	return nil
}

// outcome is what became of a call.
func outcome(tool string, raw json.RawMessage, err error) harness.Outcome {
	o := harness.Outcome{Tool: tool, Ended: harness.Completed}
	var refused *rpcError
	var r result
	switch {
	case errors.As(err, &refused):
		o.Ended, o.Error = harness.Failed, &harness.OutcomeError{Code: refused.Code, Message: refused.Message}
	case errors.Is(err, errGivenUp):
		o.Ended, o.Error = harness.GaveUp, &harness.OutcomeError{Message: err.Error()}
	case err != nil:
		o.Ended, o.Error = harness.Failed, &harness.OutcomeError{Message: err.Error()}
	case json.Unmarshal(raw, &r) == nil && r.ResultType == "input_required":
		o.Ended = harness.InputRequired
	}
	return o
}
