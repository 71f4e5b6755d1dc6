package conformance

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Checks that compare the two legs message by message.
const (
	gatewayRequests  = "requests"
	gatewayAnswers   = "answers"
	gatewayCalls     = "calls"
	gatewayCancels   = "cancels"
	gatewayProgress  = "progress"
	gatewayDelivered = "delivered-once"
	gatewayWritten   = "only-messages"
	gatewayValid     = "valid-messages"
)

// Directions of a message, for verdicts.
const (
	down = "on the way down, from the server to the client"
	up   = "on the way up, from the client to the server"
)

// finding is what is wrong with one message. What is short names what findings of one bug have in common.
type finding struct {
	short, text string
	evidence    []report.Evidence
}

// legChecks are the checks, in the order of the report.
var legChecks = []struct {
	id    string
	what  string // that passed, in plural
	judge func(*legs, *legJudge)
}{
	{gatewayRequests, "sampling requests reach the client unchanged", judgeRequests},
	{gatewayAnswers, "responses to sampling requests reach the server unchanged", judgeAnswers},
	{gatewayCalls, "calls, retries and their results pass unchanged", judgeCalls},
	{gatewayCancels, "cancels pass, with the id of their request", judgeCancels},
	{gatewayProgress, "progress notifications pass, with the token of their request", judgeProgress},
	{gatewayDelivered, "sampling requests are delivered once", judgeDelivered},
	{gatewayValid, "messages for the client are valid", judgeValid},
	{gatewayWritten, "the gateway's standard output and events have only messages", judgeWritten},
	{gatewayStreams, "sampling requests reach the client on the stream of their call", judgeStreams},
}

// legJudge judges one session by one check.
type legJudge struct {
	trace    *trace.Trace
	compared int // messages
	found    []located
}

// located is a finding in the trace of its session.
type located struct {
	*finding
	in *trace.Trace
}

func (j *legJudge) add(f *finding) { j.found = append(j.found, located{f, j.trace}) }

// calm are the scenarios in which nothing breaks the session: there no message may be lost.
var calm = jsonvalue.Set("basic tool-use parallel loop consent mrtr provider-errors client-loop gateway")

// isCalm reports whether nothing that happens to a request may end it.
func (j *legJudge) isCalm(r *legRequest) bool {
	id := r.ref.Case
	if id == "" && r.Method != sampling {
		id = j.caseOf(r)
	}
	scenario, _, _ := strings.Cut(id, "/")
	return calm[scenario]
}

// caseOf is the case of a call on the front leg; "" for none, as of a tool that another server behind the gateway has.
func (j *legJudge) caseOf(r *legRequest) string {
	name := nameOf(r)
	for _, c := range j.trace.Header.Cases {
		if sameName(name, c.Tool) {
			return c.ID
		}
	}
	return ""
}

// judgeLegs judges all sessions of a revision.
func judgeLegs(traces []*trace.Trace, revision string) []report.Result {
	judges := make([]legJudge, len(legChecks)) // of all sessions
	for _, t := range traces {
		recorded := func(e trace.Event) bool { return e.Front != nil }
		if t.Header.Revision != revision || !slices.ContainsFunc(t.Events, recorded) {
			continue
		}
		l := readLegs(t)
		for i, c := range legChecks {
			judges[i].trace = t
			c.judge(l, &judges[i])
		}
	}
	var results []report.Result
	for i, c := range legChecks {
		r := report.Result{Scenario: gatewayScenario, Check: c.id, Revision: revision, Level: report.Robust,
			Verdict: report.Pass, Message: fmt.Sprintf("%s: %d compared", c.what, judges[i].compared)}
		found := judges[i].found
		slices.SortStableFunc(found, func(a, b located) int {
			return cmp.Or(strings.Compare(a.short, b.short), strings.Compare(a.text, b.text))
		})
		switch {
		case len(found) > 0:
			r.Verdict, r.Message, r.Evidence = report.Fail, found[0].text+others(found), found[0].evidence
			r.Case = firstCase(r.Evidence)
			r.Around = check.Around(evidence.Decode(found[0].in), r.Evidence)
		case judges[i].compared == 0:
			r.Verdict, r.Message = report.NotApplicable, "no such message passed"
		}
		results = append(results, r)
	}
	return results
}

// firstCase is the case of the first message that names one: a message on the front leg does not.
func firstCase(messages []report.Evidence) string {
	for _, one := range messages {
		if one.Case != "" {
			return one.Case
		}
	}
	return ""
}

// others names what else is wrong than the first finding.
func others(found []located) string {
	var names []string
	for _, f := range found[1:] {
		if f.short != found[0].short && !slices.Contains(names, f.short) {
			names = append(names, f.short)
		}
	}
	if names == nil {
		return ""
	}
	return "; also: " + strings.Join(names, ", ")
}

// changed is a message that a gateway changed.
func changed(what, path, way string, want, got any, from, to *legMessage) *finding {
	text := fmt.Sprintf("%s: expected %s %s as on the other side, found %s: it changed %s", what, path, shownValue(want),
		shownValue(got), way)
	return &finding{general(path), text,
		[]report.Evidence{shownMessage("sent", from, path), shownMessage("passed on", to, path)}}
}

// lost is a message that did not get through, although later ones did.
func lost(what, way string, m *legMessage) *finding {
	return &finding{"a lost " + cmp.Or(strings.TrimPrefix(m.Method, "notifications/"), "response"),
		fmt.Sprintf("%s is lost %s: later ones pass", what, way), []report.Evidence{shownMessage("sent", m, "")}}
}

var ownNames = regexp.MustCompile(`\[\d+\]|inputRequests\.[^.]*|inputResponses\.[^.]*`)

// general returns a path without what differs between messages: indexes, and the keys of inputs.
func general(path string) string {
	return ownNames.ReplaceAllStringFunc(path, func(part string) string {
		if name, _, ok := strings.Cut(part, "."); ok {
			return name + ".*"
		}
		return "[]"
	})
}

func shownMessage(label string, m *legMessage, path string) report.Evidence {
	text := shownValue(jsonvalue.Decode(m.frame.Raw))
	if part := jsonvalue.Part(m.frame.Raw, path); part != nil && path != "" {
		text = shownValue(jsonvalue.Decode(part))
	}
	return report.Evidence{Label: label, Event: m.Method, Case: m.ref.Case, Seq: m.ref.Seq, Path: path, Text: text}
}

// laterPassed reports whether a later request of the same kind passed: the leg was still open.
func laterPassed(all []*legRequest, r *legRequest, passed func(*legRequest) bool) bool {
	return slices.ContainsFunc(all, func(other *legRequest) bool { return other.at > r.at && passed(other) })
}

func judgeRequests(l *legs, j *legJudge) {
	for _, r := range l.samples {
		if r.frame.Hostile {
			continue
		}
		if r.other == nil {
			reached := func(other *legRequest) bool { return other.other != nil }
			if r.response == nil && j.isCalm(r) && laterPassed(l.samples, r, reached) {
				j.add(lost(fmt.Sprintf("the sampling request %s", r.ID), down, &r.legMessage))
			}
			if r.response != nil && r.response.Error == nil {
				j.add(&finding{"an answer of its own", fmt.Sprintf("the sampling request %s has a result, and no client was "+
					"asked: it is answered on its way down", r.ID),
					[]report.Evidence{shownMessage("server received", r.response, "")}})
			}
			continue
		}
		j.compared++
		if path, want, got := requestDifference(r, r.other); path != "" {
			j.add(changed("sampling request "+string(r.ID), path, down, want, got, &r.legMessage, &r.other.legMessage))
		}
	}
}

func judgeAnswers(l *legs, j *legJudge) {
	for _, r := range l.samples {
		if r.frame.Hostile || r.other == nil || r.other.response == nil {
			continue
		}
		what := "the response to the sampling request " + string(r.ID)
		if r.response == nil {
			returned := func(other *legRequest) bool { return other.response != nil }
			if j.isCalm(r) && laterPassed(l.samples, r, returned) {
				j.add(lost(what, up, r.other.response))
			}
			continue
		}
		if r.response.at < r.other.response.at {
			j.add(&finding{"an early answer", what + " came before the client had given it: it is not the client's",
				[]report.Evidence{shownMessage("server received", r.response, "")}})
			continue
		}
		j.compared++
		if path, want, got := responseDifference(r.other.response, r.response); path != "" {
			j.add(changed(what, path, up, want, got, r.other.response, r.response))
		}
	}
}

func judgeCalls(l *legs, j *legJudge) {
	for _, r := range l.calls {
		what := described(r)
		if r.other == nil {
			judgeStopped(l, j, r, what)
			continue
		}
		j.compared++
		if path, want, got := requestDifference(r, r.other); path != "" {
			j.add(changed(what, path, up, want, got, &r.legMessage, &r.other.legMessage))
		}
		answer := r.other.response
		if answer == nil || answer.frame.Hostile {
			continue
		}
		if r.response == nil {
			returned := func(other *legRequest) bool { return other.response != nil }
			if j.isCalm(r) && laterPassed(l.calls, r, returned) {
				j.add(lost("the response to "+what, down, answer))
			}
			continue
		}
		if path, want, got := responseDifference(answer, r.response); path != "" {
			j.add(changed("the response to "+what, path, down, want, got, answer, r.response))
		}
	}
}

// described names a request by its method and what it calls.
func described(r *legRequest) string { return strings.TrimSpace(r.Method + " " + nameOf(r)) }

// judgeStopped judges a call that did not reach the server.
func judgeStopped(l *legs, j *legJudge, r *legRequest, what string) {
	reached := func(other *legRequest) bool { return other.other != nil }
	if r.response == nil && j.isCalm(r) && laterPassed(l.calls, r, reached) {
		j.add(lost(what, up, &r.legMessage))
	}
	if r.response != nil && r.response.Error == nil && !r.response.frame.Hostile && j.caseOf(r) != "" {
		j.add(&finding{"an answer of its own", what + " has a result, and the server was not asked: it is answered on its " +
			"way up", []report.Evidence{shownMessage("client received", r.response, "")}})
	}
}

// judgeDelivered finds requests and responses that the client got and the server did not send.
func judgeDelivered(l *legs, j *legJudge) {
	for _, r := range l.calls {
		if r.again != nil && r.other != nil && r.other.again == nil {
			text := fmt.Sprintf("expected one response to %s, whose id is %s, found two", described(r), r.ID)
			j.add(&finding{"a second response", text, []report.Evidence{shownMessage("client received", r.response, ""),
				shownMessage("client received", r.again, "")}})
		}
	}
	for _, r := range l.front.requests {
		if r.Method != sampling || r.frame.Dir != trace.ToClient {
			continue
		}
		j.compared++
		if r.other != nil {
			continue
		}
		for _, sent := range l.samples {
			if sent.other != nil && sameRequest(sent, r) {
				text := fmt.Sprintf("expected the sampling request %s once at the client, found it twice: with the ids %s and %s",
					sent.ID, sent.other.ID, r.ID)
				j.add(&finding{"", text, []report.Evidence{shownMessage("server sent", &sent.legMessage, ""),
					shownMessage("client received", &r.legMessage, "")}})
				break
			}
		}
	}
}

func judgeCancels(l *legs, j *legJudge) {
	for _, way := range []struct {
		name     string
		dir      trace.Direction
		from, to *leg
		all      []*legRequest
	}{
		{down, trace.ToClient, l.back, l.front, l.samples},
		{up, trace.FromClient, l.front, l.back, l.calls},
	} {
		for _, note := range way.from.notes {
			r := cancelled(note, way.dir, way.all)
			if r == nil || r.other == nil || r.other.response != nil && r.other.response.at < note.at ||
				j.closesStream(r.other) {
				continue
			}
			if slices.ContainsFunc(way.to.notes, func(other *legMessage) bool { return names(other, way.dir, r.other) }) {
				j.compared++
				continue
			}
			what := fmt.Sprintf("the cancel of request %s, which has the id %s on the other side,", r.ID, r.other.ID)
			other := cancelAfter(way.to, note, way.dir)
			passed := laterMessage(way.to, note, way.dir)
			if other != nil {
				passed = other.at
			}
			if r.other.response != nil && r.other.response.at < passed {
				continue // The gateway may have had the response first: the two crossed.
			}
			j.compared++
			if other != nil {
				j.add(&finding{"a wrong id", fmt.Sprintf("%s names %s there", what, jsonvalue.Part(other.Params, "requestId")),
					[]report.Evidence{shownMessage("sent", note, "params.requestId"),
						shownMessage("passed on", other, "params.requestId")}})
			} else if passed > 0 {
				j.add(lost(what, way.name, note))
			}
		}
	}
}

// closesStream reports whether the cancel of a request is not a message: a modern client closes the stream of a call
// over HTTP. cancel/call-cancelled judges that.
func (j *legJudge) closesStream(r *legRequest) bool {
	return r.frame.Dir == trace.FromClient && r.frame.HTTP != nil && server.Revision(j.trace.Header.Revision).Modern()
}

// cancelled returns the request that a notification cancels; nil for none.
func cancelled(note *legMessage, dir trace.Direction, all []*legRequest) *legRequest {
	if note.Method != evidence.MethodCancelled || note.frame.Dir != dir || note.frame.Hostile {
		return nil
	}
	i := slices.IndexFunc(all, func(r *legRequest) bool { return r.at < note.at && names(note, dir, r) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// names reports whether a notification cancels a request.
func names(note *legMessage, dir trace.Direction, r *legRequest) bool {
	return note.Method == evidence.MethodCancelled && note.frame.Dir == dir && note.frame.Session == r.frame.Session &&
		jsonvalue.Same(jsonvalue.Part(note.Params, "requestId"), r.ID)
}

// cancelAfter returns the first later cancel that passed on a leg in the direction; nil for none.
func cancelAfter(l *leg, note *legMessage, dir trace.Direction) *legMessage {
	for _, other := range l.notes {
		if other.at > note.at && other.Method == evidence.MethodCancelled && other.frame.Dir == dir {
			return other
		}
	}
	return nil
}
