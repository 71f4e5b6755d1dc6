package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ReadObject reads a JSON object as a map. Its numbers are [json.Number]. Anything else, also null, is an error.
func ReadObject(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var o map[string]any
	if err := dec.Decode(&o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("expected an object, found null")
	}
	return o, nil
}

// TextIn returns a string member, or "" if it is missing or not a string.
func TextIn(o map[string]any, name string) string {
	s, _ := o[name].(string)
	return s
}

// Blocks returns the content of a message as blocks: an array, or one block that stands alone.
func Blocks(content any) ([]map[string]any, error) {
	list, ok := content.([]any)
	if !ok {
		list = []any{content}
	}
	blocks := make([]map[string]any, len(list))
	for i, item := range list {
		if blocks[i], ok = item.(map[string]any); !ok {
			return nil, fmt.Errorf("content block %d is not an object", i)
		}
	}
	return blocks, nil
}

// OfType returns the blocks of one type. Invalid content has none.
func OfType(content any, kind string) []map[string]any {
	blocks, err := Blocks(content)
	if err != nil {
		return nil
	}
	var found []map[string]any
	for _, b := range blocks {
		if b["type"] == kind {
			found = append(found, b)
		}
	}
	return found
}

// Messages returns the messages of a sampling request. Messages that are not objects are left out.
func Messages(params map[string]any) []map[string]any {
	list, _ := params["messages"].([]any)
	var messages []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			messages = append(messages, m)
		}
	}
	return messages
}
