package gemini

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// checkHistory enforces the API's rules for function calls: a turn of calls follows a user's turn or a turn of
// responses, and the next turn has as many responses as calls. Ids and names do not matter.
func checkHistory(q *node) *dialect.Error {
	contents := q.list("contents")
	pending := 0 // in the previous turn
	for i, c := range contents {
		calls, responses := c.count("functionCall"), c.count("functionResponse")
		isModel := role(c) == dialect.Assistant
		switch {
		case calls > 0 && !isModel:
			return invalid(c.path, "%s has a functionCall and the role %s: want the role model", c.path, c.text("role"))
		case responses > 0 && isModel:
			return invalid(c.path, "%s has a functionResponse and the role model: want the role user", c.path)
		case responses > 0 && pending == 0:
			return invalid(c.path, "%s has a functionResponse: a turn of function responses comes right after a turn of "+
				"function calls", c.path)
		case responses != pending:
			return unequal(c.path, responses, pending)
		case calls > 0 && (i == 0 || role(contents[i-1]) != dialect.User):
			return invalid(c.path, "%s has a functionCall: a turn of function calls comes right after a user's turn or a "+
				"turn of function responses", c.path)
		}
		pending = calls
	}
	if pending > 0 {
		return unequal("contents", 0, pending)
	}
	return nil
}

func unequal(path string, responses, calls int) *dialect.Error {
	return invalid(path, "the number of function response parts, %d, is not that of the function call parts of the "+
		"turn before, %d: want a functionResponse for each functionCall, in the very next content",
		responses, calls)
}

// checkSignatures enforces the rule of generation 3: since the user last spoke, the first call of each model turn has
// its thoughtSignature. Earlier turns need none. The codec cannot verify the signature.
func checkSignatures(q *node) *dialect.Error {
	contents := q.list("contents")
	began := 0 // the current turn
	for i, c := range contents {
		if role(c) == dialect.User && c.count("functionResponse") == 0 {
			began = i
		}
	}
	for _, c := range contents[began:] {
		for _, p := range c.list("parts") {
			if p.at("functionCall") == nil {
				continue
			}
			if p.text("thoughtSignature") == "" {
				return invalid(p.path, "the function call %s at %s has no thought_signature: want the one that came with it",
					p.at("functionCall").text("name"), p.path)
			}
			break
		}
	}
	return nil
}
