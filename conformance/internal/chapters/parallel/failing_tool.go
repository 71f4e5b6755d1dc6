package parallel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// The results are alike, except that the last tool failed. Only isError tells the model.
var failingTool = weather("failing-tool", story.OneFails, cities{"Paris", "London", "Atlantis"})

var errorResult = check.Check{
	ID: "error-result", Cases: []string{"failing-tool"},
	Rule:   "The model can tell the result of a failed tool from the others",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{check.ModelReadsRequest(2)},
	Cause: "isError has no counterpart in the provider's form, and is dropped",
	Fix:   "Set the provider's own flag, or say in the text of the result that the tool failed.",
	Judge: func(e *evidence.Case) check.Verdict {
		h := handoverOf(e)
		failed, worked, v := h.outcomes()
		switch {
		case v != nil:
			return *v
		case len(failed) != 1 || len(worked) == 0:
			return check.NotObserved("the server sent no error result beside other results")
		}
		f, x := failed[0], h.model
		if f.differs(worked) {
			return check.Pass("the model can tell that the tool failed").ShowJSON(x.At(f.block.Path), f.block.Raw)
		}
		for _, block := range evidence.BlocksOf(x.Request.LastUserTurn(), dialect.Text) {
			if saysFailure.MatchString(block.Text) {
				return check.Pass("a text beside the results says that the tool failed").Show(x.At(block.Path), "%q", block.Text)
			}
		}
		return check.Fail("expected a sign of the failed tool in the model request, found none").
			ShowAs("server sent", h.Asked, "%s (the last one with isError)", evidence.Describe(h.sent)).
			ShowAs("model received", x.At(worked[0].block.Path), "%s", evidence.Compact(worked[0].block.Raw)).
			ShowAs("and", x.At(f.block.Path), "%s", evidence.Compact(f.block.Raw))
	},
}

// outcome is a result as the model received it, and its [shape].
type outcome struct {
	block *dialect.Block
	shape string
}

// outcomes returns the received results of the tools that failed and of those that worked, or the verdict if some are
// missing.
func (h *handover) outcomes() (failed, worked []outcome, missing *check.Verdict) {
	uses, _ := h.uses()
	taken := map[int]bool{}
	for i := range h.sent {
		sent := &h.sent[i]
		at := h.arrival(sent)
		if at < 0 || taken[at] {
			v := h.show(check.NotObserved("not all results reached the model (see parallel/results-reach-model)"))
			return nil, nil, &v
		}
		taken[at] = true
		use := slices.IndexFunc(uses, func(u dialect.Block) bool { return u.ID == sent.ID })
		if use < 0 {
			v := h.show(check.NotObserved("the server sent a result without a tool use"))
			return nil, nil, &v
		}
		o := outcome{&h.received[at], shape(&h.received[at], sent, &uses[use])}
		if sent.IsError {
			failed = append(failed, o)
		} else {
			worked = append(worked, o)
		}
	}
	return failed, worked, nil
}

// shape returns a received result without its id, the text that was sent, and what its tool use asked for: what a
// client adds to it. Old versions of Ollama read no id, so tool_call_id tells the model nothing.
func shape(received, sent, use *dialect.Block) string {
	raw := evidence.DecodeJSON(received.Raw)
	if o, ok := raw.(map[string]any); ok {
		delete(o, "tool_call_id")
	}
	words := []string{dialect.PlainText(sent.Content), received.ID, sent.ID}
	var input map[string]any
	_ = json.Unmarshal(use.Input, &input) // an invalid input asks for nothing
	for _, value := range input {
		if text, ok := value.(string); ok {
			words = append(words, text)
		}
	}
	s := string(dialect.Marshal(raw))
	for _, word := range words {
		if word != "" {
			s = strings.ReplaceAll(s, word, "")
		}
	}
	return fmt.Sprint(s, received.IsError)
}

// differs reports whether a result shows a failure that the others do not show: by another shape, or, if the shapes
// of the others differ, by the provider's own flag or by words.
func (o outcome) differs(others []outcome) bool {
	none := func(is func(outcome) bool) bool { return !slices.ContainsFunc(others, is) }
	if none(func(other outcome) bool { return other.shape != others[0].shape }) {
		return o.shape != others[0].shape
	}
	flagged := func(o outcome) bool { return o.block.IsError }
	spoken := func(o outcome) bool { return saysFailure.MatchString(o.shape) }
	return flagged(o) && none(flagged) || spoken(o) && none(spoken)
}

// saysFailure matches the words by which a client may report a failure.
var saysFailure = regexp.MustCompile(`(?i)error|fail`)
