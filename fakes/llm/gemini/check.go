package gemini

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
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
		return reader.unknownNames()
	}
	err := codecs.First(q, checkConfig, checkTools, checkToolConfig, checkContents, checkHistory)
	switch {
	case err != nil:
		return err
	case generation(req.Model) > 2:
		return checkSignatures(q)
	case generationOf.MatchString(req.Model):
		return checkCombination(q)
	}
	return nil
}

func checkCredentials(req *dialect.Request, to target) *dialect.Error {
	token, isBearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	switch {
	case req.Header.Get("X-Goog-Api-Key") != "", isBearer && token != "", req.URL != nil &&
		req.URL.Query().Get("key") != "":
		return nil
	case to.vertex:
		return &dialect.Error{Status: http.StatusUnauthorized, Code: "CREDENTIALS_MISSING",
			Message: "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or " +
				"other valid authentication credential. See https://developers.google.com/identity/sign-in/web/" +
				"devconsole-project."}
	}
	return &dialect.Error{Status: http.StatusForbidden,
		Message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or " +
			"other form of API consumer identity to call this API."}
}

func (r *reader) unknownNames() *dialect.Error {
	var lines []string
	for _, u := range r.unknown {
		lines = append(lines, notField(u.name, u.at.inJSON(), "Cannot find field."))
	}
	return invalid(r.unknown[0].at.inJSON(), "%s", strings.Join(lines, "\n"))
}

// notField describes a name that the JSON reader of the API cannot place.
func notField(name, at, why string) string {
	if at != "" {
		at = fmt.Sprintf(" at '%s'", at)
	}
	return fmt.Sprintf(`Invalid JSON payload received. Unknown name "%s"%s: %s`, name, at, why)
}

func checkConfig(q *node) *dialect.Error {
	config := q.at("generationConfig")
	for _, limit := range []struct {
		name     string
		low, top float64
	}{
		{"maxOutputTokens", 1, 1<<31 - 1}, {"temperature", 0, 2}, {"topP", 0, 1}, {"topK", 0, 1<<31 - 1},
		{"candidateCount", 1, 8},
	} {
		got := config.number(limit.name)
		if got == nil || *got >= limit.low && *got <= limit.top {
			continue
		}
		at := config.at(limit.name)
		if limit.name == "temperature" { // the words are known for it only
			return violation(at, "temperature must be in the range [0.0, 2.0].")
		}
		return ours("%s is %v: expected %v to %v", at.path, *got, limit.low, limit.top)
	}
	if stops := len(config.list("stopSequences")); stops > 5 {
		return ours("%s has %d sequences: expected at most 5", config.at("stopSequences").path, stops)
	}
	return nil
}

func checkContents(q *node) *dialect.Error {
	contents := q.list("contents")
	if len(contents) == 0 {
		return violation(q.below("contents"), "contents is not specified")
	}
	if err := each(contents, (*node).checkContent); err != nil {
		return err
	}
	return each(q.at("systemInstruction").list("parts"), (*node).checkPart)
}

func each(nodes []*node, check func(*node) *dialect.Error) *dialect.Error {
	return codecs.Each(nodes, func(n **node) *dialect.Error { return check(*n) })
}

// checkContent also accepts the role function, from the API's early days, for function responses.
func (n *node) checkContent() *dialect.Error {
	parts := n.list("parts")
	switch role := n.text("role"); {
	case role != "" && role != "user" && role != "model" &&
		(role != "function" || n.count("functionResponse") < len(parts)):
		return invalid("", "Please use a valid role: user, model.")
	case len(parts) == 0: // egoist/chatwise-releases#250
		return violation(n.below("parts"), "contents.parts must not be empty.")
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

func isData(name string) bool { return slices.Contains(data, name) }

func (n *node) hasData() bool {
	return slices.ContainsFunc(data, func(name string) bool { return n.at(name) != nil })
}

func (n *node) checkPart() *dialect.Error {
	switch {
	case !n.hasData() && (n.text("thoughtSignature") != "" || n.at("videoMetadata") != nil):
		return nil // the end of a stream of thoughts; Google accepts the other
	case !n.hasData():
		return violation(n.below("data"), "required oneof field 'data' must have one initialized field")
	}
	for _, needed := range []struct{ in, field string }{
		{"inlineData", "mimeType"}, {"inlineData", "data"}, {"fileData", "fileUri"}, {"functionCall", "name"},
		{"functionResponse", "name"},
	} {
		if inner := n.at(needed.in); inner != nil && inner.text(needed.field) == "" {
			if needed.field == "name" { // router-for-me/CLIProxyAPI#2104
				return violation(inner.below("name"), "Name cannot be empty.")
			}
			return ours("%s has no %s", inner.path, needed.field)
		}
	}
	if result := n.at("functionResponse"); result != nil && result.at("response") == nil {
		return ours("%s has no response: expected an object", result.path)
	}
	return nil
}
