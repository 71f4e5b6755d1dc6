package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
	"github.com/mcp-conform/mcp-conform/internal/validity"
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
	params, err := jsonvalue.ReadObject(x.Params)
	if err != nil {
		return fmt.Errorf("%s.params: %w", at, err)
	}
	if faults := slices.Concat(validity.Rules(params), validity.Unusual(params)); len(faults) > 0 {
		return fmt.Errorf("%s.params: %w", at, &faults[0])
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
	raw := jsonvalue.Marshal(whole)
	if err := schema.Validate(revision, schema.CreateMessageRequestParams, raw); err != nil {
		return nil, err
	}
	read, err := jsonvalue.ReadObject(raw)
	if err != nil {
		return nil, err
	}
	if faults := validity.UnusualResults(jsonvalue.Messages(read)[1]["content"], "results"); len(faults) > 0 {
		return nil, &faults[0]
	}
	return merged, nil
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

func offeredBy(params map[string]any) []string {
	tools, _ := params["tools"].([]any)
	var names []string
	for _, tool := range tools {
		if o, ok := tool.(map[string]any); ok {
			names = append(names, jsonvalue.TextIn(o, "name"))
		}
	}
	return names
}
