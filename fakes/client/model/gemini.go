package model

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// geminiMemory holds the thought signatures of tool calls by the id of their tool use: MCP does not carry them from one
// request to the next. They are not in _meta, which a server need not send back. A history of another process has none:
// see [noSignature].
type geminiMemory struct {
	mu         sync.Mutex
	signatures map[string]string
	generated  int
}

// noSignature is what the API accepts as the signature of a call that the model did not make
// (ai.google.dev/gemini-api/docs/thought-signatures).
const noSignature = "skip_thought_signature_validator"

// geminiIDPrefix begins the ids that this client generates for calls without one. The model does not get them.
const geminiIDPrefix = "gemini_call_"

// newID generates an id for a call. taken are the ids of the conversation, which another process may have generated.
func (g *geminiMemory) newID(taken map[string]bool) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		g.generated++
		if id := fmt.Sprintf("%s%d", geminiIDPrefix, g.generated); !taken[id] {
			return id
		}
	}
}

func (g *geminiMemory) keep(id, signature string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.signatures == nil {
		g.signatures = map[string]string{}
	}
	if signature != "" {
		g.signatures[id] = signature
	}
}

func (g *geminiMemory) signature(id string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.signatures[id]
}

var geminiGeneration = regexp.MustCompile(`gemini-(\d+)`)

// thirdGeneration reports whether a model wants its signatures back, and takes media inside of a function response.
func thirdGeneration(model string) bool {
	m := geminiGeneration.FindStringSubmatch(model)
	return m != nil && m[1] != "1" && m[1] != "2"
}

func (m *Model) geminiBody(params map[string]any, model string) (map[string]any, error) {
	h := &geminiHistory{memory: &m.gemini, third: thirdGeneration(model)}
	contents, err := convertHistory(params, h.convert)
	if err != nil {
		return nil, err
	}
	config := map[string]any{"maxOutputTokens": params["maxTokens"]}
	copyMembers(config, params, map[string]string{"temperature": "temperature", "stopSequences": "stopSequences"})
	body := map[string]any{"contents": contents, "generationConfig": config}
	if prompt := jsonvalue.TextIn(params, "systemPrompt"); prompt != "" {
		body["systemInstruction"] = map[string]any{"parts": []any{map[string]any{"text": prompt}}}
	}
	if tools := toolsOf(params, "parametersJsonSchema"); tools != nil { // takes schemas as they are
		body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
		if params["toolChoice"] != nil {
			config := map[string]any{"mode": geminiModes[choiceOf(params)]}
			body["toolConfig"] = map[string]any{"functionCallingConfig": config}
		}
	}
	return body, nil
}

var geminiModes = map[string]string{"auto": "AUTO", "required": "ANY", "none": "NONE"}

type geminiHistory struct {
	memory *geminiMemory
	third  bool
	last   map[string]any   // the content before
	uses   []map[string]any // of the model's last turn
}

func (h *geminiHistory) convert(role string, blocks []map[string]any) ([]any, error) {
	if role == "assistant" {
		return h.modelTurn(blocks)
	}
	return h.userTurn(blocks)
}

func (h *geminiHistory) next(role string, parts []any) []any {
	h.last = map[string]any{"role": role, "parts": parts}
	return []any{h.last}
}

// modelTurn writes a turn of the model. It joins the turn of the model before: a call must follow the user's turn.
func (h *geminiHistory) modelTurn(blocks []map[string]any) ([]any, error) {
	var parts []any
	h.uses = nil
	for _, b := range blocks {
		if b["type"] != "tool_use" {
			part, err := geminiPart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		parts = append(parts, h.call(b, len(h.uses) == 0))
		h.uses = append(h.uses, b)
	}
	if h.last["role"] == "model" {
		before, _ := h.last["parts"].([]any)
		h.last["parts"] = append(before, parts...)
		return nil, nil
	}
	return h.next("model", parts), nil
}

// call writes a tool use. The first of a turn has the signature of them all.
func (h *geminiHistory) call(use map[string]any, first bool) map[string]any {
	id := jsonvalue.TextIn(use, "id")
	call := map[string]any{"name": use["name"], "args": use["input"]}
	if isGeminiID(id) {
		call["id"] = id
	}
	part := map[string]any{"functionCall": call}
	signature := h.memory.signature(id)
	if signature == "" && first && h.third {
		signature = noSignature
	}
	if signature != "" {
		part["thoughtSignature"] = signature
	}
	return part
}

func isGeminiID(id string) bool { return id != "" && !strings.HasPrefix(id, geminiIDPrefix) }

func (h *geminiHistory) userTurn(blocks []map[string]any) ([]any, error) {
	var parts, after []any
	for _, b := range inUseOrder(blocks, h.uses) {
		if b["type"] != "tool_result" {
			part, err := geminiPart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		part, media, err := h.response(b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		after = append(after, media...)
	}
	h.uses = nil
	return h.next("user", append(parts, after...)), nil
}

// response writes a tool result, with the name of its tool, which only the tool use has. Media are in it from the third
// generation on, and after it before that.
func (h *geminiHistory) response(b map[string]any) (part map[string]any, after []any, err error) {
	texts, media, err := resultTexts(b)
	if err != nil {
		return nil, nil, err
	}
	if after, err = convertBlocks(media, geminiPart); err != nil {
		return nil, nil, err
	}
	member := "output"
	if b["isError"] == true {
		member = "error"
		if strings.Join(texts, "") == "" { // an empty text would not be an error
			texts = []string{"the tool failed"}
		}
	}
	name := ""
	if i := useOf(b, h.uses); i >= 0 {
		name = jsonvalue.TextIn(h.uses[i], "name")
	}
	response := map[string]any{"name": name, "response": map[string]any{member: strings.Join(texts, "\n")}}
	if id := jsonvalue.TextIn(b, "toolUseId"); isGeminiID(id) {
		response["id"] = id
	}
	if h.third && after != nil {
		response["parts"], after = after, nil
	}
	return map[string]any{"functionResponse": response}, after, nil
}

func geminiPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"text": b["text"]}, nil
	case "image", "audio":
		return map[string]any{"inlineData": map[string]any{"mimeType": b["mimeType"], "data": b["data"]}}, nil
	}
	return nil, notAccepted(b)
}
