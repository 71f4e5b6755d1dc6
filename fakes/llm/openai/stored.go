package openai

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Complete puts the stored conversation of previous_response_id before the input, and stored items in place of
// references to them.
func (o responses) Complete(body []byte, kept func(id string) json.RawMessage) ([]byte, *dialect.Error) {
	q, refused := responsesAPI.Read(body)
	if refused != nil || !refers(q) {
		return body, nil
	}
	var items []json.RawMessage
	add := func(id string) bool {
		var stored []json.RawMessage
		err := json.Unmarshal(kept(id), &stored) // nil, for an unknown id, is invalid JSON
		items = append(items, stored...)
		return err == nil
	}
	if id := q.Text("previous_response_id"); id != "" && !add(id) {
		return nil, invalid("previous_response_id", "previous_response_not_found",
			"Previous response with id '%s' not found.", id)
	}
	if q.IsText("input") {
		items = append(items, jsonvalue.Ordered("role", "user", "content", q.Text("input")))
	}
	for _, it := range q.List("input") {
		if it.Kind != "item_reference" {
			items = append(items, it.JSON)
		} else if !add(it.Text("id")) {
			return nil, notStored("input", "Item with id '%s' not found.", it.Text("id"))
		}
	}
	var pairs []any
	for _, m := range q.Members {
		if string(m.Name) != "input" {
			pairs = append(pairs, string(m.Name), m.Value)
		}
	}
	completed := jsonvalue.Ordered(append(pairs, "input", items)...)
	if q, refused = responsesAPI.Read(completed); refused == nil {
		refused = checkOutputs(q)
	}
	return completed, refused
}

func refers(q *node) bool {
	return q.Has("previous_response_id") ||
		slices.ContainsFunc(q.List("input"), func(it node) bool { return it.Kind == "item_reference" })
}

// Keep returns the conversation up to the answer by the id of the response, and each item of the output by its own id.
func (o responses) Keep(req *dialect.Request, a dialect.Answer) map[string]json.RawMessage {
	q, refused := dialect.Parsed(req, parseResponses)
	if refused != nil || string(q.Raw("store")) == "false" {
		return nil
	}
	var answer struct {
		ID       string
		Output   []json.RawMessage
		Response struct {
			ID     string
			Output []json.RawMessage
		}
	}
	documents, _, err := dialect.Documents(slices.Concat(a.Chunks...))
	if err != nil || len(documents) == 0 || json.Unmarshal(documents[len(documents)-1], &answer) != nil {
		return nil
	}
	if answer.ID == "" { // the last event of a stream
		answer.ID, answer.Output = answer.Response.ID, answer.Response.Output
	}
	var conversation []json.RawMessage
	if q.IsText("input") {
		conversation = append(conversation, jsonvalue.Ordered("role", "user", "content", q.Text("input")))
	}
	for _, it := range q.List("input") {
		conversation = append(conversation, it.JSON)
	}
	kept := map[string]json.RawMessage{}
	for _, raw := range answer.Output {
		var it struct{ ID string }
		_ = json.Unmarshal(raw, &it) // our own
		kept[it.ID] = jsonvalue.Marshal([]json.RawMessage{raw})
	}
	kept[answer.ID] = jsonvalue.Marshal(append(conversation, answer.Output...))
	return kept
}
