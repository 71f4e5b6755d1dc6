package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Case is one thing that the client is asked to do: one tool of the server, one play, and what the model says to it.
type Case struct {
	// ID is scenario and case, such as "parallel/two-cities".
	ID string
	// Play is what happens when the client calls the case's tool.
	Play server.Play
	// Script returns the model's rules for the case's conversations. The mark is the word by which the model knows them. Nil where the
	// model is not to be asked.
	Script func(mark string) []*llm.Rule
	// Declare are the capabilities that the client is asked to declare, as JSON; nil for sampling with tools. Cases that ask for
	// different ones are played in different sessions.
	Declare json.RawMessage
	// Isolated cases get a session of their own, because they may wreck it for others.
	Isolated bool
}

// Tool is the name of the tool that starts the case: its ID in the characters that model providers take.
func (c *Case) Tool() string { return strings.ReplaceAll(c.ID, "/", "-") }

// declared are the capabilities that clients are asked to declare when a case says nothing else.
const declared = `{"sampling":{"tools":{}}}`

func (c *Case) declare() string { return cmp.Or(string(c.Declare), declared) }

// Mark is the word that tells the case's conversations apart on the model's wire. It depends on nothing but the ID, so
// that a recorded conversation can be replayed in any run.
func (c *Case) Mark() string {
	sum := sha256.Sum256([]byte(c.ID))
	return "mk" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}
