package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

// Agent plays the model of a host that has a conversation of its own and answers marked conversations, too. In the
// host's turns it calls the tools one after the other, then ends with a text. A turn without these tools, such as one
// for a title, gets a text.
//
// A request belongs to the marked conversation, or to the host, that spoke last in it: the host by its mark or by a
// result of one of the tools. A request without any of these is the host's own if it offers the tools.
type Agent struct {
	// Mark is a word in the host's prompt, of the form that [Server.Script] needs.
	Mark string
	// Tools are the tools to call, in order, by the names and descriptions of their MCP server. The host may offer them
	// under longer names, such as mcp__server__name or server/name.
	Tools []Tool
	// Called reports whether a tool was called. Nil: the history of each request tells.
	Called func(tool string) bool
	// Turns are what the model says once the first tool was called, one after the other, before it calls the next tool:
	// its mistakes. A use of one of the Tools or Others has the name under which the host offers the tool. A turn with
	// invalid JSON arguments is left out where the provider does not send them as text. Nil for none.
	Turns [][]Block
	// Others are tools that only Turns use.
	Others []Tool
	// Done is called before the model's last answer to the host, which says that every tool was called; nil if unused.
	Done func()
}

// mostRequests is how often a tool is requested that is neither called nor in the history.
const mostRequests = 3

// agent is the Agent of a server.
type agent struct {
	Agent
	known  []Tool // Tools and Others
	serial atomic.Int64

	mu        sync.Mutex
	requested map[string]int // by tool
	turn      int            // how many Turns are over
}

func newAgent(a *Agent) *agent {
	if a == nil {
		return nil
	}
	own := &agent{Agent: *a, known: slices.Concat(a.Tools, a.Others), requested: map[string]int{}}
	own.serial.Store(firstSerial(a.Mark))
	return own
}

// host reports whether a request is the host's own.
func (a *agent) host(req *Request, marks []string) bool {
	uses := map[string]string{}
	for _, use := range dialect.Blocks(req.Messages, dialect.ToolUse) {
		uses[use.ID] = use.Name
	}
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == dialect.Assistant {
			continue
		}
		for _, b := range slices.Backward(m.Content) {
			if b.Type == dialect.ToolResult {
				if a.serves(b.Name) || a.serves(uses[b.ID]) {
					return true
				}
				continue // the question before it decides
			}
			if host, known := a.speaks(markText([]Message{{Content: []Block{b}}}), marks); known {
				return host
			}
		}
	}
	if _, all := owner(req, marks); len(all) > 0 {
		return false
	}
	return len(a.offered(req.Tools)) > 0 || strings.Contains(req.System, a.Mark)
}

// speaks reports whether the host's mark is the last one in a text. A text without marks is not known.
func (a *agent) speaks(text string, marks []string) (host, known bool) {
	last := strings.LastIndex(text, a.Mark)
	host, known = last >= 0, last >= 0
	for _, m := range marks {
		if at := strings.LastIndex(text, m); at > last {
			last, host, known = at, false, true
		}
	}
	return host, known
}

// serves reports whether a name is that of one of the tools, or of one with a prefix.
func (a *agent) serves(name string) bool { return name != "" && a.tool(&Tool{Name: name}) != "" }

// tool returns the name of the tool that a host offers; "" for another tool.
func (a *agent) tool(t *Tool) string { return offered.Match(t, a.known) }

// offered returns the tools that a request offers, by their names on the MCP server.
func (a *agent) offered(tools []Tool) map[string]*Tool {
	byName := map[string]*Tool{}
	for i := range tools {
		if name := a.tool(&tools[i]); name != "" && byName[name] == nil {
			byName[name] = &tools[i]
		}
	}
	return byName
}

// reply is the model's answer to a turn of the host.
func (a *agent) reply(req *Request) *dialect.Reply {
	reply := &dialect.Reply{Serial: a.serial.Add(1)}
	tools := a.offered(req.Tools)
	if turn := a.mistake(req, tools); turn != nil {
		reply.Content = *turn
		return reply
	}
	switch next := a.next(req, tools); {
	case next != nil:
		reply.Content = []Block{Call(next.Name, string(example(next.InputSchema, 0)))}
	case len(tools) > 0:
		if a.Done != nil {
			a.Done()
		}
		reply.Content = []Block{Text("Every tool was called. The task is done.")}
	default:
		reply.Content = []Block{Text(sideText(req))}
	}
	return reply
}

// mistake returns the next of Turns, if it is due; else nil.
func (a *agent) mistake(req *Request, tools map[string]*Tool) *[]Block {
	if len(a.Turns) == 0 || len(tools) == 0 || !a.done(req)(a.Tools[0].Name) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	facts := dialects.FactsOf(req.Dialect)
	for a.turn < len(a.Turns) && !facts.TextArguments(req.Stream) && slices.ContainsFunc(a.Turns[a.turn], invalidJSON) {
		a.turn++
	}
	if a.turn == len(a.Turns) {
		return nil
	}
	a.turn++
	blocks := offered.Rename(a.Turns[a.turn-1], a.known, req)
	return &blocks
}

func invalidJSON(b Block) bool { return b.Type == dialect.ToolUse && !json.Valid(b.Input) }

// done returns a function that reports whether a tool was called.
func (a *agent) done(req *Request) func(tool string) bool {
	used := map[string]bool{}
	for _, use := range dialect.Blocks(req.Messages, dialect.ToolUse) {
		used[a.tool(&Tool{Name: use.Name})] = true
	}
	return func(tool string) bool { return used[tool] || a.Called != nil && a.Called(tool) }
}

// next returns the tool to call in a turn; nil for none.
func (a *agent) next(req *Request, tools map[string]*Tool) *Tool {
	if req.ToolChoice == dialect.ChoiceNone {
		return nil
	}
	done := a.done(req)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.Tools {
		name := a.Tools[i].Name
		if tools[name] == nil || done(name) || a.requested[name] == mostRequests {
			continue
		}
		a.requested[name]++
		return tools[name]
	}
	return nil
}

// sideText answers a request without tools: a title, or JSON if the request wants that.
func sideText(req *Request) string {
	var wanted struct {
		Format json.RawMessage `json:"response_format"` // chat completions
		Text   struct {
			Format json.RawMessage `json:"format"` // responses
		} `json:"text"`
		Ollama json.RawMessage `json:"format"`
		Gemini struct {
			Type   string          `json:"responseMimeType"`
			Schema json.RawMessage `json:"responseSchema"`
			JSON   json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	_ = json.Unmarshal(req.Body, &wanted) // another form wants a text
	for _, raw := range []json.RawMessage{wanted.Format, wanted.Text.Format, wanted.Ollama} {
		var format struct {
			Type   any
			Schema json.RawMessage `json:"schema"`
			Named  struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		}
		_ = json.Unmarshal(raw, &format)
		switch {
		case len(format.Named.Schema) > 0:
			return string(example(format.Named.Schema, 0))
		case len(format.Schema) > 0:
			return string(example(format.Schema, 0))
		case format.Type == "object": // Ollama's format is the schema
			return string(example(raw, 0))
		case format.Type == "json_object", string(raw) == `"json"`:
			return "{}"
		}
	}
	for _, schema := range []json.RawMessage{wanted.Gemini.JSON, wanted.Gemini.Schema} {
		if len(schema) > 0 {
			return string(example(schema, 0))
		}
	}
	if wanted.Gemini.Type == "application/json" {
		return "{}"
	}
	return "Calling the tools"
}

// deepest bounds the depth of an example.
const deepest = 8

// example returns a small value for a JSON schema: the required members of an object, the first of an enumeration.
func example(schema json.RawMessage, depth int) json.RawMessage {
	var s struct {
		Type       any                        `json:"type"`
		Enum       []json.RawMessage          `json:"enum"`
		Const      json.RawMessage            `json:"const"`
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // an invalid schema allows everything
	if types, ok := s.Type.([]any); ok && len(types) > 0 {
		s.Type = types[0]
	}
	switch kind := strings.ToLower(fmt.Sprint(s.Type)); {
	case len(s.Const) > 0:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case kind == "string":
		return json.RawMessage(`"none"`)
	case kind == "integer", kind == "number":
		return json.RawMessage("1")
	case kind == "boolean":
		return json.RawMessage("false")
	case kind == "array":
		return json.RawMessage("[]")
	case kind == "null":
		return json.RawMessage("null")
	}
	members := []any{}
	for _, name := range s.Required {
		if depth < deepest {
			members = append(members, name, example(s.Properties[name], depth+1))
		}
	}
	return jsonvalue.Ordered(members...)
}
