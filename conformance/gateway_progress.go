package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// laterMessage returns the place of the first later message that passed on a leg in the direction; 0 for none.
func laterMessage(l *leg, note *legMessage, dir trace.Direction) int {
	first := 0
	see := func(m *legMessage) {
		if m != nil && m.frame.Dir == dir && m.at > note.at && (first == 0 || m.at < first) {
			first = m.at
		}
	}
	for _, r := range l.requests {
		see(&r.legMessage)
		see(r.response)
	}
	return first
}

func judgeProgress(l *legs, j *legJudge) {
	for _, way := range []struct {
		name     string
		dir      trace.Direction
		from, to *leg
		all      []*legRequest // on the leg to which it passes
	}{
		{down, trace.ToClient, l.back, l.front, l.calls},
		{up, trace.FromClient, l.front, l.back, l.samples},
	} {
		lostTokens(j, way.all)
		for _, note := range way.from.notes {
			if note.Method != evidence.MethodProgress || note.frame.Dir != way.dir || note.frame.Hostile {
				continue
			}
			of := reportedOn(note, way.all)
			if of == nil || tokenOf(of) == nil {
				continue
			}
			j.compared++
			if found := progressOn(way.to, note, of, way.name); found != nil {
				j.add(found)
			}
		}
		repeatedProgress(j, way.from, way.to, way.dir)
	}
}

// repeatedProgress finds notifications that came before, and that the sender sent less often.
func repeatedProgress(j *legJudge, from, to *leg, dir trace.Direction) {
	like := func(l *leg, m *legMessage) (n int) {
		for _, other := range l.notes {
			if sameProgress(m, other) {
				n++
			}
		}
		return n
	}
	for n, m := range to.notes {
		if m.Method != evidence.MethodProgress || m.frame.Dir != dir {
			continue
		}
		first := slices.IndexFunc(to.notes[:n], func(other *legMessage) bool {
			return sameProgress(m, other) && jsonvalue.Same(m.Params, other.Params)
		})
		if first >= 0 && like(to, m) > like(from, m) {
			text := fmt.Sprintf("expected the progress of the token %s once, found it twice",
				jsonvalue.Part(m.Params, "progressToken"))
			j.add(&finding{"a repetition", text, []report.Evidence{
				shownMessage("passed on", to.notes[first], "params"), shownMessage("passed on", m, "params")}})
		}
	}
}

// reportedOn returns the request on the leg to which a progress notification passes; nil for none. It is the latest one
// with the token: a token may come again with another request.
func reportedOn(note *legMessage, all []*legRequest) *legRequest {
	var latest *legRequest
	for _, r := range all {
		if r.other != nil && r.other.at < note.at && r.other.frame.Session == note.frame.Session &&
			sameToken(tokenOf(r.other), jsonvalue.Part(note.Params, "progressToken")) &&
			(latest == nil || latest.other.at < r.other.at) {
			latest = r
		}
	}
	return latest
}

// lostTokens finds requests whose progress token did not get through.
func lostTokens(j *legJudge, all []*legRequest) {
	for _, r := range all {
		if r.other == nil || r.frame.Hostile || tokenOf(r) == nil || tokenOf(r.other) != nil {
			continue
		}
		way := down
		if r.frame.Dir == trace.FromClient {
			way = up
		}
		text := fmt.Sprintf("the progress token %s of %s is lost %s: its receiver cannot report progress", tokenOf(r),
			described(r), way)
		j.add(&finding{"a lost token", text, []report.Evidence{shownMessage("sent", &r.legMessage, "params._meta"),
			shownMessage("passed on", &r.other.legMessage, "params._meta")}})
	}
}

// progressOn looks for a progress notification on the leg to which it passes. r is its request on that leg.
func progressOn(to *leg, note *legMessage, r *legRequest, way string) *finding {
	var other *legMessage
	for _, m := range to.notes {
		if m.at < note.at || !sameProgress(m, note) {
			continue
		}
		if sameToken(jsonvalue.Part(m.Params, "progressToken"), tokenOf(r)) {
			return late(note, m, r, way)
		}
		if other == nil {
			other = m
		}
	}
	what := fmt.Sprintf("the progress of request %s", r.other.ID)
	if other != nil {
		text := fmt.Sprintf("%s: expected the token %s of request %s, found %s", what, tokenOf(r), r.ID,
			jsonvalue.Part(other.Params, "progressToken"))
		return &finding{"a wrong token", text, []report.Evidence{shownMessage("passed on", other, "params")}}
	}
	if r.response == nil || r.response.frame.Dir != note.frame.Dir || r.response.at < note.at {
		return nil // the request may have ended early
	}
	return lost(what, way, note)
}

// late is the finding for progress that was sent before the response to its request, and passed on after it. Messages
// of two streams, or of two POSTs, may overtake each other.
func late(sent, passed *legMessage, r *legRequest, way string) *finding {
	response, original := r.response, r.other.response
	switch {
	case response == nil, response.frame.Dir != passed.frame.Dir, response.at > passed.at,
		original == nil, original.at < sent.at:
		return nil
	case response.frame.Stream != passed.frame.Stream, passed.frame.Dir == trace.FromClient && passed.frame.HTTP != nil:
		return nil
	}
	text := fmt.Sprintf("expected the progress of request %s before its response, found it after it %s", r.other.ID, way)
	return &finding{"late progress", text, []report.Evidence{shownMessage("sent", sent, "params"),
		shownMessage("response", r.response, ""), shownMessage("passed on", passed, "params")}}
}

// sameProgress reports whether two notifications of one direction say the same, but for the token.
func sameProgress(a, b *legMessage) bool {
	said := func(m *legMessage) map[string]any {
		o := ownParams(m.Params)
		delete(o, "progressToken")
		return o
	}
	return a.Method == b.Method && a.frame.Dir == b.frame.Dir && jsonvalue.Equal(said(a), said(b))
}

func tokenOf(r *legRequest) json.RawMessage { return jsonvalue.Part(r.Params, "_meta.progressToken") }

func sameToken(a, b json.RawMessage) bool { return a != nil && b != nil && jsonvalue.Same(a, b) }
