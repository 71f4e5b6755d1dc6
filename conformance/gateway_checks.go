package conformance

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// GatewayChecks are the checks of [JudgeGateway]. No client has them, so they are in no scenario.
func GatewayChecks() []Check {
	levels := map[server.Revision]report.Level{}
	for _, r := range AllRevisions() {
		levels[r] = report.Robust
	}
	checks := []Check{
		{ID: gatewayCapabilities, Rule: "The server sees the capabilities that the client declares, no less and no more",
			Cause: "the gateway declares what its SDK can do, or connects to the server before a client connects to it",
			Fix:   "Connect to the server for each client, when it connects, and declare what it declares."},
		{ID: gatewayApplies, Rule: "What applies to the client without the gateway applies through it",
			Cause: "sampling requests are answered by the gateway, or do not reach the client",
			Fix:   "Send each request of the server to the client whose call it belongs to."},
		{ID: gatewayJudged, Rule: "What passes without the gateway can be judged through it",
			Cause: "a message is lost, so that a case does not get to its end",
			Fix:   "Pass every message on, in both directions, or return an error to its sender."},
	}
	for i := range checks {
		checks[i].ID, checks[i].Levels = gatewayScenario+"/"+checks[i].ID, levels
	}
	return checks
}
