// Package always has the rules that hold for every message of every case, whatever the case is about. Each is a check
// whose Judge sees one case, or whose JudgeSession sees one session. Chapters hold what needs a story of its own.
// Chapters may use the package; it uses check and evidence, and knows no chapter.
package always

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// ID is the scenario of the rules.
const ID = "always"

// Scenario has the rules. It has no cases of its own: its checks judge every case of a run, and every run has them.
var Scenario = check.Scenario{
	ID: ID, Purpose: "every message of every case", Revisions: server.AllRevisions(), EveryCase: true,
	Checks: []check.Check{
		validMessage, envelope, errorShape, oneResponse, requestIDs, ownCancels, initialized, clientInfo,
		capabilitiesConstant, metaFields, contentType, acceptHeader, oneMessage, sessionHeaders, httpHeaders, progressTokens,
		progressRises, tokenUnique,
		answered, validResult, hasModel, modelNamed, roleAssistant, stopReasonWord, freshIDs, notExecuted,
		inputKeys, isolation, newID, sameParams, retriesOnce, stateEchoed,
		maxTokens, modelWasGivenCheck, thoughtSignature, serverWasGivenCheck, oneModelCall, noSecret, noInternals,
	},
}
