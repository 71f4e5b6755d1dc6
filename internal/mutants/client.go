package mutants

import "github.com/mcp-conform/mcp-conform/harness"

var clientMutants = []Mutant{
	{Name: "never-connects", Doc: "exits with success and never connects", Kills: []string{"client/connects"},
		edit: just(Edit{Run: func(*Wire, func() error) error { return nil }})},
	{Name: "fails-at-the-end", Doc: "responds to everything and then exits with an error",
		Kills: []string{"client/ends-cleanly"},
		edit: just(Edit{Run: func(w *Wire, run func() error) error {
			err := run()
			w.Die("a failure after all went well")
			return err
		}})},
	{Name: "declares-nothing", Doc: "does not declare sampling, so no server asks it for a sample",
		Kills: []string{"client/sampled"}, edit: just(Edit{Env: func(env *harness.Env) { env.Declare = []byte("{}") }})},
}
