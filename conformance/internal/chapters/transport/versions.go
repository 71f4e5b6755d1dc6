package transport

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A server that speaks another revision than that of the run, with a client that is left to find out: it goes on in one that both speak, or it ends and
// says that there is none.
var versionCases = []harness.Case{
	speaking("older-version", server.V20251125, false, server.V20250618),
	speaking("both-eras", server.V20260728, false, server.V20251125, server.V20260728),
	speaking("older-era", server.V20260728, false, server.V20251125),
	speaking("older-era-told", server.V20260728, true, server.V20251125),
}

var versionChecks = []check.Check{versionListed, otherVersion}

// speaking is a case of a run in one revision, the server of which speaks others. Tells is [harness.Case.TellsVersions].
func speaking(name string, in server.Revision, tells bool, speaks ...server.Revision) harness.Case {
	return harness.Case{ID: "transport/" + name, Revisions: []server.Revision{in}, Isolated: true, Speaks: speaks, TellsVersions: tells, Script: story.Says("A wren."),
		Handler: func(s *server.Session) (any, error) {
			if !s.Declares("sampling") {
				return "not asked, since sampling is not declared", nil
			}
			return s.Sample(s.Ask("Name a bird."))
		}}
}

// versioning is what a session shows of versions: those that the server said it speaks, and those that the client named after that.
type versioning struct {
	modern bool             // whether the client asked for anything in the newer era
	by     *evidence.Place  // of the server's word
	how    string           // that is
	told   []string         // by it
	right  int              // requests of the client, after that, in a version that it was told of
	wrong  []evidence.Place // those in another
	named  string           // in the first of them
	apart  bool             // whether all of those may have been on their way, since the server had not been asked for its versions when it told them
}

// versions reads a session's frames. That a client tries initialize with a version that was not told is no fault: the server says then which it is.
func versions(s *evidence.Session) versioning {
	var v versioning
	discovers := map[string]bool{} // by the ids of the requests
	before := map[string]bool{}    // the methods of the others
	crossing := false              // a request may have been on its way when the server spoke
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame == nil || e.Frame.Raw.IsZero() || e.Frame.Lost {
			continue
		}
		m := s.Message(e)
		if e.Frame.Dir == trace.ToClient {
			if told, how := toldVersions(m); told != nil {
				if v.told == nil {
					v.apart = m.Err != nil && !discovers[string(m.ID)]
					crossing = v.apart
				}
				crossing = crossing && m.Err != nil
				v.told, v.how, v.by = told, how, &evidence.Place{Ref: e.Ref(), Label: "server's versions"}
			}
			continue
		}
		if m.Method == "server/discover" {
			discovers[string(m.ID)] = true
		}
		first := !before[m.Method]
		before[m.Method] = true
		v.modern = v.modern || m.Method == "server/discover" || evidence.ModernVersion(e.Frame, m) != ""
		if v.told == nil || m.Method == "" || m.Method == "initialize" || m.Method == "server/discover" {
			continue
		}
		named, inMeta := namedVersion(e.Frame, m)
		switch {
		case named == "":
		case slices.Contains(v.told, named) && (!inMeta || server.Revision(named).Modern()):
			v.right++
		case crossing && first: // as of a client that asks several things at once
		default:
			v.apart = v.apart && crossing
			v.wrong = append(v.wrong, evidence.Place{Ref: e.Ref(), Label: m.Method})
			if len(v.wrong) == 1 {
				v.named = named
			}
		}
	}
	return v
}

// toldVersions are the versions that a message of the server's says it speaks, and by what; nil where it says nothing of them.
func toldVersions(m *evidence.Message) (versions []string, how string) {
	var result, failed, data dialect.Object
	_ = dialect.ReadPart(m.Result, &result) // what is no object says nothing
	_ = json.Unmarshal(m.RawErr, &failed)
	_ = failed.Read("data", &data)
	switch {
	case result.Text("protocolVersion") != "":
		return []string{result.Text("protocolVersion")}, "its answer to initialize"
	case result.Read("supportedVersions", &versions) == nil && versions != nil:
		return versions, "its answer to server/discover"
	case m.Err != nil && m.Err.Code == codeUnsupportedVersion && data.Read("supported", &versions) == nil:
		return versions, "its error"
	}
	return nil, ""
}

// codeUnsupportedVersion is that of an UnsupportedProtocolVersionError (2026-07-28, basic/index#error-codes).
const codeUnsupportedVersion = -32022

// namedVersion is the version that a message of the client's names, and whether it does so as the newer era does, in its _meta; "" where it names none.
func namedVersion(f *trace.Frame, m *evidence.Message) (version string, inMeta bool) {
	var params, meta dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // what cannot be read names nothing
	_ = params.Read("_meta", &meta)
	if meta.Has(evidence.MetaVersion) {
		return meta.Text(evidence.MetaVersion), true
	}
	if f.HTTP != nil {
		version = f.HTTP.Header["Mcp-Protocol-Version"]
	}
	return version, false
}

// tried says whether the client did what there is to judge: it came, and, in a run of the newer era, asked for something in that.
func tried(ev *evidence.Case, v *versioning) *check.Verdict {
	s := ev.Session
	none := func(verdict check.Verdict) *check.Verdict { return &verdict }
	switch {
	case !s.Asked:
		return none(check.Unsupported("the client asked the server for nothing: it takes one that finds out for itself which version to speak, where MCP_CONFORMANCE_PROTOCOL_VERSION "+
			"(Env.Revision) is empty; %s", s.Ending()))
	case ev.Revision.Modern() && !v.modern:
		return none(check.NotApplicable("the client opens in the older era, and has nothing to find out"))
	}
	return nil
}

var versionListed = check.Check{
	ID: "version-listed", Rule: "a client that was told which versions the server speaks goes on in one of them, if it goes on", Whole: true,
	Levels: map[server.Revision]report.Level{server.V20251125: report.Must, server.V20260728: report.Should},
	Cases:  []string{"older-version", "both-eras", "older-era", "older-era-told"}, Statements: []string{"2025-11-25/lifecycle/operation", "2025-11-25/lifecycle/negotiation",
		"2025-11-25/transports/24", "2026-07-28/versioning/selects"},
	Cause: "the newest version of the client's library is taken whatever the server says, or a version of the older era is put into requests of the newer one",
	Fix:   "choose a version that the server lists; speak those up to 2025-11-25 by initialize, and in the version that this comes back with; if there is none in common, end and say so",
	Judge: func(e *evidence.Case) check.Verdict {
		v := versions(e.Session)
		if other := tried(e, &v); other != nil {
			return *other
		}
		list := strings.Join(v.told, ", ")
		switch {
		case v.told == nil && e.Called:
			return check.Pass("the client asked in a version that the server speaks")
		case v.told == nil:
			return check.NotApplicable("the server, which speaks %s alone, knew nothing of what it was asked, and the client asked no further", strings.Join(e.Session.Trace.Header.Speaks, ", "))
		case len(v.wrong) == 1 && v.right == 0 && v.apart:
			return check.NotApplicable("the client went no further when it was told that the server speaks %s: the one request behind that may have been on its way", list)
		case len(v.wrong) > 0 && v.right == 0:
			return check.Fail("the server says by %s that it speaks %s, and the client went on in %s", v.how, list, v.named).Show(*v.by, "%s", e.Session.Trace.Find(v.by.Ref).Frame.Raw).
				Show(v.wrong[0], "%s", v.named)
		case len(v.wrong) > 0:
			return check.Warn("the server says by %s that it speaks %s, and the client went on in %s before it took one of those", v.how, list, v.named).Show(*v.by, "").Show(v.wrong[0], "%s", v.named)
		case v.right == 0 && e.Called:
			return check.NotApplicable("the client went on, and over this transport its messages do not say in which version")
		case v.right == 0:
			return check.NotApplicable("the client went no further when it was told that the server speaks %s", list)
		}
		return check.Pass("the client went on in a version that the server speaks: %s", list)
	},
}

var otherVersion = check.Check{
	ID: "other-version", Rule: "a client that meets a server of another version goes on in that, or ends: it neither hangs nor crashes", Levels: map[server.Revision]report.Level{
		server.V20251125: report.Robust, server.V20260728: report.Robust}, Whole: true, Cases: []string{"older-version", "older-era", "older-era-told"},
	Cause: "an answer is waited for that the server does not give, or the same question is asked again and again",
	Fix:   "take an error for an answer: try the older era, or end and say which versions the server speaks",
	Judge: func(e *evidence.Case) check.Verdict {
		v, s := versions(e.Session), e.Session
		if other := tried(e, &v); other != nil {
			return *other
		}
		speaks := strings.Join(s.Trace.Header.Speaks, ", ")
		switch {
		case s.Ended == nil:
			return check.NotObserved("the trace does not say how the client ended")
		case s.Ended.Deadline && e.Called:
			return check.NotObserved("the client went on in the version of the server, and did not come to its end for another reason: %s", s.Ending())
		case s.Ended.Deadline:
			return check.ShowOutput(s, check.Fail("the server speaks %s alone, and the client hung: %s", speaks, s.Ending()))
		case !evidence.EndedByItself(s.Ended):
			return check.ShowOutput(s, check.Fail("the server speaks %s alone, and the client crashed: %s", speaks, s.Crash()))
		case e.Called:
			return check.Pass("the client went on in %s", speaks)
		}
		return check.Pass("the client ended: %s", s.Ending())
	},
}
