// Package conversation describes conversations between a server and a model as data: what the server asks, and what the
// model answers. It generates valid ones from a seed, or from the choices that made one, and reads and writes them as
// files. Playing, judging and shrinking them belongs to conformance.
package conversation

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Conversation is what happens during one call of a tool. It is valid in every revision that has what it uses.
type Conversation struct {
	// Revision is the protocol revision in which it is played.
	Revision string `json:"revision"`
	// Source says where it comes from, such as "seed 7, conversation 31".
	Source string `json:"from,omitempty"`
	// Check is the id of the check that failed, and Message its message.
	Check   string `json:"check,omitempty"`
	Message string `json:"says,omitempty"`
	// Steps follow each other.
	Steps []Step `json:"steps"`
}

// Step is one exchange, or several at once.
type Step []Exchange

// Exchange is a sampling request, the model's answer, and the further rounds of the tool loop.
type Exchange struct {
	// Params are the params of sampling/createMessage. They must be valid and balanced, unless Hostile.
	Params json.RawMessage `json:"params"`
	// Hostile marks params that break the protocol. They are sent byte for byte, with the conversation's mark in place
	// of [MarkPlaceholder].
	Hostile bool `json:"hostile,omitempty"`
	// Answer is the model's; nil for [DefaultText].
	Answer *Answer `json:"answer,omitempty"`
	// Rounds follow an answer with tool uses.
	Rounds []Round `json:"rounds,omitempty"`
}

// Round is a further request of a tool loop: the messages so far, the client's result, and a result for each tool use.
type Round struct {
	// Results belong to the tool uses of the client's result, by index. They are sent in this order.
	Results []Result `json:"results"`
	// Reverse sends the results in reverse order.
	Reverse bool `json:"reverse,omitempty"`
	// Params replace members of the request's params, such as toolChoice.
	Params map[string]json.RawMessage `json:"params,omitempty"`
	Answer *Answer                    `json:"answer,omitempty"`
}

// Result is a tool_result without its type and id.
type Result struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           *bool             `json:"isError,omitempty"`
	Meta              json.RawMessage   `json:"_meta,omitempty"`
}

// Answer is what the model says, or an error of its provider. Without content it is an empty answer.
type Answer struct {
	Content []Block `json:"content,omitempty"`
	// StopReason is endTurn, maxTokens, stopSequence, refusal or contentFilter; "" for toolUse after tool uses, else
	// endTurn.
	StopReason string `json:"stopReason,omitempty"`
	// Status is the HTTP status of a provider's error; 0 for an answer.
	Status int `json:"status,omitempty"`
	// Split cuts the events of a stream into pieces: "bytes" or "random"; "" sends whole events.
	Split string `json:"split,omitempty"`
}

// Block is a text or a tool use of the model.
type Block struct {
	// Type is "text" or "tool_use".
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

// DefaultText is the model's answer if a conversation has none.
const DefaultText = "As you like."

// Uses returns the tool uses of the answer; none of a nil answer.
func (a *Answer) Uses() []Block {
	var uses []Block
	if a != nil {
		for _, b := range a.Content {
			if b.Type == "tool_use" {
				uses = append(uses, b)
			}
		}
	}
	return uses
}

// JSON returns the steps as JSON. It panics if the conversation holds invalid JSON.
func (c *Conversation) JSON() []byte { return jsonvalue.Marshal(c.Steps) }

// ReadSteps replaces the steps with those in JSON. It returns an error if they have unknown members or the wrong form.
func (c *Conversation) ReadSteps(raw []byte) error {
	c.Steps = nil
	return decodeStrict(raw, &c.Steps)
}

// Hostile reports whether a request of the conversation breaks the protocol.
func (c *Conversation) Hostile() bool {
	for _, s := range c.Steps {
		for _, x := range s {
			if x.Hostile {
				return true
			}
		}
	}
	return false
}
