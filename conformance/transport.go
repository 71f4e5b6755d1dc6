package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The ways in which messages come and go. Over Streamable HTTP: on the stream of the call, on the one that the client opened, as plain JSON, under ids
// that others have too, over connections and sessions that end, and in streams that are written in every legal way. Over stdio, from a server that
// may end. In batches, and in a version that both sides speak.
var transporting = Scenario{
	ID:        "transport",
	Purpose:   "streams that break, sessions that are lost, and all the ways in which a message may come",
	Revisions: AllRevisions(),
	Cases: slices.Concat([]harness.Case{
		delivered(harness.Case{ID: "transport/plain", Responses: server.JSON, Revisions: withTools}, playPlain),
		delivered(harness.Case{ID: "transport/get-stream", Revisions: newestLegacy}, playListening),
		delivered(harness.Case{ID: "transport/post-stream", Revisions: newestLegacy}, playOnce(asIs)),
		delivered(harness.Case{ID: "transport/same-id", Revisions: newestLegacy}, playOnce(server.UnderCallID)),
		pondered(harness.Case{ID: "transport/repeated", Revisions: newestLegacy}, playRepeated),
		delivered(harness.Case{ID: "transport/events", Responses: server.SSE, Revisions: withTools}, playStyles(usualStyles)),
		delivered(harness.Case{ID: "transport/rare-events", Responses: server.SSE, Revisions: withTools, Isolated: true}, playStyles(rareStyles)),
		pondered(harness.Case{ID: "transport/disconnect", Revisions: newestLegacy, Wait: comeBackAfter + returnPatience}, playDisconnect),
		delivered(harness.Case{ID: "transport/lost-session", Revisions: newestLegacy, Isolated: true}, playSessionLost),
		delivered(harness.Case{ID: "transport/encoded-name", Name: "Größe in 東京", Carrier: server.PromptsGet, Revisions: newestModern}, playOnce(asIs)),
		delivered(harness.Case{ID: "transport/look-alike-name", Name: "=?base64?bG9vay1hbGlrZQ==?=", Carrier: server.PromptsGet, Revisions: newestModern}, playOnce(asIs)),
	}, stdioCases, batchCases, versionCases),
	Checks: slices.Concat([]Check{
		onPostStream, onGETStream, acceptsJSON, acceptHeader, idCollision, duplicateRequest, reconnects, retryHonoured, answersOnceResumed,
		sessionLost, handlersSurvive, endsSession, responsePost, oneMessage, ownIDs, sseDetails, sseRare, headerValue,
	}, stdioChecks, batchChecks, versionChecks),
}

// newestLegacy is the revision whose transport is judged of those with sessions: the others know no priming events and no retry, and their clients
// speak the same code.
var newestLegacy = []server.Revision{server.V20251125}

// newestModern is the revision in which headers repeat what is in the body.
var newestModern = []server.Revision{server.V20260728}

func inNewestLegacy(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20251125: l}
}

const (
	// comeBackAfter is what a client is told to wait. Clients that do not heed it come back at once, or after a second of their own.
	comeBackAfter = 1200 * time.Millisecond
	// returnPatience is how much longer it is waited for.
	returnPatience = 6 * time.Second
	// listenPatience is how long a stream is waited for that a client may open, and need not: those that do have begun before they call a tool, and
	// on a busy machine it may be the slower of the two.
	listenPatience = 2 * time.Second
	// readPatience is how long a client may take to answer a ping while it samples.
	readPatience = 2 * time.Second
)

// said is the model's answer to all that is asked here without a gate.
const said = "Delivered."

// delivered is a case with a barrier, in which the model has one answer.
func delivered(c harness.Case, play server.Handler) harness.Case {
	c.Barrier, c.Handler = true, play
	c.Script = func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text(said))) }
	return c
}

// wait waits for an answer, which a client may owe us for ever in the first era: what comes later is seen all the same. In the second the play
// ends with the client's retry.
func wait(s *server.Session, asked *server.Pending) {
	if s.Revision().Modern() {
		<-asked.Done()
		return
	}
	either(reaction, asked.Done(), s.Context().Done())
}

// playOnce asks one question, in a way of its own.
func playOnce(way func(any) any) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, err := s.Start(way(s.Ask("Does this come through?")))
		if err != nil {
			return nil, err
		}
		wait(s, asked)
		return "done", nil
	}
}

// asIs is the way in which everything else is asked.
func asIs(ask any) any { return ask }

// playPlain has its call answered without a stream. In the first era there is then nothing to sample on, but the stream that a client may have opened.
func playPlain(s *server.Session) (any, error) {
	if !s.Revision().Modern() {
		return "a plain response", nil
	}
	return playOnce(asIs)(s)
}

// playListening asks on the stream that the client has opened, if it has.
func playListening(s *server.Session) (any, error) {
	ctx, cancel := context.WithTimeout(s.Context(), listenPatience)
	defer cancel()
	if !s.Listens(ctx) {
		return "no stream to ask on", nil
	}
	return playOnce(server.OnGET)(s)
}

// playRepeated sends a request once more while the model thinks about it, and then another one. A client that answers a ping has read what was sent before
// it; one that does one thing after the other answers none until then.
func playRepeated(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, word, err := startPondering(s, gate)
		defer gate.Open(word)
		if err == nil {
			err = s.Repeat(asked)
		}
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(s.Context(), readPatience)
		defer cancel()
		_ = s.Ping(ctx)
		gate.Open(word)
		wait(s, asked)
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		wait(s, later)
		return "done", nil
	}
}

// playDisconnect closes the connection while the model thinks about a sample, and asks another question once the client has come back. The call is
// answered on the stream that it then has.
func playDisconnect(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if err := s.Resumable(); errors.Is(err, server.ErrNoStream) {
			return "no stream to come back for", nil
		} else if err != nil {
			return nil, err
		}
		asked, word, err := startPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		if err := s.Disconnect(comeBackAfter); err != nil {
			return nil, err
		}
		if !either(comeBackAfter+returnPatience, s.Resumed(), s.Context().Done()) || s.Context().Err() != nil {
			return "nobody came back", nil
		}
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		wait(s, later)
		gate.Open(word)
		wait(s, asked)
		return "done", nil
	}
}

// playSessionLost ends the session with the first call of its tool; a client may make it again.
func playSessionLost(s *server.Session) (any, error) {
	if s.Call() == 1 {
		if err := s.EndSession(); err != nil && !errors.Is(err, server.ErrNoStream) {
			return nil, err
		}
	}
	return playOnce(asIs)(s)
}
