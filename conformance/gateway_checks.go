package conformance

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// GatewayChecks are the checks of gateways. No client has them, so they are in no scenario.
func GatewayChecks() []Check {
	levels := map[server.Revision]report.Level{}
	for _, r := range server.AllRevisions() {
		levels[r] = report.Robust
	}
	checks := []Check{
		{ID: gatewayCapabilities, Rule: "The server sees the capabilities that the client declares, no less and no more",
			Cause: "the gateway declares what its SDK can do, or connects to the server before a client connects to it",
			Fix:   "Connect to the server for each client, when it connects, and declare what it declares."},
		{ID: gatewayRequests, Rule: "Sampling requests reach the client with the params that the server sent",
			Cause: "the gateway decodes the request into types of its own, and writes only what they know",
			Fix:   "Pass the params on as JSON. Only _meta.progressToken may change."},
		{ID: gatewayAnswers, Rule: "Results and errors reach the server as the client gave them, each for its own request",
			Cause: "the gateway decodes results into types of its own, makes errors of its own, or mixes up ids",
			Fix:   "Keep a table of the ids of both sides, and pass result and error on as JSON."},
		{ID: gatewayCalls,
			Rule: "Calls, retries and their results pass unchanged, with requestState and the keys of inputRequests",
			Cause: "the gateway decodes a result into types of its own, which lack the members of newer revisions, or keeps " +
				"results of earlier calls",
			Fix: "Pass each call on, with its params and its result as JSON. Only a prefix of the tool and reserved members " +
				"of _meta may change."},
		{ID: gatewayCancels, Rule: "Cancels pass in both directions, with the id that their request has on the other side",
			Cause: "notifications are not passed on, or with the id of the wrong side",
			Fix:   "Look up the id of a cancelled request in the same table as that of a response."},
		{ID: gatewayProgress,
			Rule:  "Progress passes in both directions, once, with the token of its request and before the response",
			Cause: "notifications are not passed on or wait in a queue, or a token of the gateway's own is not translated",
			Fix: "Pass tokens unchanged, or keep a table of the tokens of both sides. Pass the messages of a connection on " +
				"in their order."},
		{ID: gatewayDelivered, Rule: "The client receives each sampling request and each response once",
			Cause: "a resumed or second stream gets the messages of the first one again",
			Fix:   "Send a message on one stream only, the one of the call that it belongs to."},
		{ID: gatewayValid, Rule: "The messages that the gateway gives its client are valid",
			Cause: "the gateway writes members that have no value as null, or leaves out members of results that it builds " +
				"itself",
			Fix: "Pass messages on as JSON. Leave out error beside a result, and validate what the gateway writes itself " +
				"against the schema of the revision. Send messages in events without a type, or of the type message."},
		{ID: gatewayWritten, Rule: "A gateway writes only messages to its standard output, and into its events",
			Cause: "the gateway, or a program that it starts, writes its log to standard output; or an event keeps a stream " +
				"alive",
			Fix: "Write the log to standard error, and give what the gateway starts another standard output (transports: " +
				"the server MUST NOT write anything to its stdout that is not a valid MCP message). Keep streams alive with " +
				"comments, which begin with a colon."},
		{ID: gatewayStreams,
			Rule:  "A sampling request reaches the client on the stream on which it waits for the response to its call",
			Cause: "the gateway sends the server's requests on the GET stream, or on the stream of the latest call",
			Fix: "Send each request of the server on the response stream of the call during which it came " +
				"(relatedRequestId in the TypeScript SDK): a client need not have a GET stream."},
		{ID: gatewayClients, Rule: "Several clients at once have their own capabilities, requests and answers",
			Cause: "one connection to the server serves all clients, with the capabilities of the first",
			Fix: "Connect to the server for each client. Or keep, with each call, which client it is from, and declare what " +
				"that client declares."},
		{ID: gatewayLarge, Rule: "Messages of 5 MB pass in both directions, or get an error in their place",
			Cause: "a limit for bodies or lines is hit, and the message is dropped without an answer",
			Fix:   "Raise the limit. Respond to a message that is too large with an error, to the side that waits for it."},
		{ID: gatewaySlow, Rule: "A sample whose answer takes 15 seconds passes, or gets an error in its place",
			Cause: "a limit for requests or idle connections ends the wait, and nobody is told",
			Fix: "Let a call take as long as its client waits. If there is a limit, respond with an error to the side that " +
				"waits."},
		{ID: gatewayDies, Rule: "A call in which the server dies ends for the client, with an error or after another try",
			Cause: "the gateway does not handle the end of the connection to the server while a call waits for its response",
			Fix: "When the connection to the server or its process ends, respond with an error to each call that " +
				"waits on it."},
		{ID: gatewayLocal, Rule: "A gateway that listens does so at the address that it is told, and not on all interfaces",
			Cause: "the gateway listens on 0.0.0.0 or ::, so that everyone in the network reaches its servers",
			Fix: "Listen on 127.0.0.1 unless the user says otherwise (transports: servers SHOULD bind only to localhost when " +
				"they run locally)."},
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
