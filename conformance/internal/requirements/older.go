package requirements

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// older are the pages of a revision before 2025-11-25, of which the table holds what checks enforce: the two of them say the same of it.
func older(revision server.Revision) []page {
	return []page{
		{revision, "sampling", "client/sampling", []Statement{
			should("user-interaction-model", "user-interaction-model", "c1c0b63ee9e5",
				"a person can always deny a sampling request, and review an answer before it is delivered"),
			must("capabilities", "capabilities", "", "a client that supports sampling declares sampling at initialization"),
			should("security", "security-considerations", "", "the client respects model hints"),
			should("validates", "security-considerations", "", "both sides validate the content of messages"),
			must("sensitive", "security-considerations", "", "both sides handle sensitive data with care"),
		}},
		{revision, "schema", "schema", []Statement{
			must("ModelPreferences", "modelpreferences", "",
				"the client evaluates hints in order, first match wins; a hint counts for more than the numbers"),
			should("ModelHint", "modelhint", "", "the client treats a hint as a substring of a model name"),
			schemaType("CreateMessageResult", "a result has role, content of one block, and model"),
			schemaType("ClientCapabilities", "a capability is an object"),
		}},
		{revision, "basic", "basic", []Statement{
			must("messages", "messages", "", "all messages follow JSON-RPC 2.0"),
			must("responses", "responses", "", "a response has the same id as its request, and there is one for each"),
			must("notifications", "notifications", "", "a notification has no id, and is not answered"),
		}},
		{revision, "cancellation", "basic/utilities/cancellation", []Statement{
			must("behavior", "behavior-requirements", "",
				"a cancel names a running request of one's own, and not initialize; what was cancelled stops, and is not answered; a late response is ignored"),
			must("timing", "timing-considerations", "", "a cancel that crosses the response does no harm"),
			should("errors", "error-handling", "", "an invalid cancel is ignored: of an unknown request, of one that is done, or malformed"),
		}},
		{revision, "transports", "basic/transports", []Statement{
			must("stdio", "stdio", "", "a message is one line of UTF-8, and nothing else goes to the server's standard input"),
			should("cancel", "sending-messages-to-the-server", "", "a client cancels with a notification, not by hanging up"),
		}},
	}
}

// batching is what 2025-03-26 alone says: the next revision took batches out.
var batching = page{server.V20250326, "basic", "basic/index", []Statement{
	must("batching", "batching", "", "whoever speaks the protocol can receive batches, whether it sends any or not"),
}}
