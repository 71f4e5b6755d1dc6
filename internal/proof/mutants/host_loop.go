package mutants

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// HostLoop is the chapter of hosts whose own model makes mistakes. Its mutants are hosts.
const HostLoop = "host-loop"

var hostLoopEdits = edits{
	"host-ends-at-unknown":     at(endsTask, reference.UnknownTool),
	"host-crashes-at-unknown":  at(crashes, reference.UnknownTool),
	"host-answers-another-use": at(answersAnotherUse, reference.UnknownTool),
	"host-ends-at-bad-json":    at(endsTask, reference.InvalidJSON),
	"host-crashes-at-bad-json": at(crashes, reference.InvalidJSON),
	"host-ends-at-invalid":     at(endsTask, reference.InvalidArguments),
	"host-crashes-at-invalid":  at(crashes, reference.InvalidArguments),
	"host-ends-on-failure":     at(endsTask, reference.FailedTool, reference.RefusedCall),
	"host-crashes-at-refusal":  at(crashes, reference.RefusedCall),
	"host-hides-failed-tools":  at(saysDone, reference.FailedTool),
	"host-hides-refused-calls": at(saysDone, reference.RefusedCall),
	"host-without-end":         host(func(_ *Wire, m *reference.Mistakes) { m.MostRepeats = 0 }),
	"host-asks-for-ever":       host(func(_ *Wire, m *reference.Mistakes) { m.AskAgain = func(int) bool { return true } }),
	"host-crashes-at-nothing": host(func(w *Wire, m *reference.Mistakes) {
		m.AskAgain = func(int) bool {
			w.Panic("the answer is empty")
			return false
		}
	}),
	"host-hangs-at-nothing": host(func(w *Wire, m *reference.Mistakes) {
		m.AskAgain = func(int) bool {
			<-w.Context.Done()
			return false
		}
	}),
}

func endsTask(*Wire, object) error { return reference.ErrEndsTask }

func crashes(w *Wire, _ object) error {
	w.Panic("the model made a mistake")
	return reference.ErrEndsTask
}

func answersAnotherUse(_ *Wire, result object) error {
	result["toolUseId"] = "another"
	return nil
}

func saysDone(_ *Wire, result object) error {
	result["content"] = []any{textBlock("done")}
	delete(result, "isError")
	return nil
}

func host(f func(w *Wire, m *reference.Mistakes)) func(*Wire) Edit {
	return just(Edit{Host: func(w *Wire, m *reference.Mistakes) {
		w.Fire()
		f(w, m)
	}})
}

// at edits what the model receives for uses of the chapter's tools.
func at(f func(w *Wire, result object) error, mistakes ...reference.Mistake) func(*Wire) Edit {
	return just(Edit{Host: func(w *Wire, m *reference.Mistakes) {
		m.Told = func(made reference.Mistake, use, result map[string]any) error {
			if !slices.Contains(mistakes, made) || !strings.Contains(text(use, "name"), "host_") {
				return nil
			}
			w.Fire()
			return f(w, result)
		}
	}})
}
