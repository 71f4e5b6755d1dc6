package evidence

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// pair gives ids of ours to the tool uses and results of a model's request that have none on their provider's wire, so that it can be told
// which belongs to which. Such a wire pairs them as Gemini's does: within a turn and what follows it, the n-th result of a name is that of
// the n-th use of the name. Where one of a pair has an id the other one takes it. A result without a name belongs to nothing.
func Pair(messages []dialect.Message) {
	turn := 0
	for i := range messages {
		if messages[i].Role != dialect.Assistant {
			continue
		}
		turn++
		uses := pointers(messages[i:i+1], dialect.ToolUse)
		end := i + 1
		for end < len(messages) && messages[end].Role != dialect.Assistant {
			end++
		}
		results := pointers(messages[i+1:end], dialect.ToolResult)
		uses, results = unmatched(uses, results), unmatched(results, uses)
		for n := 1; len(uses)+len(results) > 0; n++ {
			uses, results = pairFirst(uses, results, fmt.Sprintf("number %d of turn %d", n, turn))
		}
	}
}

// pairFirst pairs the first use, or the first result where there are no uses, and returns the rest.
func pairFirst(uses, results []*dialect.Block, place string) (otherUses, otherResults []*dialect.Block) {
	if len(uses) == 0 {
		if r := results[0]; r.ID == "" && r.Name != "" {
			r.ID = r.Name + ", a result without a use, " + place
		}
		return nil, results[1:]
	}
	use := uses[0]
	for i, r := range results {
		if r.Name != use.Name {
			continue
		}
		switch {
		case use.ID == "" && r.ID == "":
			use.ID = use.Name + ", " + place
			r.ID = use.ID
		case use.ID == "":
			use.ID = r.ID
		case r.ID == "":
			r.ID = use.ID
		}
		return uses[1:], slices.Concat(results[:i], results[i+1:])
	}
	if use.ID == "" {
		use.ID = use.Name + ", " + place
	}
	return uses[1:], results
}

// pointers are the blocks of a type in the messages themselves.
func pointers(messages []dialect.Message, t dialect.BlockType) []*dialect.Block {
	var found []*dialect.Block
	for i := range messages {
		for j := range messages[i].Content {
			if messages[i].Content[j].Type == t {
				found = append(found, &messages[i].Content[j])
			}
		}
	}
	return found
}

// unmatched are the blocks whose id none of the others has.
func unmatched(blocks, others []*dialect.Block) []*dialect.Block {
	known := map[string]bool{}
	for _, o := range others {
		known[o.ID] = o.ID != ""
	}
	var left []*dialect.Block
	for _, b := range blocks {
		if !known[b.ID] {
			left = append(left, b)
		}
	}
	return left
}
