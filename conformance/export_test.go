package conformance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
)

// MakeHostile has the case basic/question played as one that may crash a client.
func MakeHostile() { basic.Scenario.Cases[0].Hostile = true }

var Catalogue = catalogue

// Settled is settled.
var Settled = settled

// JudgeGateway is judgeGateway.
var JudgeGateway = judgeGateway
