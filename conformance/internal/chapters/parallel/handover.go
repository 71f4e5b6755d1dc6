package parallel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// handover is how the tool results of the second round went from the server to the model.
type handover struct {
	*evidence.Round
	model          *evidence.Exchange
	sent, received []dialect.Block
	// ids maps the ids of the server's tool uses to those that the model received.
	ids map[string]string
}

// handoverOf reads the second round. It needs [check.ModelReadsRequest].
func handoverOf(e *evidence.Case) handover {
	r, x := e.Rounds[1], e.Rounds[1].LastExchange()
	h := handover{Round: r, model: x, ids: map[string]string{},
		sent:     evidence.BlocksOf(r.Params.LastUserTurn(), dialect.ToolResult),
		received: evidence.BlocksOf(x.Request.Messages, dialect.ToolResult)}
	known, restated := h.uses()
	for i, other := range counterparts(known, restated) {
		h.ids[known[i].ID] = known[i].ID
		if other != nil {
			h.ids[known[i].ID] = other.ID
		}
	}
	return h
}

// uses returns the tool uses of the history, as the server sent and as the model received them.
func (h *handover) uses() (sent, received []dialect.Block) {
	return evidence.BlocksOf(h.Params.Messages, dialect.ToolUse), evidence.BlocksOf(h.model.Request.Messages,
		dialect.ToolUse)
}

// arrival returns the index of the received result for a sent one, -1 for none: the result with its id and text, or
// else the first with its text.
func (h *handover) arrival(sent *dialect.Block) int {
	text := dialect.PlainText(sent.Content)
	i := slices.IndexFunc(h.received, func(b dialect.Block) bool {
		return b.ID == h.ids[sent.ID] && hasText(&b, text)
	})
	if i < 0 {
		i = withText(h.received, text)
	}
	return i
}

// withText returns the index of the first block whose text contains a text, -1 for none.
func withText(blocks []dialect.Block, text string) int {
	return slices.IndexFunc(blocks, func(b dialect.Block) bool { return hasText(&b, text) })
}

func hasText(b *dialect.Block, text string) bool {
	return strings.Contains(dialect.PlainText(b.Content), text)
}

// hasResult reports whether the model received a result under the id of the sent one.
func (h *handover) hasResult(sent dialect.Block) bool {
	return slices.ContainsFunc(h.received, func(b dialect.Block) bool { return b.ID == h.ids[sent.ID] })
}

// show adds what the server sent and what the model received, and which results are missing.
func (h *handover) show(v check.Verdict) check.Verdict {
	got := evidence.Describe(h.received)
	for _, s := range h.sent {
		if !h.hasResult(s) {
			got += fmt.Sprintf("\n← no result for %s", evidence.QuoteID(h.ids[s.ID]))
		}
	}
	if why := h.model.End.Refused; why != "" {
		got += "\nthe model refused it: " + why
	}
	return v.ShowAs("server sent", h.Asked, "%s", evidence.Describe(h.sent)).
		ShowAs("model received", h.model.Place, "%s", got)
}

// counterparts returns for each tool use that the server knows the one that the model received; nil for none. A
// client may have ids of its own, if it has them everywhere, and another order. So uses match by name, input and id,
// then by name and input, then by id, then by their place.
func counterparts(known, received []dialect.Block) []*dialect.Block {
	found := make([]*dialect.Block, len(known))
	taken := make([]bool, len(received))
	match := func(same func(i, j int) bool) {
		for i := range known {
			for j := range received {
				if found[i] == nil && !taken[j] && same(i, j) {
					found[i], taken[j] = &received[j], true
				}
			}
		}
	}
	sameID := func(i, j int) bool { return known[i].ID == received[j].ID }
	same := func(i, j int) bool { return sameUse(&known[i], &received[j]) }
	match(func(i, j int) bool { return sameID(i, j) && same(i, j) })
	match(same)
	match(sameID)
	if len(known) == len(received) {
		match(func(i, j int) bool { return i == j })
	}
	return found
}

// sameUse reports whether two tool uses have the same name and input.
func sameUse(a, b *dialect.Block) bool {
	return a.Name == b.Name && evidence.SameJSON(a.Input, b.Input)
}
