package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/toolschema"
)

// list lists the server's tools, once a loop.
func (l *looping) list(ctx context.Context) error {
	if l.listed != nil {
		return nil
	}
	tools, err := l.client.ListTools(ctx)
	if err != nil {
		return err
	}
	l.listed = map[string]*Tool{}
	for i := range tools {
		l.listed[tools[i].Name] = &tools[i]
	}
	return nil
}

func (t *Tool) offer() map[string]any {
	return map[string]any{"name": t.Name, "description": t.Description, "inputSchema": t.InputSchema}
}

// destructive reports whether the server says that the tool may destroy something.
func (t *Tool) destructive() bool {
	annotations, _ := jsonvalue.ReadObject(t.Annotations) // invalid ones say nothing
	return annotations["destructiveHint"] == true && annotations["readOnlyHint"] != true
}

// callAll runs the tools that the model uses in a turn, and returns their results in the same order. Destructive ones
// come last, one by one. The error is one with which the loop has to end.
func (l *looping) callAll(ctx context.Context, uses []map[string]any) ([]map[string]any, error) {
	if err := l.list(ctx); err != nil {
		return nil, err
	}
	results := make([]map[string]any, len(uses))
	var destructive []int
	var running sync.WaitGroup
	for i, use := range uses {
		tool, why := l.find(use)
		switch {
		case why != "":
			results[i] = resultOfUse(use, failed(why))
		case tool.destructive():
			destructive = append(destructive, i)
		default:
			running.Go(func() { results[i] = resultOfUse(use, l.call(ctx, use)) })
		}
	}
	running.Wait()
	for _, i := range destructive {
		if ctx.Err() == nil {
			results[i] = resultOfUse(uses[i], l.confirmed(ctx, uses[i]))
		}
	}
	return results, ctx.Err()
}

// find returns the tool that the model uses, or why it cannot be called, in words for the model.
func (l *looping) find(use map[string]any) (tool *Tool, why string) {
	name := jsonvalue.TextIn(use, "name")
	var names []string
	known := false
	for _, offered := range l.offered {
		names = append(names, jsonvalue.TextIn(offered, "name"))
		known = known || offered["name"] == name
	}
	if tool = l.listed[name]; !known || tool == nil {
		return nil, fmt.Sprintf("unknown tool %q: the tools are %s", name, strings.Join(names, ", "))
	}
	schema, err := toolschema.Compile(tool.InputSchema)
	if err != nil {
		return tool, "" // the server checks the arguments
	}
	return tool, schema.Check(name, jsonvalue.Marshal(use["input"]))
}

// confirmed runs a destructive tool if the user agrees.
func (l *looping) confirmed(ctx context.Context, use map[string]any) map[string]any {
	err := errors.New("nobody can confirm it")
	if l.Confirm != nil {
		input, _ := use["input"].(map[string]any)
		err = l.Confirm(ctx, LoopUse{Name: jsonvalue.TextIn(use, "name"), Input: input})
	}
	if err != nil {
		return failed("the user declined this tool call: " + err.Error())
	}
	return l.call(ctx, use)
}

// call runs a tool. A failure is a result that the model can read.
func (l *looping) call(ctx context.Context, use map[string]any) map[string]any {
	input, _ := use["input"].(map[string]any)
	raw, err := l.client.CallTool(ctx, jsonvalue.TextIn(use, "name"), input)
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return failed(refused.Message)
	case err != nil:
		return failed(err.Error())
	}
	result, err := jsonvalue.ReadObject(raw)
	if err != nil {
		return failed("the server's result is not valid")
	}
	return result
}

func failed(why string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": why}}, "isError": true}
}

// resultOfUse makes the result of a call a content block.
func resultOfUse(use, result map[string]any) map[string]any {
	block := map[string]any{"type": "tool_result", "toolUseId": use["id"], "content": []any{}}
	for _, member := range []string{"content", "structuredContent", "isError"} {
		if value, ok := result[member]; ok {
			block[member] = value
		}
	}
	return block
}
