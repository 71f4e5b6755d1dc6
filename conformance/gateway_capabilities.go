package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// compareCapabilities compares what the server saw with what the client declared, in all sessions of a revision.
func compareCapabilities(traces []*trace.Trace, revision string) report.Result {
	r := report.Result{Scenario: gatewayScenario, Check: gatewayCapabilities, Revision: revision, Level: report.Robust,
		Verdict: report.NotApplicable, Message: "no session in which the client declares capabilities"}
	for _, t := range traces {
		if t.Header.Revision != revision || len(t.Header.Declare) == 0 || len(t.Header.ServerRevisions) > 0 {
			continue
		}
		session := evidence.Decode(t)
		for i := range session.Requests {
			request := &session.Requests[i]
			if !declares(session, request) {
				continue
			}
			lost, added := capabilityChanges(t.Header.Declare, request.Capabilities)
			if len(lost)+len(added) == 0 {
				if r.Verdict != report.Fail {
					r.Verdict, r.Message = report.Pass, "the server sees the capabilities that the client declares"
				}
				continue
			}
			r.Verdict, r.Message = report.Fail, changedCapabilities(t.Header.Declare, request.Capabilities, lost, added)
			at := request.CapabilitiesAt()
			r.Evidence = []report.Evidence{{Label: "server received", Event: at.Label, Case: at.Ref.Case, Seq: at.Ref.Seq,
				Path: at.Path, Text: shownCapabilities(request.Capabilities)}}
			r.Fix = "Declare to the server what this client declares in this session, and nothing else."
			return r
		}
	}
	return r
}

// declares reports whether a request says what the client of a session can do: initialize, if its session calls tools,
// or a call itself. Other requests may be the gateway's own.
func declares(s *evidence.Session, r *evidence.ClientRequest) bool {
	if s.Revision.Modern() {
		return replay.Carriers[r.Method] != ""
	}
	return r.Method == "initialize" && slices.ContainsFunc(s.Requests, func(other evidence.ClientRequest) bool {
		return other.Session == r.Session && replay.Carriers[other.Method] != ""
	})
}

func changedCapabilities(declared, seen json.RawMessage, lost, added []string) string {
	text := fmt.Sprintf("the server saw the capabilities %s where the client declared %s: ",
		shownCapabilities(seen), shownCapabilities(declared))
	var parts []string
	if len(lost) > 0 {
		parts = append(parts, strings.Join(lost, ", ")+" is lost on the way up, from the client to the server")
	}
	if len(added) > 0 {
		parts = append(parts, strings.Join(added, ", ")+" is added, although the client cannot do it")
	}
	return text + strings.Join(parts, ", and ")
}

func shownCapabilities(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return string(jsonvalue.Marshal(jsonvalue.Decode(raw)))
}

// own are capabilities that a gateway may have itself: it can answer these requests without its client.
var own = map[string]bool{"roots": true, "experimental": true, "extensions": true}

// capabilityChanges returns the paths that the client declared and the server did not see, and the other way round.
func capabilityChanges(declared, seen json.RawMessage) (lost, added []string) {
	before, _ := jsonvalue.ReadObject(declared) // nil for no object
	after, _ := jsonvalue.ReadObject(seen)
	lost = missingIn(after, before, "")
	for _, path := range missingIn(before, after, "") {
		if top, _, _ := strings.Cut(path, "."); !own[top] {
			added = append(added, path)
		}
	}
	return lost, added
}

// missingIn returns the paths of all members of an object that another one lacks, but not those below such a path.
func missingIn(in, of map[string]any, path string) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		other, found := in[name]
		if !found || other == nil && of[name] != nil {
			missing = append(missing, path+name)
			continue
		}
		below, _ := of[name].(map[string]any)
		otherBelow, _ := other.(map[string]any)
		missing = append(missing, missingIn(otherBelow, below, path+name+".")...)
	}
	return missing
}
