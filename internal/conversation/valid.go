package conversation

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Validate returns an error if the conversation is not valid in its revision, with the path of the first fault:
// requests must be valid by the schema and balanced, and answers what a provider may send.
func (c *Conversation) Validate() error {
	if len(c.Steps) == 0 {
		return errors.New("steps: expected at least one, found none")
	}
	hostile := c.Hostile()
	for i, s := range c.Steps {
		if len(s) == 0 {
			return fmt.Errorf("steps[%d]: expected an exchange, found none", i)
		}
		for j := range s {
			at := fmt.Sprintf("steps[%d][%d]", i, j)
			x := &s[j]
			if hostile && (len(c.Steps) > 1 || len(s) > 1 || x.Rounds != nil || x.Answer != nil) {
				return fmt.Errorf("%s.hostile: such a request must be alone, without an answer", at)
			}
			if err := x.validate(c.Revision, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Exchange) validate(revision, at string) error {
	if len(x.Params) == 0 {
		return fmt.Errorf("%s.params: missing", at)
	}
	if x.Hostile {
		return nil
	}
	if err := schema.Validate(revision, schema.CreateMessageRequestParams, x.Params); err != nil {
		return fmt.Errorf("%s.params: %w", at, err)
	}
	params, err := mcpjson.Object(x.Params)
	if err != nil {
		return fmt.Errorf("%s.params: %w", at, err)
	}
	if err := validMessages(params); err != nil {
		return fmt.Errorf("%s.params.messages: %w", at, err)
	}
	if err := x.Answer.validate(params); err != nil {
		return fmt.Errorf("%s.answer: %w", at, err)
	}
	uses := x.Answer.Uses()
	for i := range x.Rounds {
		r := &x.Rounds[i]
		if len(r.Results) == 0 || len(r.Results) != len(uses) {
			return fmt.Errorf("%s.rounds[%d].results: expected one for each tool use of the answer before (%d), found %d", at,
				i, len(uses), len(r.Results))
		}
		next, err := r.params(revision, params, uses)
		if err != nil {
			return fmt.Errorf("%s.rounds[%d]: %w", at, i, err)
		}
		if err := r.Answer.validate(next); err != nil {
			return fmt.Errorf("%s.rounds[%d].answer: %w", at, i, err)
		}
		params, uses = next, r.Answer.Uses()
	}
	return nil
}

// params returns the params of the round's request, as far as the schema sees them.
func (r *Round) params(revision string, before map[string]any, uses []Block) (map[string]any, error) {
	merged := map[string]any{}
	maps.Copy(merged, before)
	for name, value := range r.Params {
		if name == "messages" {
			return nil, errors.New("params.messages: they follow from the rounds before")
		}
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return nil, fmt.Errorf("params.%s: %w", name, err)
		}
		merged[name] = v
	}
	said := make([]any, len(uses))
	for i, use := range uses {
		said[i] = map[string]any{"type": "tool_use", "id": fmt.Sprint(i), "name": use.Name, "input": use.Input}
	}
	results := make([]any, len(r.Results))
	for i := range r.Results {
		results[i] = r.Results[i].Block(fmt.Sprint(i))
	}
	whole := maps.Clone(merged)
	whole["messages"] = []any{
		map[string]any{"role": "assistant", "content": said}, map[string]any{"role": "user", "content": results}}
	raw := mcpjson.Marshal(whole)
	if err := schema.Validate(revision, schema.CreateMessageRequestParams, raw); err != nil {
		return nil, err
	}
	read, err := mcpjson.Object(raw)
	if err != nil {
		return nil, err
	}
	return merged, validMedia(mcpjson.OfType(mcpjson.Messages(read)[1]["content"], "tool_result"))
}

// Block returns the tool_result for the tool use with this id.
func (r *Result) Block(id string) map[string]any {
	b := map[string]any{"type": "tool_result", "toolUseId": id, "content": r.Content}
	if r.Content == nil {
		b["content"] = []any{}
	}
	if r.StructuredContent != nil {
		b["structuredContent"] = r.StructuredContent
	}
	if r.IsError != nil {
		b["isError"] = *r.IsError
	}
	if r.Meta != nil {
		b["_meta"] = r.Meta
	}
	return b
}

// history is what the messages so far say about the next one.
type history struct {
	offered []string        // names of tools
	open    map[string]bool // ids of the tool uses in the message before
	seen    map[string]bool // ids of all tool uses
}

// validMessages checks the rules of the messages that a schema cannot express (2025-11-25, client/sampling).
func validMessages(params map[string]any) error {
	messages := mcpjson.Messages(params)
	if len(messages) == 0 || messages[0]["role"] != "user" || messages[len(messages)-1]["role"] != "user" {
		return errors.New("expected the first and the last message to be the user's")
	}
	h := &history{offeredBy(params), nil, map[string]bool{}}
	for i, m := range messages {
		blocks, err := mcpjson.Blocks(m["content"])
		if err != nil || len(blocks) == 0 {
			return fmt.Errorf("[%d].content: expected at least one block", i)
		}
		if err := errors.Join(h.results(m, len(blocks)), h.uses(m), validMedia(blocks)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// results checks that the message has a result for each open tool use, and nothing beside results.
func (h *history) results(m map[string]any, blocks int) error {
	results := mcpjson.OfType(m["content"], "tool_result")
	if len(results) > 0 && len(results) < blocks {
		return errors.New("expected only tool results, found other blocks beside them")
	}
	for _, b := range results {
		id := mcpjson.Text(b, "toolUseId")
		if m["role"] != "user" || !h.open[id] {
			return fmt.Errorf("the tool result %q has no tool use in the message before", id)
		}
		delete(h.open, id)
	}
	if len(h.open) > 0 {
		return errors.New("expected a result for each tool use of the message before")
	}
	return nil
}

// uses checks the tool uses of the message, which are open then.
func (h *history) uses(m map[string]any) error {
	h.open = map[string]bool{}
	for _, b := range mcpjson.OfType(m["content"], "tool_use") {
		id, name := mcpjson.Text(b, "id"), mcpjson.Text(b, "name")
		switch {
		case m["role"] != "assistant":
			return errors.New("a tool use must be the assistant's")
		case id == "" || h.seen[id]:
			return fmt.Errorf("the id of the tool use must be new and not empty, found %q", id)
		case !slices.Contains(h.offered, name):
			return fmt.Errorf("the tool %q is not in tools", name)
		}
		h.seen[id], h.open[id] = true, true
	}
	return nil
}

// mediaType is the type of a block and a media type of the same kind.
var mediaType = regexp.MustCompile(`^(image image|audio audio)/[a-z0-9.+-]{3,}$`)

// validMedia checks that media have content, resources an address, and texts of messages more than blanks: providers
// refuse others.
func validMedia(blocks []map[string]any) error {
	for _, b := range blocks {
		if err := validBlock(b); err != nil {
			return err
		}
	}
	return nil
}

func validBlock(b map[string]any) error {
	switch b["type"] {
	case "image", "audio":
		data, err := base64.StdEncoding.DecodeString(mcpjson.Text(b, "data"))
		if err != nil || len(data) == 0 || !mediaType.MatchString(fmt.Sprint(b["type"], " ", b["mimeType"])) {
			return fmt.Errorf("the %v needs data in base64, and a type such as %[1]v/png", b["type"])
		}
	case "resource", "resource_link":
		resource, ok := b["resource"].(map[string]any)
		if !ok {
			resource = b
		}
		if !strings.Contains(mcpjson.Text(resource, "uri"), ":") {
			return fmt.Errorf("the %v needs a uri", b["type"])
		}
	case "text":
		if blank(mcpjson.Text(b, "text")) {
			return errors.New("the text is blank")
		}
	case "tool_result":
		inner, err := mcpjson.Blocks(b["content"])
		if err != nil {
			return err
		}
		said := func(i map[string]any) bool { return i["type"] == "text" } // A tool may say nothing.
		return validMedia(slices.DeleteFunc(inner, said))
	}
	return nil
}

// offeredBy returns the names of the tools that params offer.
func offeredBy(params map[string]any) []string {
	tools, _ := params["tools"].([]any)
	var names []string
	for _, tool := range tools {
		if o, ok := tool.(map[string]any); ok {
			names = append(names, mcpjson.Text(o, "name"))
		}
	}
	return names
}
