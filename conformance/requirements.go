package conformance

import "github.com/mcp-conform/mcp-conform/harness/report"

const site = "https://modelcontextprotocol.io/specification/"

// requirements are the statements of the specification that checks enforce, by revision, page and number, in our own words.
var requirements = map[string]report.Requirement{
	"2025-11-25/sampling/08": {URL: site + "2025-11-25/client/sampling#tool-use-and-result-balance",
		Says: "every tool use is answered, by id, in the very next user message, before anything else"},
	"2026-07-28/sampling/09": {URL: site + "2026-07-28/client/sampling#tool-use-and-result-balance",
		Says: "every tool use is answered, by id, in the very next user message, before anything else"},
	"2025-11-25/sampling/09": {URL: site + "2025-11-25/client/sampling#tool-choice-modes",
		Says: "toolChoice required: at least one tool is used, which the model can only heed where it is told"},
	"2026-07-28/sampling/10": {URL: site + "2026-07-28/client/sampling#tool-choice-modes",
		Says: "required: at least one tool is used, which the model can only heed where it is told"},
	"2025-11-25/sampling/10": {URL: site + "2025-11-25/client/sampling#tool-choice-modes",
		Says: "toolChoice none: no tool is used"},
	"2026-07-28/sampling/11": {URL: site + "2026-07-28/client/sampling#tool-choice-modes",
		Says: "none: no tool is used"},
	"2025-11-25/schema/ToolChoice": {URL: site + "2025-11-25/schema#toolchoice",
		Says: "a tool choice need not have a mode, and means auto without one"},
	"2026-07-28/schema/ToolChoice": {URL: site + "2026-07-28/schema#toolchoice",
		Says: "a tool choice need not have a mode, and means auto without one"},
	"2026-07-28/sampling/18": {URL: site + "2026-07-28/client/sampling#sampling-parameters",
		Says: "the client respects maxTokens"},
	"2025-06-18/schema/CreateMessageResult": {URL: site + "2025-06-18/schema#createmessageresult",
		Says: "a result has role, content of one block, and model"},
	"2025-11-25/schema/CreateMessageResult": {URL: site + "2025-11-25/schema#createmessageresult",
		Says: "a result has role, content (a block or an array of blocks), and model"},
	"2026-07-28/schema/CreateMessageResult": {URL: site + "2026-07-28/schema#createmessageresult",
		Says: "a result has role, content (a block or an array of blocks), and model"},
	"2025-11-25/schema/ToolUseContent": {URL: site + "2025-11-25/schema#toolusecontent",
		Says: "a tool use has a unique id, a name, and its input as an object"},
	"2026-07-28/schema/ToolUseContent": {URL: site + "2026-07-28/schema#toolusecontent",
		Says: "a tool use has a unique id, a name, and its input as an object"},
	"2025-06-18/basic/responses": {URL: site + "2025-06-18/basic#responses",
		Says: "a response has the same id as its request, and there is one for each"},
	"2025-11-25/basic/responses": {URL: site + "2025-11-25/basic#responses",
		Says: "a response has the same id as its request, and there is one for each"},
}
