// Package reference runs fakes/client under the harness: the environment becomes the client's options, and its calls
// become outcomes. It is the client that passes every check, and that package mutants puts bugs into.
package reference

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Models of the two generations of Gemini whose APIs differ.
const (
	Gemini2 = "gemini-2.5-flash"
	Gemini3 = "gemini-3-pro-preview"
)

// Config says how the client asks the model. The zero value uses the streams of OpenAI's chat completions.
type Config struct {
	// Dialect is the provider's API. "" is the only one of the environment, or [dialect.OpenAIChat] if there are several.
	Dialect string
	// Model is the model of Gemini or Ollama to ask for if the server prefers no other; "" for [Gemini2] or llama3.2.
	Model string
	// Plain asks for whole answers instead of streams.
	Plain bool
	// Loop makes the client run the tool loop itself.
	Loop bool
	// Edit changes the client before it connects; nil changes nothing. It may edit what the options point to.
	Edit func(env *harness.Env, c *client.Options, m *model.Options)
	// Host makes the client a [Host]. It then needs [harness.Agent].
	Host bool
	// EditMistakes changes how a [Host] handles the mistakes of its model; nil changes nothing.
	EditMistakes func(*Mistakes)
	// Turns is after how many turns of its model a [Host] ends; 0 for no limit.
	Turns int
	// EditHost changes a [Host] before it connects; nil changes nothing. own returns what the host asks its model next, as
	// params of a sampling request.
	EditHost func(own func() map[string]any, c *client.Options)
}

// Complete returns the configuration with its defaults.
func (c Config) Complete() Config {
	c.Dialect = cmp.Or(c.Dialect, dialect.OpenAIChat)
	if c.Dialect == dialect.Gemini {
		c.Model = cmp.Or(c.Model, Gemini2)
	}
	return c
}

// Client returns the client as a function for [harness.InProcess]. It calls the tools of the environment, or all that
// are listed, once each, then gets the prompts and reads the resources. Error responses of the server are
// outcomes, not errors.
func Client(config Config) func(context.Context, harness.Env) error {
	if config.Host {
		return Host(config)
	}
	return func(ctx context.Context, env harness.Env) error {
		o, _ := config.prepare(&env)
		c, err := client.Connect(ctx, o)
		if err != nil {
			return err
		}
		return errors.Join(callAll(ctx, c, &env), c.Close())
	}
}

// prepare returns the client's options, and those of an own model.
func (c Config) prepare(env *harness.Env) (client.Options, model.Options) {
	if c.Dialect == "" && len(env.Model) == 1 {
		for name := range env.Model {
			c.Dialect = name
		}
	}
	c = c.Complete()
	env.Announce(harness.Decisions)
	env.Announce(harness.Tasks)
	o, m := options(c, env)
	own := m
	var asked *model.Model
	o.Sampling = func(ctx context.Context, params map[string]any) (map[string]any, error) {
		return asked.Sample(ctx, params)
	}
	if c.Loop {
		o.Loop = &client.Loop{Timeout: env.Timeout, Confirm: func(context.Context, client.LoopUse) error {
			if env.Decision == harness.DeclineTools {
				return errDeclined
			}
			return nil
		}}
	}
	if c.Edit != nil {
		c.Edit(env, &o, &m)
	}
	asked = model.New(m)
	return o, own
}

// options returns what the environment says as options of the client and of its model.
func options(config Config, env *harness.Env) (client.Options, model.Options) {
	o := client.Options{
		URL: env.URL, HTTP: env.HTTP, Launch: env.Launch, Revision: env.Revision, Timeout: env.Timeout,
		Info:    map[string]any{"name": "mcp-conform-reference", "version": "1"},
		Consent: Consent(env.Decision),
		Notified: func(method string, _ json.RawMessage) {
			if method == "notifications/progress" {
				env.Progressed()
			}
		},
		Capabilities: json.RawMessage(`{"sampling":{"tools":{}}}`),
	}
	var declared map[string]any
	if json.Unmarshal(env.Declare, &declared) == nil && declared != nil {
		o.Capabilities = env.Declare
	}
	return o, model.Options{Dialect: config.Dialect, URL: env.Model[config.Dialect], Key: env.Key, HTTP: env.HTTP,
		Model: config.Model, Plain: config.Plain}
}

var errDeclined = errors.New("declined")

// Consent is the user of a client: it declines what the decision of [harness.Env] declines.
func Consent(decision string) func(ctx context.Context, params, result map[string]any) error {
	return func(_ context.Context, _, result map[string]any) error {
		if decision == harness.Decline || decision == harness.DeclineAnswer && result != nil {
			return errDeclined
		}
		return nil
	}
}

func callAll(ctx context.Context, c *client.Client, env *harness.Env) error {
	listed, err := c.ListTools(ctx)
	if err != nil {
		return err
	}
	names := env.Tools
	if names == nil {
		for _, tool := range listed {
			names = append(names, tool.Name)
		}
	}
	for _, name := range names {
		ctx, _, done := env.Call(ctx, name) // ctx ends if the client is to abandon the call
		_, err := c.CallTool(ctx, name, argumentsOf(env, name))
		err = report(env, name, err)
		if done(); err != nil {
			return err
		}
	}
	for _, name := range env.Prompts {
		_, err := c.GetPrompt(ctx, name, nil)
		if err = report(env, name, err); err != nil {
			return err
		}
	}
	for _, uri := range env.Resources {
		_, err := c.ReadResource(ctx, uri)
		if err = report(env, uri, err); err != nil {
			return err
		}
	}
	return nil
}

func argumentsOf(env *harness.Env, tool string) map[string]any {
	arguments, _ := jsonvalue.ReadObject(env.Arguments[tool]) // nil for none
	return arguments
}

// report reports how a call ended. It returns the error of a call after which the client cannot continue.
func report(env *harness.Env, name string, err error) error {
	o := harness.Outcome{Tool: name, Ended: harness.Completed}
	if err != nil {
		o.Ended, o.Error = harness.Failed, &harness.OutcomeError{Message: err.Error()}
	}
	fatal := false
	var refused *client.Error
	var input *client.InputError
	switch {
	case err == nil:
	case errors.As(err, &input): // it may wrap the client's own Error
		o.Ended, o.Error = harness.InputRequired, nil
	case errors.As(err, &refused):
		o.Error.Code, o.Error.Message = refused.Code, refused.Message
	case errors.Is(err, client.ErrAbandoned):
		o.Ended = harness.Abandoned
	default:
		fatal = !errors.Is(err, client.ErrUnusable) && !errors.Is(err, client.ErrSessionLost) &&
			!errors.Is(err, client.ErrServerLost)
	}
	if env.Report != nil {
		env.Report(o)
	}
	if fatal {
		return fmt.Errorf("calling %s: %w", name, err)
	}
	return nil
}
