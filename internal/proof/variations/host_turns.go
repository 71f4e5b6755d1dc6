package variations

import (
	"errors"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// hostTurnVariations are hosts that handle the mistakes of their own model in other ways.
var hostTurnVariations = anyOrder(of(reference.Config{Host: true}, "host-turns-",
	mistakes("trusting", "leaves it to the server to refuse unknown tools and invalid arguments",
		func(_ *mutants.Wire, m *reference.Mistakes) { m.Trusting = true }),
	mistakes("ask-again", "drops a use that it cannot execute, and asks its model again", told(
		func(_, result object) error {
			delete(result, "content")
			return nil
		}, reference.UnknownTool, reference.InvalidJSON, reference.InvalidArguments)),
	mistakes("in-words", "tells its model in words of its own, without the flag", told(
		func(_, result object) error {
			result["content"] = []any{textBlock("That could not be done.")}
			delete(result, "isError")
			return nil
		}, reference.UnknownTool, reference.InvalidJSON, reference.InvalidArguments, reference.FailedTool,
		reference.RefusedCall)),
	mistakes("own-ids", "gives the uses ids of its own", told(func(use, result object) error {
		use["id"] = own(text(use, "id"))
		result["toolUseId"] = use["id"]
		return nil
	}, reference.UnknownTool, reference.InvalidArguments, reference.FailedTool)),
	mistakes("error-for-the-user", "ends its task with an error for the user", told(func(_, _ object) error {
		return errors.New("the model used a tool in the wrong way")
	}, reference.UnknownTool, reference.InvalidJSON, reference.InvalidArguments),
		warns("host-loop/unknown-tool-told", "host-loop/bad-json-told", "host-loop/bad-arguments-told")),
	mistakes("patient", "allows its model to repeat a call 60 times, and to say nothing three times",
		func(_ *mutants.Wire, m *reference.Mistakes) {
			m.MostRepeats, m.AskAgain = 60, func(n int) bool { return n <= 3 }
		}),
))

func mistakes(name, doc string, edit func(*mutants.Wire, *reference.Mistakes), options ...func(*Variation)) Variation {
	return edited(name, doc, "own-loop", "host-loop basic/question", mutants.Edit{Host: func(w *mutants.Wire,
		m *reference.Mistakes) {
		w.Fire()
		edit(w, m)
	}}, options...)
}

// told edits the use and the result with which the model learns of some mistakes with the chapter's tools.
func told(f func(use, result object) error, of ...reference.Mistake) func(*mutants.Wire, *reference.Mistakes) {
	return func(_ *mutants.Wire, m *reference.Mistakes) {
		m.Told = func(made reference.Mistake, use, result map[string]any) error {
			if !slices.Contains(of, made) {
				return nil
			}
			return f(use, result)
		}
	}
}
