package reference

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// geminiMemory is what the client has to remember of the model's turns, since MCP does not carry it from one request to the next: the
// thoughtSignatures of tool calls, by the id of the tool use. A server need not give back the _meta of a tool use, so nothing is put there.
// What the client has not seen, as in a history of another process, it cannot know: then it sends [noSignature].
type geminiMemory struct {
	mu         sync.Mutex
	signatures map[string]string
	minted     int // ids of responses that had none
}

// noSignature is what the API takes for the signature of a call that was not its own
// (ai.google.dev/gemini-api/docs/thought-signatures).
const noSignature = "skip_thought_signature_validator"

// mintedPrefix begins the ids that this client makes where the model has none. They are for the server, and not sent to the model.
const mintedPrefix = "gemini_call_"

// mint makes an id for the n-th call of a response, of the response's own id, which no other has. taken are ids that the conversation has.
func (g *geminiMemory) mint(response string, n int, taken map[string]bool) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := fmt.Sprintf("%s%s_%d", mintedPrefix, response, n)
	for response == "" || taken[id] { // a response without an id, or one that was recorded and came before
		g.minted++
		response, id = "again", fmt.Sprintf("%sagain_%d", mintedPrefix, g.minted)
	}
	return id
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

// thirdGeneration reports whether a model wants its signatures back, and takes media inside of a function's response.
func thirdGeneration(model string) bool {
	m := geminiGeneration.FindStringSubmatch(model)
	return m != nil && m[1] != "1" && m[1] != "2"
}

// geminiHistory turns messages into contents.
type geminiHistory struct {
	model *model
	third bool
	last  map[string]any   // the content before
	asked []map[string]any // the tool uses of the model's last turn
}

// geminiBody writes a sampling request as one of generateContent.
func (m *model) geminiBody(params map[string]any, model string) (map[string]any, error) {
	h := &geminiHistory{model: m, third: thirdGeneration(model)}
	contents, err := convertHistory(params, h.convert)
	if err != nil {
		return nil, err
	}
	config := map[string]any{"maxOutputTokens": params["maxTokens"]}
	for _, name := range []string{"temperature", "stopSequences"} {
		if v, ok := params[name]; ok {
			config[name] = v
		}
	}
	body := map[string]any{"contents": contents, "generationConfig": config}
	if prompt := text(params, "systemPrompt"); prompt != "" {
		body["systemInstruction"] = map[string]any{"parts": []any{map[string]any{"text": prompt}}}
	}
	m.addGeminiTools(body, params)
	return body, nil
}

// geminiModes are the modes of a tool choice in the API's words.
var geminiModes = map[string]string{"": "AUTO", "auto": "AUTO", "required": "ANY", "none": "NONE"}

// addGeminiTools offers the tools of the request, and these only, with their schemas as they came.
func (m *model) addGeminiTools(body, params map[string]any) {
	tools, _ := params["tools"].([]any)
	var offered []any
	for _, item := range tools {
		tool, _ := item.(map[string]any)
		function := map[string]any{"name": tool["name"], "parametersJsonSchema": tool["inputSchema"]}
		if m.config.broken.ownSchemas {
			delete(function, "parametersJsonSchema")
			function["parameters"] = ownSchema(tool["inputSchema"])
		}
		if description, ok := tool["description"]; ok {
			function["description"] = description
		}
		offered = append(offered, function)
	}
	if offered == nil {
		return
	}
	body["tools"] = []any{map[string]any{"functionDeclarations": offered}}
	if choice, ok := params["toolChoice"].(map[string]any); ok {
		body["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": geminiModes[text(choice, "mode")]}}
	}
}

// convert writes one message as a content, or none where it goes on with the one before.
func (h *geminiHistory) convert(role string, blocks []map[string]any) ([]any, error) {
	if role == "assistant" {
		return h.modelTurn(blocks)
	}
	return h.userTurn(blocks)
}

// next is a content that follows the last one.
func (h *geminiHistory) next(role string, parts []any) []any {
	h.last = map[string]any{"role": role, "parts": parts}
	return []any{h.last}
}

// modelTurn writes a turn of the model. Turns that follow each other are one: a call has to come right after the user's.
func (h *geminiHistory) modelTurn(blocks []map[string]any) ([]any, error) {
	var parts []any
	h.asked = nil
	for _, b := range blocks {
		if b["type"] != "tool_use" {
			part, err := geminiPart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		parts = append(parts, h.call(b, len(h.asked) == 0))
		h.asked = append(h.asked, b)
	}
	if h.last["role"] == "model" {
		before, _ := h.last["parts"].([]any)
		h.last["parts"] = append(before, parts...)
		return nil, nil
	}
	return h.next("model", parts), nil
}

// call restates a tool use. first is true for the first of its turn, which has the signature of them all.
func (h *geminiHistory) call(use map[string]any, first bool) map[string]any {
	broken := &h.model.config.broken
	id := text(use, "id")
	call := map[string]any{"name": use["name"], "args": use["input"]}
	if broken.argsAsText {
		call["args"] = string(marshal(use["input"]))
	}
	if h.sendsID(id) {
		call["id"] = id
	}
	part := map[string]any{"functionCall": call}
	signature := h.model.gemini.signature(id)
	if signature == "" && first && h.third {
		signature = noSignature
	}
	if signature != "" && !broken.forgetsSignatures {
		part["thoughtSignature"] = signature
	}
	return part
}

// sendsID reports whether an id is one of the model's own.
func (h *geminiHistory) sendsID(id string) bool {
	broken := &h.model.config.broken
	return id != "" && !strings.HasPrefix(id, mintedPrefix) && !broken.resultsAsTheyCame && !broken.idsFromNames
}

// userTurn writes what the user said, or what tools returned.
func (h *geminiHistory) userTurn(blocks []map[string]any) ([]any, error) {
	var parts, after []any
	for _, b := range h.inOrder(blocks) {
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
	h.asked = nil
	return h.next("user", append(parts, after...)), nil
}

// inOrder puts tool results into the order of their uses: without ids the API knows them by name and order only.
func (h *geminiHistory) inOrder(blocks []map[string]any) []map[string]any {
	if h.model.config.broken.resultsAsTheyCame {
		return blocks
	}
	place := func(b map[string]any) int {
		return slices.IndexFunc(h.asked, func(use map[string]any) bool { return use["id"] == b["toolUseId"] })
	}
	ordered := slices.Clone(blocks)
	slices.SortStableFunc(ordered, func(a, b map[string]any) int { return place(a) - place(b) })
	if h.model.config.broken.resultsByName {
		byName := map[string]bool{}
		ordered = slices.DeleteFunc(ordered, func(b map[string]any) bool {
			name := h.nameOf(b)
			again := b["type"] == "tool_result" && byName[name]
			byName[name] = true
			return again
		})
	}
	return ordered
}

// nameOf is the name of the tool that a result is of, which MCP does not repeat and the API wants.
func (h *geminiHistory) nameOf(result map[string]any) string {
	for _, use := range h.asked {
		if use["id"] == result["toolUseId"] {
			return text(use, "name")
		}
	}
	return ""
}

// response writes a tool result. Media stand in it from the third generation on, and before that beside it.
func (h *geminiHistory) response(b map[string]any) (part map[string]any, beside []any, err error) {
	texts, media, err := resultTexts(b)
	if err != nil {
		return nil, nil, err
	}
	for _, shown := range media {
		part, err := geminiPart(shown)
		if err != nil {
			return nil, nil, err
		}
		beside = append(beside, part)
	}
	member := "output"
	if b["isError"] == true {
		member = "error"
		if len(texts) == 0 { // an empty text would be no error
			texts = []string{"the tool failed"}
		}
	}
	response := map[string]any{"name": h.nameOf(b), "response": map[string]any{member: strings.Join(texts, "\n")}}
	if id := text(b, "toolUseId"); h.sendsID(id) {
		response["id"] = id
	}
	if h.third && beside != nil {
		response["parts"], beside = beside, nil
	}
	return map[string]any{"functionResponse": response}, beside, nil
}

// geminiPart writes a block that is neither tool use nor result.
func geminiPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"text": b["text"]}, nil
	case "image", "audio":
		return map[string]any{"inlineData": map[string]any{"mimeType": b["mimeType"], "data": b["data"]}}, nil
	}
	return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v", b["type"])}
}
