package conversation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// choiceOf returns the mode of the tool choice; auto by default.
func choiceOf(params map[string]any) string {
	choice, _ := params["toolChoice"].(map[string]any)
	if mode := jsonvalue.TextIn(choice, "mode"); mode != "" {
		return mode
	}
	return "auto"
}

// StopReasons are those that an [Answer] may name.
var StopReasons = []string{"", "endTurn", "maxTokens", "stopSequence", "refusal", "contentFilter"}

// validate checks that a provider may answer a request so.
func (a *Answer) validate(params map[string]any) error {
	offered, choice := offeredBy(params), choiceOf(params)
	_, chosen := params["toolChoice"]
	failed := a != nil && a.Status != 0
	switch uses := len(a.Uses()); {
	case chosen && len(offered) == 0:
		return errors.New("toolChoice needs tools")
	case choice == "required" && uses == 0 && !failed:
		return errors.New("toolChoice requires a tool use")
	case a == nil:
		return nil
	case failed:
		return a.validError()
	case uses > 0 && choice == "none":
		return errors.New("toolChoice allows no tool use")
	case !slices.Contains([]string{"", "bytes", "random"}, a.Split):
		return fmt.Errorf(`split: expected "bytes" or "random", found %q`, a.Split)
	}
	for i := range a.Content {
		if err := a.Content[i].validate(offered); err != nil {
			return fmt.Errorf("content[%d]%w", i, err)
		}
	}
	return a.validStop(params)
}

func (a *Answer) validStop(params map[string]any) error {
	switch {
	case len(a.Uses()) > 0 && a.StopReason != "":
		return errors.New("stopReason: omit it beside tool uses")
	case !slices.Contains(StopReasons, a.StopReason):
		return fmt.Errorf("stopReason: expected one of %q, found %q", StopReasons[1:], a.StopReason)
	case a.StopReason == "stopSequence" && params["stopSequences"] == nil:
		return errors.New("stopReason: the request has no stopSequences")
	}
	return nil
}

func (a *Answer) validError() error {
	if a.Status < 400 || a.Status > 599 || len(a.Content) > 0 || a.StopReason != "" || a.Split != "" {
		return errors.New("status: expected 400 to 599, and nothing beside it")
	}
	return nil
}

// validate returns an error that follows the path of the block.
func (b *Block) validate(offered []string) error {
	switch {
	case b.Type == "text" && b.Text != "" && b.Name == "" && b.Input == nil:
		return nil
	case b.Type != "tool_use" || b.Text != "":
		return errors.New(": expected a text that is not empty, or a tool use")
	case !slices.Contains(offered, b.Name):
		return fmt.Errorf(": the tool %q is not in tools", b.Name)
	}
	if _, err := jsonvalue.ReadObject(b.Input); err != nil {
		return fmt.Errorf(".input: %w", err)
	}
	return nil
}
