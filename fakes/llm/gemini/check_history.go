package gemini

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// checkHistory enforces the API's rules for function calls: a turn of calls follows a user's turn or a turn of
// responses, and the next turn has as many responses as calls. Consecutive contents of the model are one turn.
// Ids and names do not matter.
func checkHistory(q *node) *dialect.Error {
	pending := 0 // calls in the previous turn
	for i, t := range turnsOf(q) {
		switch isModel := t.role == dialect.Assistant; {
		case t.calls > 0 && !isModel:
			return ours("%s has a functionCall and the role %s: expected the role model", t.calling.path, t.calling.text("role"))
		case t.responses > 0 && isModel:
			return ours("%s has a functionResponse and the role model: expected the role user", t.responding.path)
		case t.responses > 0 && pending == 0:
			return invalid("", "Please ensure that function response turn comes immediately after a function call turn.")
		case t.responses != pending:
			return unequal
		case t.calls > 0 && i == 0:
			return invalid("",
				"Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		pending = t.calls
	}
	if pending > 0 {
		return unequal
	}
	return nil
}

// turn counts the function calls and responses of a content of the user, or of consecutive ones of the model.
type turn struct {
	role                dialect.Role
	calls, responses    int
	calling, responding *node // the last content with one
}

func turnsOf(q *node) (all []turn) {
	for _, c := range q.list("contents") {
		if r := role(c); len(all) == 0 || all[len(all)-1].role != r || r != dialect.Assistant {
			all = append(all, turn{role: r})
		}
		t := &all[len(all)-1]
		if n := c.count("functionCall"); n > 0 {
			t.calls, t.calling = t.calls+n, c
		}
		if n := c.count("functionResponse"); n > 0 {
			t.responses, t.responding = t.responses+n, c
		}
	}
	return all
}

var unequal = invalid("", "Please ensure that the number of function response parts is equal to the number of "+
	"function call parts of the function call turn.")

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
	for i, c := range contents[began:] {
		for _, p := range c.list("parts") {
			if p.at("functionCall") == nil {
				continue
			}
			if p.text("thoughtSignature") == "" {
				return invalid("", "Function call is missing a thought_signature in functionCall parts. This is required for "+
					"tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional "+
					"data, function call `default_api:%s` , position %d. Please refer to "+
					"https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
					p.at("functionCall").text("name"), began+i+1)
			}
			break
		}
	}
	return nil
}
