package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Loop is the tool loop, run by the client: it executes the tools that the model uses through tools/call on the server
// that samples, and returns only the final answer. The specification leaves this loop to the server, so it is an option
// ([Options.Loop]). The zero value has the defaults below.
//
// A request may have hints, as members of its _meta, of its metadata, or of the params: maxIterations lowers
// MaxIterations, and allowedToolPatterns narrows Allowed. With allowedToolPatterns and without tools, the model gets
// the matching tools of the server. A toolChoice with a name makes the model begin with this tool.
type Loop struct {
	// MaxIterations is how many times the model is asked for one sampling request; 0 for 10. A loop that needs more ends
	// with an error.
	MaxIterations int
	// Timeout limits the whole loop; 0 for 5 minutes, negative for no limit. Options.Timeout limits each request to the
	// model.
	Timeout time.Duration
	// Allowed holds patterns of tools, as [path.Match] has them. Other tools are neither offered to the model nor called.
	// Nil allows all.
	Allowed []string
	// Confirm asks the user before a tool runs whose annotations have destructiveHint. The other tools of the turn have
	// run by then. An error declines, and the model receives it. Nil declines each.
	Confirm func(ctx context.Context, use LoopUse) error
	// Observe receives an event for each iteration, and one at the end of the loop; nil for none. Loops of several
	// requests call it concurrently.
	Observe func(LoopEvent)
}

// LoopUse is a tool that the model uses.
type LoopUse struct {
	Name string
	// Input holds the arguments. Their numbers are [json.Number].
	Input map[string]any
}

// LoopEvent says that an iteration of a [Loop], or the loop, has ended.
type LoopEvent struct {
	// Iteration counts the requests to the model, from 1; at the end of the loop it is their number.
	Iteration int
	// Tools holds the names of the tools that the model used, in order; nil at the end of the loop.
	Tools []string
	// Duration is the time that the iteration took, or the loop.
	Duration time.Duration
	// Ended is true at the end of the loop. Err is then why it failed; nil for success.
	Ended bool
	Err   error
}

const (
	defaultIterations  = 10
	defaultLoopTimeout = 5 * time.Minute
)

// looping is the loop of one sampling request.
type looping struct {
	Loop
	client  *Client
	params  map[string]any
	offered []map[string]any // the tools of the first request to the model, before a choice by name
	allowed []string         // of the request; nil for no limit of its own
	listed  map[string]*Tool // the server's tools; nil before they are needed
}

// run answers a sampling request. Errors that are for the server are an [*Error].
func (l Loop) run(ctx context.Context, c *Client, params map[string]any) (map[string]any, error) {
	began := time.Now()
	one := &looping{Loop: l, client: c, params: maps.Clone(params)}
	one.MaxIterations = cmp.Or(l.MaxIterations, defaultIterations)
	if limit := cmp.Or(l.Timeout, defaultLoopTimeout); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLoopTimeout)
		defer cancel()
	}
	iterations, result, err := one.iterate(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errLoopTimeout) {
		err = errLoopTimeout
	}
	l.observe(LoopEvent{Iteration: iterations, Duration: time.Since(began), Ended: true, Err: err})
	return result, err
}

var errLoopTimeout = &Error{Code: CodeInternal, Message: "the tool loop timed out"}

func (l *Loop) observe(e LoopEvent) {
	if l.Observe != nil {
		l.Observe(e)
	}
}

// iterate asks the model until it uses no tool.
func (l *looping) iterate(ctx context.Context) (iteration int, result map[string]any, err error) {
	if err := l.prepare(ctx); err != nil {
		return 0, nil, err
	}
	for {
		iteration++
		began := time.Now()
		result, err := l.client.handle(ctx, maps.Clone(l.params)) // a handler may keep them
		if err != nil {
			return iteration, nil, err
		}
		uses := jsonvalue.OfType(result["content"], "tool_use")
		event := LoopEvent{Iteration: iteration}
		for _, use := range uses {
			event.Tools = append(event.Tools, jsonvalue.TextIn(use, "name"))
		}
		if len(uses) > 0 && iteration < l.MaxIterations {
			err = l.extend(ctx, result, uses)
		}
		event.Duration = time.Since(began)
		l.observe(event)
		switch {
		case err != nil:
			return iteration, nil, err
		case len(uses) == 0:
			return iteration, result, nil
		case iteration >= l.MaxIterations:
			return iteration, nil, &Error{Code: CodeInternal,
				Message: fmt.Sprintf("the tool loop reached its limit of %d iterations", l.MaxIterations)}
		}
	}
}

// prepare reads the hints of the request and chooses the tools for the model.
func (l *looping) prepare(ctx context.Context) error {
	number, _ := hint(l.params, "maxIterations").(json.Number)
	if most, err := number.Int64(); err == nil && most > 0 {
		l.MaxIterations = int(min(int64(l.MaxIterations), most))
	}
	tools, _ := l.params["tools"].([]any)
	if patterns, ok := hint(l.params, "allowedToolPatterns").([]any); ok {
		l.allowed = []string{}
		for _, p := range patterns {
			pattern, _ := p.(string)
			l.allowed = append(l.allowed, pattern)
		}
		if err := validPatterns(l.allowed); err != nil {
			return &Error{Code: CodeInvalidParams, Message: "allowedToolPatterns: " + err.Error()}
		}
		if tools == nil {
			if err := l.list(ctx); err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(l.listed)) {
				tools = append(tools, l.listed[name].offer())
			}
		}
	}
	for _, item := range tools {
		if tool, ok := item.(map[string]any); ok && l.allows(jsonvalue.TextIn(tool, "name")) {
			l.offered = append(l.offered, tool)
		}
	}
	return l.choose()
}

// choose sets the tools of the first request to the model: with a choice by name, only that one.
func (l *looping) choose() error {
	choice, _ := l.params["toolChoice"].(map[string]any)
	name := jsonvalue.TextIn(choice, "name")
	l.setTools(l.offered)
	if name == "" {
		return nil
	}
	i := slices.IndexFunc(l.offered, func(tool map[string]any) bool { return tool["name"] == name })
	if i < 0 {
		return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("toolChoice names the unknown tool %q", name)}
	}
	l.setTools(l.offered[i : i+1])
	l.params["toolChoice"] = map[string]any{"mode": "required"}
	return nil
}

func (l *looping) setTools(tools []map[string]any) {
	delete(l.params, "tools")
	if len(tools) > 0 {
		l.params["tools"] = anySlice(tools)
	}
}

// extend runs the tools and extends the conversation by their results. A choice of a tool has served its purpose then:
// it would keep the model from ending the loop.
func (l *looping) extend(ctx context.Context, result map[string]any, uses []map[string]any) error {
	choice, _ := l.params["toolChoice"].(map[string]any)
	if choice["mode"] == "none" {
		return &Error{Code: CodeInternal, Message: "the model used a tool, which the request does not allow"}
	}
	results, err := l.callAll(ctx, uses)
	if err != nil {
		return err
	}
	messages, _ := l.params["messages"].([]any)
	l.params["messages"] = append(slices.Clip(messages),
		map[string]any{"role": "assistant", "content": result["content"]},
		map[string]any{"role": "user", "content": anySlice(results)})
	delete(l.params, "toolChoice")
	l.setTools(l.offered)
	return nil
}

// allows reports whether the user and the request allow a tool.
func (l *looping) allows(name string) bool {
	for _, patterns := range [][]string{l.Allowed, l.allowed} {
		if patterns != nil && !slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, _ := path.Match(pattern, name) // valid
			return matches
		}) {
			return false
		}
	}
	return true
}

func validPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("invalid pattern %q", pattern)
		}
	}
	return nil
}

func hint(params map[string]any, name string) any {
	for _, holder := range []any{params["_meta"], params["metadata"], params} {
		if o, ok := holder.(map[string]any); ok && o[name] != nil {
			return o[name]
		}
	}
	return nil
}

func anySlice[T any](all []T) []any {
	items := make([]any, len(all))
	for i, one := range all {
		items[i] = one
	}
	return items
}
