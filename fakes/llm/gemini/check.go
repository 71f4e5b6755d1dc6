package gemini

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Check applies the rules that the API is known to enforce: credentials, fields, parameters, tools, contents, history.
// Messages that are known are the API's own, because users search for them; the order is ours.
func (codec) Check(req *dialect.Request) *dialect.Error {
	to := targetOf(req.URL)
	if err := checkCredentials(req, to); err != nil {
		return err
	}
	p, ok := req.Decoded.(parsed)
	if !ok {
		p.request, p.reader = parse(req.Body, to.vertex)
	}
	q, reader := p.request, p.reader
	switch {
	case reader.err != nil:
		return reader.err
	case reader.unknown != nil:
		return unknownNames(reader.unknown)
	}
	err := dialect.First(q, checkConfig, checkTools, checkToolConfig, checkContents, checkHistory)
	if err == nil && generation(req.Model) > 2 {
		err = checkSignatures(q)
	}
	return err
}

func checkCredentials(req *dialect.Request, to target) *dialect.Error {
	token, isBearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	switch {
	case req.Header.Get("X-Goog-Api-Key") != "", isBearer && token != "", req.URL != nil &&
		req.URL.Query().Get("key") != "":
		return nil
	case to.vertex:
		return &dialect.Error{Status: http.StatusUnauthorized, Code: "CREDENTIALS_MISSING",
			Message: "the request has no credentials: want Authorization: Bearer and an access token, or an API key in " +
				"x-goog-api-key"}
	}
	return &dialect.Error{Status: http.StatusForbidden,
		Message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or " +
			"other form of API consumer identity to call this API."}
}

func unknownNames(unknown []unknownName) *dialect.Error {
	var lines []string
	for _, u := range unknown {
		line := fmt.Sprintf(`Unknown name "%s": Cannot find field.`, u.name)
		if u.at != "" {
			line = fmt.Sprintf(`Unknown name "%s" at '%s': Cannot find field.`, u.name, u.at)
		}
		lines = append(lines, line)
	}
	const begin = "Invalid JSON payload received. "
	return invalid(unknown[0].at, "%s", begin+strings.Join(lines, "\n"+begin))
}

func checkConfig(q *node) *dialect.Error {
	config := q.at("generationConfig")
	for _, limit := range []struct {
		name     string
		low, top float64
	}{
		{"maxOutputTokens", 1, 1<<31 - 1}, {"temperature", 0, 2}, {"topP", 0, 1}, {"topK", 1, 1<<31 - 1},
		{"candidateCount", 1, 8},
	} {
		if got := config.number(limit.name); got != nil && (*got < limit.low || *got > limit.top) {
			return invalid("generation_config", "%s is %v: want %v to %v", config.at(limit.name).path, *got,
				limit.low, limit.top)
		}
	}
	if stops := len(config.list("stopSequences")); stops > 5 {
		return invalid("generation_config", "%s has %d sequences: want at most 5", config.at("stopSequences").path, stops)
	}
	return nil
}

func checkContents(q *node) *dialect.Error {
	contents := q.list("contents")
	if len(contents) == 0 {
		return invalid("contents", "* GenerateContentRequest.contents: contents is not specified")
	}
	if err := each(contents, (*node).checkContent); err != nil {
		return err
	}
	return each(q.at("systemInstruction").list("parts"), (*node).checkPart)
}

// each returns the first error of the check on a node.
func each(nodes []*node, check func(*node) *dialect.Error) *dialect.Error {
	return dialect.Each(nodes, func(n **node) *dialect.Error { return check(*n) })
}

// checkContent also accepts the role function, from the API's early days, for function responses.
func (n *node) checkContent() *dialect.Error {
	parts := n.list("parts")
	switch role := n.text("role"); {
	case role != "" && role != "user" && role != "model" &&
		(role != "function" || n.count("functionResponse") < len(parts)):
		return invalid(n.path+".role", "Please use a valid role: user, model.")
	case len(parts) == 0:
		return invalid(n.path+".parts", "%s.parts is empty: want at least one part", n.path)
	}
	return each(parts, (*node).checkPart)
}

func (n *node) count(field string) int {
	count := 0
	for _, p := range n.list("parts") {
		if p.at(field) != nil {
			count++
		}
	}
	return count
}

// data are the fields of which a part has exactly one.
var data = []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
	"codeExecutionResult", "toolCall", "toolResponse"}

func (n *node) checkPart() *dialect.Error {
	var has []string
	for _, name := range data {
		if n.at(name) != nil {
			has = append(has, name)
		}
	}
	switch {
	case len(has) == 0 && n.text("thoughtSignature") != "":
		return nil // the end of a stream of thoughts
	case len(has) == 0:
		return invalid(n.path+".data", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one "+
			"initialized field", n.path)
	case len(has) > 1:
		return invalid(n.path, "%s has %s: want one of them in a part", n.path, strings.Join(has, " and "))
	}
	for _, needed := range []struct{ in, field string }{
		{"inlineData", "mimeType"}, {"inlineData", "data"}, {"fileData", "fileUri"}, {"functionCall", "name"},
		{"functionResponse", "name"},
	} {
		if inner := n.at(needed.in); inner != nil && inner.text(needed.field) == "" {
			return invalid(inner.path+"."+needed.field, "%s has no %s", inner.path, needed.field)
		}
	}
	if result := n.at("functionResponse"); result != nil && result.at("response") == nil {
		return invalid(result.path+".response", "%s has no response: want an object", result.path)
	}
	return nil
}
