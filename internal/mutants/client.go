package mutants

import (
	"github.com/mcp-conform/mcp-conform/harness"
)

var clientMutants = chapter("client",
	m("never-connects", "exits with success and never connects", "connects",
		just(Edit{Run: func(*Wire, func() error) error { return nil }})),
	m("fails-at-the-end", "responds to everything and then exits with an error", "ends-cleanly",
		just(Edit{Run: func(w *Wire, run func() error) error {
			err := run()
			w.Die("a failure after all went well")
			return err
		}})),
	m("declares-nothing", "does not declare sampling, so no server asks it for a sample", "sampled",
		just(Edit{Env: func(env *harness.Env) { env.Declare = []byte("{}") }})),
)
