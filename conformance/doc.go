// Package conformance judges MCP clients that respond to sampling requests. In the test of a client:
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
//			// Connect to env.URL through env.HTTP, call every tool once, and ask the model at env.Model.
//		}))
//	}
//
// [Run] plays the catalogue and reports each check as a subtest. [Suite] does the same without a test, and [Judge]
// judges recorded traces. [Scenarios] and [Requirements] describe the catalogue: a [Scenario] has cases, in each of
// which the server sends sampling requests and the fake model answers, and a [Check] is one requirement on the client.
// Verdicts depend on the trace alone.
//
// The catalogue itself is internal: one package per chapter under internal/chapters, where parallel is a good start.
// The package holds what its users call, and what selects, plays and judges the chapters.
package conformance
