// Package conformance judges MCP clients that answer sampling requests. In the test of a client:
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
//			// connect to env.URL through env.HTTP, call every tool once, answer sampling by asking the model at env.Model
//		}))
//	}
//
// A [Scenario] is a story: what the server plays, what the model says, and the checks that hold what came of it against the
// specification. A [Check] is a function of the evidence, which is decoded from a trace and nothing else; [Judge] judges a
// trace that was recorded before. To read one scenario, start at parallel.go.
package conformance
