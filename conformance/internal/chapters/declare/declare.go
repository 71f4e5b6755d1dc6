// Package declare judges the capabilities that a client declares: it supports them, and it refuses every other one.
//
// In capabilities.go, the server requests everything that a client can declare. In undeclared.go, the harness asks the
// client to declare less, and the server requests what is then forbidden. In unknown_method.go, it sends a request that
// no client knows.
package declare

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = check.Scenario{
	ID:        "declare",
	Purpose:   "which capabilities the client declares, and whether it refuses others",
	Revisions: server.AllRevisions(),
	Cases:     []harness.Case{sampling, tools, undeclaredSampling, undeclaredTools, undeclaredToolChoice, unknownMethod},
	Checks: []check.Check{
		samplingDeclared, toolsDeclared, overDeclared, samplingRefused, toolsRefused, toolChoiceRefused, noModelCall,
		alive, unknownMethodRefused,
	},
}

// capability is the path of a capability. Each case expects the one that its sampling request takes.
type capability []string

var (
	forSampling = capability{"sampling"}
	forTools    = capability{"sampling", "tools"}
)

func (c capability) String() string { return strings.Join(c, ".") }

func (c capability) revisions() []server.Revision {
	if len(c) > 1 {
		return check.WithTools
	}
	return nil
}

// samplingRule demands a declaration of every client that supports sampling.
var samplingRule = []string{"sampling/capabilities", "sampling/06"}

// callsTools is a model that calls a tool if it is offered one.
func callsTools(string) []*llm.Rule {
	return []*llm.Rule{
		llm.When(llm.Offers("get_weather")).Reply(llm.Call("get_weather", `{"city":"Paris"}`)),
		llm.When().Reply(llm.Text("A long one.")),
	}
}

func showDeclared(v check.Verdict, r *evidence.ClientRequest) check.Verdict {
	return v.ShowJSON(r.CapabilitiesAt(), r.Declared())
}
