package evidence

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// pair assigns ids to tool uses and results of a model request that have none, as with Gemini: within a turn and what
// follows it, the nth result with a name belongs to the nth use of that name. If one of a pair has an id, the other
// gets it. A result without a name belongs to no use.
func pair(messages []dialect.Message) {
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

// pairFirst pairs the first use, or the first result if no use is left, and returns the rest.
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

// pointers returns pointers to the blocks of a type.
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
