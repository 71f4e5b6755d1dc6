package variations

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	mcp "github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

const mayCallIn = "basic tool-use parallel loop/three-cities mrtr"

// callVariations differ in which tools they call, and when, and in whether they call the model.
var callVariations = anyOrder(of(reference.Config{}, "calls-",
	edited("in-reverse", "calls the last tool of the list first", "calls", mayCallIn, listed(func(tools []any) []any {
		slices.Reverse(tools)
		return tools
	})),
	edited("twice", "calls each tool a second time after all others", "calls", mayCallIn,
		listed(func(tools []any) []any { return append(tools, tools...) })),
	edited("unknown-tool", "calls an unknown tool first", "calls", mayCallIn,
		listed(func(tools []any) []any { return append([]any{object{"name": "no-such-tool"}}, tools...) })),
	edited("no-model", "answers every request by itself and asks no model", "own-answers",
		"basic loop balance provider-errors time consent cancel mrtr transport declare",
		mutants.Edit{Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
			o.Sampling = func(context.Context, object) (object, error) {
				w.Fire()
				return object{"role": "assistant", "model": "own", "content": textBlock("As you wish.")}, nil
			}
		}}, warns("client/sampled")),
	edited("backing-off", "asks a failing model up to six times more, after waits that double, for two minutes",
		"model-retries", "provider-errors",
		mutants.Edit{Options: func(w *mutants.Wire, _ *mcp.Options, m *model.Options) {
			m.Retry = func(attempt int, err error) (time.Duration, bool) {
				var told *model.ProviderError
				passing := !errors.As(err, &told) || told.Status == http.StatusTooManyRequests || told.Status >= 500
				again := attempt <= 6 && passing && !errors.As(err, new(*mcp.Error))
				if again {
					w.Fire()
				}
				return 2 * time.Second << (attempt - 1), again
			}
		}}),
	edited("one-at-a-time", "refuses a sampling request while it handles another one",
		"refusal", "cancel consent parallel", oneAtATime, having(server.Revision.HasPrimingEvents)),
	edited("ten-a-minute", "serves ten samples a minute", "rate-limit", "basic tool-use",
		atMost(10, time.Minute, "rate limit exceeded: 10 samples per minute"),
		having(server.Revision.HasPrimingEvents), func(v *Variation) { v.OnlyCases = true }),
	edited("twenty-a-session", "serves twenty samples a session", "rate-limit", "basic tool-use",
		atMost(20, 24*time.Hour, "the sampling budget of the session is used up"),
		having(server.Revision.HasPrimingEvents), func(v *Variation) { v.OnlyCases = true }),
	edited("pausing", "asks no model for five seconds after it failed", "model-pauses", "basic tool-use",
		mutants.Edit{Options: pausing}, having(server.Revision.HasPrimingEvents), func(v *Variation) { v.OnlyCases = true }),
	edited("ten-a-call", "serves ten samples of a call", "loop-limits", "basic tool-use parallel loop", atMostOfACall(10)),
	edited("one-model", "has one model and says so", "model-choice", "basic/hints",
		mutants.Edit{
			Env:    func(env *harness.Env) { env.Announce(harness.OneModel) },
			Params: func(params object) { delete(params, "modelPreferences") },
		}),
	runs("twice-at-once", "calls all tools in two sessions at once", mayCallIn,
		func(ctx context.Context, env harness.Env, client client) error {
			all := func() error { return client(ctx, env) }
			env.Abandon = nil // it is for clients that make one call after the other
			return atOnce(all, all)
		}),
	runs("all-at-once", "calls all tools at once, each in its own session", "basic parallel",
		func(ctx context.Context, env harness.Env, client client) error {
			names, err := list(ctx, env)
			if err != nil {
				return err
			}
			env.Abandon = nil
			var all []func() error
			for _, name := range names {
				one := env
				one.Tools = []string{name}
				all = append(all, func() error { return client(ctx, one) })
			}
			return atOnce(all...)
		}),
	runs("lists-first", "lists the tools in a separate session first", mayCallIn,
		func(ctx context.Context, env harness.Env, client client) error {
			if _, err := list(ctx, env); err != nil {
				return err
			}
			return client(ctx, env)
		}),
))

func anyOrder(all []Variation) []Variation {
	for i := range all {
		all[i].AnyOrder = true
	}
	return all
}

// runs makes a variation that runs the reference client, or more than one.
func runs(name, doc, cases string, run func(ctx context.Context, env harness.Env, client client) error) Variation {
	made := edited(name, doc, "calls", cases, mutants.Edit{})
	made.client = func(c reference.Config, fired func(mutants.Change)) client {
		return func(ctx context.Context, env harness.Env) error {
			fired(mutants.Change{})
			return run(ctx, env, reference.Client(c))
		}
	}
	return made
}

// listed edits the list of tools that the client receives. It calls those.
func listed(edit func(tools []any) []any) mutants.Edit {
	return mutants.Edit{In: func(m *mutants.Message) {
		if m.Answers("tools/list") {
			m.Result()["tools"] = edit(array(m.Result()["tools"]))
		}
	}}
}

// list returns the names of the server's tools, from a session that does nothing else.
func list(ctx context.Context, env harness.Env) ([]string, error) {
	var names []string
	env.Tools, env.Prompts, env.Resources = []string{}, nil, nil
	see := listed(func(tools []any) []any {
		for _, tool := range objects(tools) {
			names = append(names, text(tool, "name"))
		}
		return tools
	})
	only := func(*mutants.Wire) mutants.Edit { return see }
	err := mutants.Client(reference.Config{}, only, mutants.Condition{}, nil)(ctx, env)
	return names, err
}

// atOnce runs functions at once, and returns their errors.
func atOnce(all ...func() error) error {
	var running sync.WaitGroup
	errs := make([]error, len(all))
	for i, f := range all {
		running.Go(func() { errs[i] = f() })
	}
	running.Wait()
	return errors.Join(errs...)
}

// oneAtATime refuses a request while another one is open.
var oneAtATime = mutants.Edit{Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
	ask, free := o.Sampling, make(chan struct{}, 1)
	o.Sampling = func(ctx context.Context, params object) (object, error) {
		select {
		case free <- struct{}{}:
		default:
			w.Fire()
			return nil, &mcp.Error{Code: -32000, Message: "another request is in progress"}
		}
		defer func() { <-free }()
		return ask(ctx, params)
	}
}}

// atMost refuses a sampling request if there were so many before in a time.
func atMost(n int, within time.Duration, why string) mutants.Edit {
	return refusing(why, func(*mutants.Wire) func() bool {
		var served []time.Time
		return func() bool {
			served = slices.DeleteFunc(served, func(t time.Time) bool { return time.Since(t) > within })
			if len(served) == n {
				return true
			}
			served = append(served, time.Now())
			return false
		}
	})
}

// pausing refuses the samples of the five seconds after a failure of the model, as a circuit breaker does.
func pausing(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
	const pause = 5 * time.Second
	ask := o.Sampling
	var mu sync.Mutex
	var failed time.Time
	o.Sampling = func(ctx context.Context, params object) (object, error) {
		mu.Lock()
		pauses := time.Since(failed) < pause
		mu.Unlock()
		if pauses {
			w.Fire()
			return nil, &mcp.Error{Code: -32000, Message: "no deployment is available: try again in 5 seconds"}
		}
		result, err := ask(ctx, params)
		if err != nil && ctx.Err() == nil {
			mu.Lock()
			defer mu.Unlock()
			failed = time.Now()
		}
		return result, err
	}
}

// atMostOfACall refuses what a call asks for beyond n samples, and does not say that this is a limit.
func atMostOfACall(n int) mutants.Edit {
	return refusing("declined", func(w *mutants.Wire) func() bool {
		asked := map[string]int{}
		return func() bool {
			asked[w.Calling()]++
			return asked[w.Calling()] > n
		}
	})
}

// refusing refuses a sampling request with these words if there are too many. A client counts them from its start.
func refusing(why string, start func(*mutants.Wire) (tooMany func() bool)) mutants.Edit {
	return mutants.Edit{Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
		ask, tooMany := o.Sampling, start(w)
		var mu sync.Mutex
		o.Sampling = func(ctx context.Context, params object) (object, error) {
			mu.Lock()
			refuse := tooMany()
			mu.Unlock()
			if refuse {
				w.Fire()
				return nil, &mcp.Error{Code: -32000, Message: why}
			}
			return ask(ctx, params)
		}
	}}
}
