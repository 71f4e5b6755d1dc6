package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	strict "github.com/mcp-conform/mcp-conform/interop/host"
)

// sample answers a sampling request: with the server's messages and tools alone, if the user allows it.
func (h *host) sample(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*answer, error) {
	raw, err := json.Marshal(req.Params)
	why := strict.Forbidden(raw, json.RawMessage(`{"sampling":{"tools":{}}}`)) // the SDK declares both
	switch {
	case err != nil || why != "":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: cmp.Or(why, "invalid request")}
	case !h.approve("Allow the server to ask the model?"):
		return nil, &jsonrpc.Error{Code: -1, Message: "the user declined the request"}
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	said, err := h.answer(ctx, req.Params)
	if err == nil && (len(req.Params.Tools) == 0 || choice(req.Params) == "none") && said.StopReason == "toolUse" {
		err = errors.New("the model used a forbidden tool")
	}
	if err != nil { // without the provider's words
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model did not answer"}
	}
	if said.Content == nil {
		said.Content = []mcp.Content{&mcp.TextContent{}}
	}
	return said, nil
}

func choice(r *request) string {
	if r.ToolChoice == nil {
		return ""
	}
	return r.ToolChoice.Mode
}

// errArguments comes with an answer that uses a tool with arguments that are not a JSON object.
var errArguments = errors.New("the arguments are not a JSON object")

// toolUse returns a use of a tool with the model's arguments. Floats would round large numbers. Invalid arguments
// become {} for the model that gets them back.
func toolUse(id, name, arguments string) (*mcp.ToolUseContent, error) {
	use := &mcp.ToolUseContent{ID: id, Name: name}
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.UseNumber()
	if err := dec.Decode(&use.Input); err != nil || use.Input == nil {
		use.Input = map[string]any{}
		return use, errArguments
	}
	return use, nil
}

// inputOf is the input of a tool use as JSON. It was read from JSON.
func inputOf(use *mcp.ToolUseContent) json.RawMessage {
	raw, _ := json.Marshal(use.Input)
	return raw
}
