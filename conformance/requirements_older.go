package conformance

import "github.com/mcp-conform/mcp-conform/fakes/server"

var sampling20250326 = page{server.V20250326, "sampling", "client/sampling", []Statement{
	should("user-interaction-model", "user-interaction-model", "c1c0b63ee9e5",
		"a person can always deny a sampling request, and review an answer before it is delivered"),
	must("capabilities", "capabilities", "", "a client that supports sampling declares sampling at initialization"),
	should("security", "security-considerations", "", "the client respects model hints"),
	should("validates", "security-considerations", "", "both sides validate the content of messages"),
	must("sensitive", "security-considerations", "", "both sides handle sensitive data with care"),
}}

var basic20250326 = page{server.V20250326, "basic", "basic", []Statement{
	must("messages", "messages", "", "all messages follow JSON-RPC 2.0"),
	must("responses", "responses", "", "a response has the same id as its request, and there is one for each"),
	must("notifications", "notifications", "", "a notification has no id, and is not answered"),
}}

var cancellation20250326 = page{server.V20250326, "cancellation", "basic/utilities/cancellation", []Statement{
	must("behavior", "behavior-requirements", "",
		"a cancel names a running request of one's own, and not initialize; what was cancelled stops, and is not answered; a late response is ignored"),
	must("timing", "timing-considerations", "", "a cancel that crosses the response does no harm"),
	should("errors", "error-handling", "", "an invalid cancel is ignored: of an unknown request, of one that is done, or malformed"),
}}

var transports20250326 = page{server.V20250326, "transports", "basic/transports", []Statement{
	should("cancel", "sending-messages-to-the-server", "", "a client cancels with a notification, not by hanging up"),
}}

var schema20250326 = page{server.V20250326, "schema", "schema", []Statement{
	must("ModelPreferences", "modelpreferences", "",
		"the client evaluates hints in order, first match wins; a hint counts for more than the numbers"),
	should("ModelHint", "modelhint", "", "the client treats a hint as a substring of a model name"),
	schemaType("CreateMessageResult", "a result has role, content of one block, and model"),
	schemaType("ClientCapabilities", "a capability is an object"),
}}

var sampling20250618 = page{server.V20250618, "sampling", "client/sampling", []Statement{
	should("user-interaction-model", "user-interaction-model", "c1c0b63ee9e5",
		"a person can always deny a sampling request, and review an answer before it is delivered"),
	must("capabilities", "capabilities", "", "a client that supports sampling declares sampling at initialization"),
	should("security", "security-considerations", "", "the client respects model hints"),
	should("validates", "security-considerations", "", "both sides validate the content of messages"),
	must("sensitive", "security-considerations", "", "both sides handle sensitive data with care"),
}}

var basic20250618 = page{server.V20250618, "basic", "basic", []Statement{
	must("messages", "messages", "", "all messages follow JSON-RPC 2.0"),
	must("responses", "responses", "", "a response has the same id as its request, and there is one for each"),
	must("notifications", "notifications", "", "a notification has no id, and is not answered"),
}}

var cancellation20250618 = page{server.V20250618, "cancellation", "basic/utilities/cancellation", []Statement{
	must("behavior", "behavior-requirements", "",
		"a cancel names a running request of one's own, and not initialize; what was cancelled stops, and is not answered; a late response is ignored"),
	must("timing", "timing-considerations", "", "a cancel that crosses the response does no harm"),
	should("errors", "error-handling", "", "an invalid cancel is ignored: of an unknown request, of one that is done, or malformed"),
}}

var transports20250618 = page{server.V20250618, "transports", "basic/transports", []Statement{
	should("cancel", "sending-messages-to-the-server", "", "a client cancels with a notification, not by hanging up"),
}}

var schema20250618 = page{server.V20250618, "schema", "schema", []Statement{
	must("ModelPreferences", "modelpreferences", "",
		"the client evaluates hints in order, first match wins; a hint counts for more than the numbers"),
	should("ModelHint", "modelhint", "", "the client treats a hint as a substring of a model name"),
	schemaType("CreateMessageResult", "a result has role, content of one block, and model"),
	schemaType("ClientCapabilities", "a capability is an object"),
}}
