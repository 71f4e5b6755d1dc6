package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// gatewayStreams: a sampling request reaches the client on the stream of its call.
const gatewayStreams = "streams"

// judgeStreams judges sessions in which the server sends requests: in later revisions they are in the response.
func judgeStreams(l *legs, j *legJudge) {
	if server.Revision(j.trace.Header.Revision).Modern() {
		return
	}
	for _, r := range l.samples {
		if r.other == nil || r.frame.Hostile || r.other.frame.Stream == "" || j.resumes(r.other) {
			continue
		}
		call := j.callOf(l, r)
		if call == nil || call.response == nil {
			continue
		}
		j.compared++
		if r.other.frame.Stream == call.response.frame.Stream {
			continue
		}
		where := "on that of another call"
		if strings.HasPrefix(r.other.frame.Stream, "get") {
			where = "on a GET stream, which a client need not have"
		}
		text := fmt.Sprintf("the sampling request %s: expected it on the response stream of its call, %s, found it %s", r.ID,
			described(call), where)
		j.add(&finding{"", text, []report.Evidence{shownMessage("server sent", &r.legMessage, ""),
			shownMessage("client received", &r.other.legMessage, "")}})
	}
}

// callOf returns the client's call during which the server asks; nil if the gateway cannot know it. Over stdio it knows
// it from the one call that is open; over HTTP the server says so with the stream.
func (j *legJudge) callOf(l *legs, r *legRequest) *legRequest {
	asked := j.trace.Events[r.at]
	var of *legRequest
	open := 0
	for _, c := range l.calls {
		if c.other == nil || c.other.at > r.at || c.frame.Session != r.other.frame.Session {
			continue
		}
		if e := j.trace.Events[c.other.at]; e.Case == asked.Case && e.Call == asked.Call {
			of = c
		}
		if c.response == nil || c.response.at > r.other.at {
			open++
		}
	}
	switch {
	case of == nil, r.frame.Stream == "" && open > 1,
		r.frame.Stream != "" && (of.other.response == nil || of.other.response.frame.Stream != r.frame.Stream):
		return nil
	}
	return of
}

// resumes reports whether a message may be on a GET stream that resumes that of a call.
func (j *legJudge) resumes(r *legRequest) bool {
	return slices.ContainsFunc(j.trace.Events, func(e trace.Event) bool {
		return e.Front != nil && e.Front.HTTP != nil && e.Front.HTTP.Header["Last-Event-Id"] != "" &&
			e.Front.Session == r.frame.Session
	})
}
