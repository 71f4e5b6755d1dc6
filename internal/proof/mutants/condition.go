package mutants

import (
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Condition limits an edit to some of the messages that it would touch. The zero value limits nothing.
type Condition struct {
	// Name is unique and stable; "" for the condition that always holds.
	Name string
	// Holds reports whether the edit is made, from what is known of the sample that a message belongs to. Nil for always.
	Holds func(f Facts) bool
}

// Facts are what a [Condition] can depend on. They are known of a sampling request and the response to it, of a request
// to the model and its reply, and of a message that carries several of them: then of each.
type Facts struct {
	// Sample is false for a retry whose input requests ask for no sample.
	Sample bool
	// Tools is true if the request has tools.
	Tools bool
	// History is true if the model has spoken before, and Later if a message holds a tool result: the loop is in its
	// second round, or a later one.
	History, Later bool
	// Parallel is true if several samples are asked for at once, or a turn holds several tool uses or results.
	Parallel bool
	// Media is true if a message holds an image or audio, also in a tool result.
	Media bool
	// Streamed is true if the client asks its model for streams.
	Streamed bool
	// Errors is true for a request with a tool result that is an error, and for an error that is the answer.
	Errors bool
	// Retry is true for a repeated call of the modern era and what answers it, and for a request after the model failed
	// in the same call.
	Retry bool
}

// Conditions returns all conditions under which the self-test plays mutants and variations.
func Conditions() []Condition {
	return []Condition{
		{"with-tools", func(f Facts) bool { return f.Tools }},
		{"without-tools", func(f Facts) bool { return f.Sample && !f.Tools }},
		{"later-rounds", func(f Facts) bool { return f.Later }},
		{"with-history", func(f Facts) bool { return f.History && !f.Later }},
		{"parallel", func(f Facts) bool { return f.Parallel }},
		{"media", func(f Facts) bool { return f.Media }},
		{"streamed", func(f Facts) bool { return f.Streamed }},
		{"errors", func(f Facts) bool { return f.Errors }},
		{"retries", func(f Facts) bool { return f.Retry }},
	}
}

// FindCondition returns the condition with that name; false if it is unknown.
func FindCondition(name string) (Condition, bool) {
	for _, c := range Conditions() {
		if c.Name == name {
			return c, true
		}
	}
	return Condition{}, false
}

// Everything is an edit of every message that changes none. It has all the hooks that a condition can limit. The
// members have no names, so that a new member of [Edit] does not compile before somebody decides whether it is one.
func Everything(*Wire) Edit {
	sees, sample, message := func(object) {}, func(*Sample) {}, func(*Message) {}
	same := func(_ *Wire, next http.RoundTripper) http.RoundTripper { return next }
	return Edit{
		nil, nil, func(*Wire, *client.Options, *model.Options) {}, // Run, Env, Options
		nil,                              // Host
		sample, sees, sees, sample, sees, // Asked, Params, Result, Answered, Response
		message, message, message, sees, func(*Call, object) {}, // In, Out, Sent, Declared, Retry
		func(*harness.Outcome) {}, func(raw []byte) []byte { return raw }, // Ended, Payload
		nil, false, // Line, OnlyLF
		func(err error) (object, error) { return nil, err }, nil, // Failed, Noted
		same, same, nil, nil, // Server, Model, Pipe, Stderr
		sees, func(chunks []object) []object { return chunks }, // ModelRequest, ModelReply
	}
}

// SampleFacts returns what the params of a sampling request tell.
func SampleFacts(params map[string]any) Facts {
	tools, _ := params["tools"].([]any)
	f := Facts{Sample: true, Tools: len(tools) > 0}
	for _, m := range jsonvalue.Messages(params) {
		f.History = f.History || m["role"] == "assistant"
		uses, results := ofType(m["content"], "tool_use"), ofType(m["content"], "tool_result")
		f.Later = f.Later || len(results) > 0
		f.Parallel = f.Parallel || len(uses) > 1 || len(results) > 1
		f.Media = f.Media || holdsMedia(m)
		for _, r := range results {
			f.Errors = f.Errors || r["isError"] == true
			f.Media = f.Media || holdsMedia(r)
		}
	}
	return f
}

func holdsMedia(holder object) bool {
	return len(ofType(holder["content"], "image"))+len(ofType(holder["content"], "audio")) > 0
}

// ModelFacts returns what a request to the model tells.
func ModelFacts(r *dialect.Request) Facts {
	f := Facts{Sample: true, Tools: len(r.Tools) > 0, Streamed: r.Stream,
		Media: len(dialect.Blocks(r.Messages, dialect.Image))+len(dialect.Blocks(r.Messages, dialect.Audio)) > 0}
	results := dialect.Blocks(r.Messages, dialect.ToolResult)
	f.Later = len(results) > 0
	f.Errors = slices.ContainsFunc(results, func(b dialect.Block) bool { return b.IsError })
	inTurn := 0 // tool uses or results, over the neighbours of one role
	for i, m := range r.Messages {
		if i == 0 || r.Messages[i-1].Role != m.Role {
			inTurn = 0
		}
		inTurn += len(dialect.Blocks([]dialect.Message{m}, dialect.ToolUse))
		inTurn += len(dialect.Blocks([]dialect.Message{m}, dialect.ToolResult))
		f.Parallel = f.Parallel || inTurn > 1
		f.History = f.History || m.Role == dialect.Assistant
	}
	return f
}

// usesIn counts the tool uses in the JSON of a reply, whatever its dialect. Fragments of one use count as one.
func usesIn(chunks []object) int {
	found := map[string]bool{}
	unnamed := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case object:
			switch {
			case v["type"] == "tool_use", v["type"] == "function_call":
				found[text(v, "id")] = true
			case v["functionCall"] != nil, v["function"] != nil && v["index"] == nil:
				unnamed++
			case v["function"] != nil:
				found[Key(v["index"])] = true
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	for _, chunk := range chunks {
		walk(chunk)
	}
	return len(found) + unnamed
}
