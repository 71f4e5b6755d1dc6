package mutants

import (
	"sync"

	"github.com/mcp-conform/mcp-conform/harness"
)

var clientEdits = edits{
	"never-connects": just(Edit{Run: func(*Wire, func() error) error { return nil }}),
	"fails-at-the-end": just(Edit{Run: func(w *Wire, run func() error) error {
		err := run()
		w.Die("a failure after all went well")
		return err
	}}),
	"calls-one-tool": in(func(m *Message) {
		if m.Answers("tools/list") {
			tools, _ := m.Result()["tools"].([]any)
			m.Result()["tools"] = tools[:min(1, len(tools))]
		}
	}),
	"declares-nothing":  just(Edit{Env: func(env *harness.Env) { env.Declare = []byte("{}") }}),
	"needs-preferences": refuses(func(s *Sample) bool { return s.Asked["modelPreferences"] == nil }),
	"deaf-after-audio": deafAfter(func(asked object) (found bool) {
		eachBlock("audio", func(object) { found = true })(asked)
		return found
	}),
}

// deafAfter refuses every request after one of a kind.
func deafAfter(kind func(asked object) bool) func(*Wire) Edit {
	return func(*Wire) Edit {
		var mu sync.Mutex
		deaf := false
		return Edit{Asked: func(s *Sample) {
			mu.Lock()
			defer mu.Unlock()
			if deaf {
				s.Refuse(codeInternal, "broken on purpose: answers nothing more")
			}
			deaf = deaf || kind(s.Asked)
		}}
	}
}
