package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The forms of MCP serve for the host's own conversation, too.
type (
	request = mcp.CreateMessageWithToolsParams
	answer  = mcp.CreateMessageWithToolsResult
	asker   = func(context.Context, *request) (*answer, error)
)

// host is an agent with servers, and a conversation with its model.
type host struct {
	config      *config
	http        *http.Client
	timeout     time.Duration // of an answer to a sampling request
	approve     func(question string) bool
	ask, answer asker // its own requests, and sampling requests

	mu    sync.Mutex
	own   request
	calls map[string]func(ctx context.Context, input any) (*mcp.CallToolResult, error) // by offered name
}

// work connects to the servers, and lets the model work on a task until it answers with a text.
func (h *host) work(ctx context.Context, prompt string) error {
	h.own = request{SystemPrompt: "You are a demonstration.", MaxTokens: 4096,
		Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: prompt}}}}}
	h.calls = map[string]func(context.Context, any) (*mcp.CallToolResult, error){}
	for name, s := range h.config.Servers {
		session, err := h.connect(ctx, name, s)
		if err != nil {
			return fmt.Errorf("server %s: %w", name, err)
		}
		defer session.Close()
	}
	for repeats, last := 1, ""; ; repeats++ {
		said, err := h.ask(ctx, h.conversation())
		if err != nil && !errors.Is(err, errArguments) {
			return fmt.Errorf("the model: %w", err)
		}
		if calls := callsIn(said); calls != last {
			repeats, last = 1, calls
		}
		if repeats == mostRepeats {
			return fmt.Errorf("the model: it makes the same call for the %dth time", repeats)
		}
		var results []mcp.Content
		for _, c := range said.Content {
			switch c := c.(type) {
			case *mcp.TextContent:
				fmt.Println(c.Text)
			case *mcp.ToolUseContent:
				results = append(results, h.call(ctx, c, err))
			}
		}
		if results == nil {
			return nil
		}
		h.mu.Lock()
		h.own.Messages = append(h.own.Messages, &mcp.SamplingMessageV2{Role: "assistant", Content: said.Content},
			&mcp.SamplingMessageV2{Role: "user", Content: results})
		h.mu.Unlock()
	}
}

// mostRepeats is at which call in a row that is the same a task ends.
const mostRepeats = 10

// callsIn describes the tool uses of an answer, without their ids.
func callsIn(said *answer) string {
	text := ""
	for _, c := range said.Content {
		if use, ok := c.(*mcp.ToolUseContent); ok {
			text += fmt.Sprintf("%s(%s)", use.Name, inputOf(use))
		}
	}
	return text
}

// connect connects to a server and adds its tools.
func (h *host) connect(ctx context.Context, name string, s serverConfig) (*mcp.ClientSession, error) {
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: h.http}
	if s.Command != "" {
		transport = &mcp.CommandTransport{Command: exec.Command(s.Command, s.Args...)}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "demohost", Version: "1"},
		&mcp.ClientOptions{CreateMessageWithToolsHandler: h.sample})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return session, err
		}
		offered := &mcp.Tool{Name: name + "__" + t.Name, Description: t.Description, InputSchema: t.InputSchema}
		h.own.Tools = append(h.own.Tools, offered)
		h.calls[offered.Name] = func(ctx context.Context, input any) (*mcp.CallToolResult, error) {
			return session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: input})
		}
	}
	return session, nil
}

// conversation is what the host asks its model next.
func (h *host) conversation() *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.own // messages are only added
	return &r
}

// call calls a tool, unless something is wrong with the arguments. Whatever goes wrong, the model is told.
func (h *host) call(ctx context.Context, use *mcp.ToolUseContent, wrong error) *mcp.ToolResultContent {
	failed := func(why string) *mcp.ToolResultContent {
		return &mcp.ToolResultContent{ToolUseID: use.ID, Content: []mcp.Content{&mcp.TextContent{Text: why}}, IsError: true}
	}
	switch {
	case wrong != nil:
		return failed(wrong.Error())
	case h.calls[use.Name] == nil:
		return failed("unknown tool")
	}
	result, err := h.calls[use.Name](ctx, use.Input)
	if err != nil {
		return failed(err.Error())
	}
	return &mcp.ToolResultContent{ToolUseID: use.ID, Content: result.Content, IsError: result.IsError}
}

// textOf is a tool result as a text: not every provider takes more. Structured content becomes JSON, and a failure has
// a text.
func textOf(result *mcp.ToolResultContent) (string, error) {
	var text string
	for _, c := range result.Content {
		t, ok := c.(*mcp.TextContent)
		if !ok {
			return "", fmt.Errorf("a tool result has content of the type %T, which the host does not support", c)
		}
		text += t.Text
	}
	switch {
	case text == "" && result.StructuredContent != nil:
		raw, err := json.Marshal(result.StructuredContent)
		return string(raw), err
	case text == "" && result.IsError:
		return "the tool failed", nil
	}
	return text, nil
}
