package transport

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The server speaks other revisions than that of the run, and the client must find out. It may go on in one that both
// speak, or end and say that they share none.
var versionCases = []harness.Case{
	speaking("older-version", check.NewestLegacy, false, server.V20250618),
	speaking("both-eras", check.Modern, false, server.DefaultRevisions()...),
	speaking("older-era", check.Modern, false, server.V20251125),
	speaking("older-era-told", check.Modern, true, server.V20251125),
	discovered(speaking("older-era-discovered", check.Modern, false, server.V20251125)),
}

// discovered lets the server list its revisions in a result of server/discover.
func discovered(c harness.Case) harness.Case {
	c.AnswerDiscover = true
	return c
}

// speaking is a case of a run in some revisions, with a server of others. Tells is [harness.Case.ListVersionsToModern].
func speaking(name string, in []server.Revision, tells bool, speaks ...server.Revision) harness.Case {
	return harness.Case{ID: "transport/" + name, Revisions: in, Isolated: true, ServerRevisions: speaks,
		ListVersionsToModern: tells, Script: story.Says("A wren."),
		Handler: func(s *server.Session) (any, error) {
			if !s.Declares("sampling") {
				return "not asked, since sampling is not declared", nil
			}
			answer, err := s.Sample(s.Ask("Name a bird."))
			if err != nil || !slices.Contains(check.WithTools, s.Revision()) || !s.Declares("sampling", "tools") {
				return answer, err
			}
			if err := story.BehindImage(s, story.SecondRound); err != nil {
				return nil, err
			}
			return s.Sample(s.Ask("Name another bird."))
		}}
}

// versioning is what a session shows about versions.
type versioning struct {
	modern bool // whether the client sent a request of a modern revision
	list   *versionList
	right  int            // requests of the client after the list that name a listed version
	wrong  []wrongVersion // those that name another one
}

// versionList is the server's latest message about versions.
type versionList struct {
	versions []string
	how      string // what the message is, in words
	place    evidence.Place
}

// wrongVersion is a request with a version that the server did not list.
type wrongVersion struct {
	place   evidence.Place
	version string
	crossed bool // whether the client may have sent it before it read the list
}

// versionReader reads the messages of a session in order.
type versionReader struct {
	versioning
	discovers, sent map[string]bool // the ids of server/discover, and the methods of earlier requests
	crossing        bool            // whether a request may still have crossed the list
}

func versions(s *evidence.Session) *versioning {
	r := &versionReader{discovers: map[string]bool{}, sent: map[string]bool{}}
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		switch {
		case e.Frame == nil || e.Frame.Raw.IsZero() || e.Frame.Lost:
		case e.Frame.Dir == trace.ToClient:
			r.fromServer(e, s.Message(e))
		default:
			r.fromClient(e, s.Message(e))
		}
	}
	return &r.versioning
}

func (r *versionReader) fromServer(e *trace.Event, m *evidence.Message) {
	listed, how := listedVersions(m)
	if listed == nil {
		return
	}
	if r.list == nil { // unasked, if it is an error for anything but server/discover
		r.crossing = !r.discovers[string(m.ID)]
	}
	r.crossing = r.crossing && m.Err != nil
	if len(r.wrong) == 0 || !slices.Equal(listed, r.list.versions) { // else the server repeats its list
		r.list = &versionList{listed, how, at(e, "server's versions")}
	}
}

// fromClient judges the version of a request. An initialize may name any version: the server responds with one.
func (r *versionReader) fromClient(e *trace.Event, m *evidence.Message) {
	discover := m.Method == "server/discover"
	if discover {
		r.discovers[string(m.ID)] = true
	}
	again := r.sent[m.Method]
	r.sent[m.Method] = true
	r.modern = r.modern || discover || evidence.ModernVersion(e.Frame, m) != ""
	if r.list == nil || m.Method == "" || m.Method == "initialize" || discover {
		return
	}
	named, inMeta := namedVersion(e.Frame, m)
	switch {
	case named == "":
	case slices.Contains(r.list.versions, named) && (!inMeta || server.Revision(named).Modern()):
		r.right++
	case r.crossing && !again: // a client may send several requests at once
	default:
		r.wrong = append(r.wrong, wrongVersion{at(e, m.Method), named, r.crossing})
	}
}

// codeUnsupportedVersion is the code of UnsupportedProtocolVersionError (2026-07-28, basic/index#error-codes).
const codeUnsupportedVersion = -32022

// listedVersions returns the versions that a message of the server lists, and what the message is; nil for none.
func listedVersions(m *evidence.Message) (versions []string, how string) {
	var result, failed, data jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Result, &result) // what is not an object lists nothing
	_ = json.Unmarshal(m.RawErr, &failed)
	_ = failed.Read("data", &data)
	switch {
	case result.Text("protocolVersion") != "":
		return []string{result.Text("protocolVersion")}, "response to initialize"
	case result.Read("supportedVersions", &versions) == nil && versions != nil:
		return versions, "response to server/discover"
	case m.Err != nil && m.Err.Code == codeUnsupportedVersion && data.Read("supported", &versions) == nil:
		return versions, "error response"
	}
	return nil, ""
}

// namedVersion returns the version that a message of the client names, and whether it is in _meta, as in 2026-07-28; ""
// for none.
func namedVersion(f *trace.Frame, m *evidence.Message) (version string, inMeta bool) {
	var params, meta jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Params, &params) // undecodable params name nothing
	_ = params.Read("_meta", &meta)
	if meta.Has(evidence.MetaVersion) {
		return meta.Text(evidence.MetaVersion), true
	}
	if f.HTTP != nil {
		version = f.HTTP.Header["Mcp-Protocol-Version"]
	}
	return version, false
}

var needsVersions = []check.Need{cameToServer, opensInRevision}

func cameToServer(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Session.Asked,
		check.Unsupported("the client sent nothing: make it find out the version if "+
			"MCP_CONFORMANCE_PROTOCOL_VERSION (Env.Revision) is empty; %s", e.Session.Ending()))
}

func opensInRevision(e *evidence.Case) *check.Verdict {
	return check.Unless(!e.Revision.Modern() || versions(e.Session).modern,
		check.NotApplicable("the client begins with initialize: it does not ask for %s", e.Revision))
}

// VersionListed is exported for the tests, which are in a package of their own.
var VersionListed = check.Check{
	ID: "version-listed", Rule: "The client MUST continue only in a version that the server lists", Whole: true,
	Levels:     check.Both(check.InNewestLegacy(report.Must), check.InModern(report.Should)),
	Cases:      []string{"older-version", "both-eras", "older-era", "older-era-told", "older-era-discovered"},
	Statements: []string{"lifecycle/operation", "lifecycle/negotiation", "transports/24", "versioning/selects"},
	Needs:      needsVersions,
	Cause:      "the client always uses its newest version, or puts a version with sessions into requests of 2026-07-28",
	Fix: "Choose a version that the server lists. Use initialize for versions up to 2025-11-25, and continue in the " +
		"version of its response. If there is no common version, end and report it.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := versions(e.Session)
		if v.list == nil {
			if e.Called {
				return check.Pass("the client sent its requests in a version that the server speaks")
			}
			return check.NotApplicable("the server (%s) did not understand the client, and the client did not continue",
				strings.Join(e.Session.Trace.Header.ServerRevisions, ", "))
		}
		list, shown := strings.Join(v.list.versions, ", "), v.list.place
		differs := func(verdict func(string, ...any) check.Verdict, more string) check.Verdict {
			return verdict("expected requests in %s (the server's %s), found %s%s", list, v.list.how, v.wrong[0].version, more).
				Show(shown, "%s", e.Session.Trace.Find(shown.Ref).Frame.Raw).Show(v.wrong[0].place, "%s", v.wrong[0].version)
		}
		switch {
		case len(v.wrong) == 1 && v.right == 0 && v.wrong[0].crossed:
			return check.NotApplicable("the client did not continue after the server listed %s: its one request may have "+
				"crossed the list", list)
		case len(v.wrong) > 0 && v.right == 0:
			return differs(check.Fail, "")
		case len(v.wrong) > 0:
			return differs(check.Warn, " first")
		case v.right == 0 && e.Called:
			return check.NotApplicable("the client continued, but over this transport its messages name no version")
		case v.right == 0:
			return check.NotApplicable("the client did not continue after the server listed %s", list)
		}
		return check.Pass("the client continued in a version that the server lists: %s", list)
	},
}

var otherVersion = check.Check{
	ID: "other-version", Rule: "The client neither hangs nor crashes when the server speaks another version", Whole: true,
	Levels: check.SinceTools(report.Robust),
	Cases:  []string{"older-version", "older-era", "older-era-told", "older-era-discovered"},
	Needs:  append(needsVersions, endKnown),
	Cause:  "the client waits for a response that the server does not send, or repeats the same request without end",
	Fix:    "Handle an error response: try an older version with initialize, or end and report the server's versions.",
	Judge: func(e *evidence.Case) check.Verdict {
		s := e.Session
		speaks := strings.Join(s.Trace.Header.ServerRevisions, ", ")
		const expected = "expected the client to continue or end with a server of %s only, found that it "
		switch {
		case s.Ended.Deadline && e.Called:
			return check.NotObserved("the client continued in the server's version, and hung for another reason: %s", s.Ending())
		case s.Ended.Deadline:
			return check.Fail(expected+"hung: %s", speaks, s.Ending()).ShowOutput(s)
		case !evidence.EndedByItself(s.Ended):
			return check.Fail(expected+"crashed: %s", speaks, s.Crash()).ShowOutput(s)
		case e.Called:
			return check.Pass("the client continued in %s", speaks)
		}
		return check.Pass("the client ended: %s", s.Ending())
	},
}
