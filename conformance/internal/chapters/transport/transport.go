package transport

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The ways in which messages come and go. Over Streamable HTTP: on the stream of the call, on the one that the client opened, as plain JSON, under ids
// that others have too, over connections and sessions that end, and in streams that are written in every legal way. Over stdio, from a server that
// may end. In batches, and in a version that both sides speak.
var Scenario = check.Scenario{
	ID:        "transport",
	Purpose:   "streams that break, sessions that are lost, and all the ways in which a message may come",
	Revisions: check.AllRevisions(),
	Cases: slices.Concat([]harness.Case{
		story.Delivered(harness.Case{ID: "transport/plain", Responses: server.JSON, Revisions: check.WithTools}, playPlain),
		story.Delivered(harness.Case{ID: "transport/get-stream", Revisions: check.NewestLegacy}, playListening),
		story.Delivered(harness.Case{ID: "transport/post-stream", Revisions: check.NewestLegacy}, playOnce(asIs)),
		story.Delivered(harness.Case{ID: "transport/same-id", Revisions: check.NewestLegacy}, playOnce(server.UnderCallID)),
		story.Pondered(harness.Case{ID: "transport/repeated", Revisions: check.NewestLegacy}, playRepeated),
		story.Delivered(harness.Case{ID: "transport/events", Responses: server.SSE, Revisions: check.WithTools}, playStyles(usualStyles)),
		story.Delivered(harness.Case{ID: "transport/rare-events", Responses: server.SSE, Revisions: check.WithTools, Isolated: true}, playStyles(rareStyles)),
		story.Pondered(harness.Case{ID: "transport/disconnect", Revisions: check.NewestLegacy, Wait: comeBackAfter + returnPatience}, playDisconnect),
		story.Delivered(harness.Case{ID: "transport/lost-session", Revisions: check.NewestLegacy, Isolated: true}, playSessionLost),
		story.Delivered(harness.Case{ID: "transport/encoded-name", Name: "Größe in 東京", Carrier: server.PromptsGet, Revisions: newestModern}, playOnce(asIs)),
		story.Delivered(harness.Case{ID: "transport/look-alike-name", Name: "=?base64?bG9vay1hbGlrZQ==?=", Carrier: server.PromptsGet, Revisions: newestModern}, playOnce(asIs)),
	}, stdioCases, batchCases, versionCases),
	Checks: slices.Concat([]check.Check{
		onPostStream, onGETStream, acceptsJSON, acceptHeader, idCollision, duplicateRequest, reconnects, retryHonoured, answersOnceResumed,
		sessionLost, handlersSurvive, endsSession, responsePost, oneMessage, ownIDs, sseDetails, sseRare, headerValue,
	}, stdioChecks, batchChecks, versionChecks),
}

// newestModern is the revision in which headers repeat what is in the body.
var newestModern = []server.Revision{server.V20260728}

const (
	// comeBackAfter is what a client is told to wait. Clients that do not heed it come back at once, or after a second of their own.
	comeBackAfter = 1200 * time.Millisecond
	// returnPatience is how much longer it is waited for.
	returnPatience = 6 * time.Second

	// readPatience is how long a client may take to answer a ping while it samples.
	readPatience = 2 * time.Second
)

// playOnce asks one question, in a way of its own.
func playOnce(way func(any) any) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, err := s.Start(way(s.Ask("Does this come through?")))
		if err != nil {
			return nil, err
		}
		story.Wait(s, asked)
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
	ctx, cancel := context.WithTimeout(s.Context(), story.ListenPatience)
	defer cancel()
	if !s.Listens(ctx) {
		return "no stream to ask on", nil
	}
	return playOnce(server.OnGET)(s)
}

// playRepeated sends a request once more while the model thinks about it, and then another one. A client that answers a ping has read what was sent before
// it; one that does one thing after the other answers none until then.
func playRepeated(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, word, err := story.StartPondering(s, gate)
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
		story.Wait(s, asked)
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		story.Wait(s, later)
		return "done", nil
	}
}

// playDisconnect closes the connection while the model thinks about a sample, and asks another question once the client has come back. The call is
// answered on the stream that it then has.
func playDisconnect(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if err := s.Resumable(); errors.Is(err, server.ErrNoStream) {
			return "no stream to come back for", nil
		} else if err != nil {
			return nil, err
		}
		asked, word, err := story.StartPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		if err := s.Disconnect(comeBackAfter); err != nil {
			return nil, err
		}
		if !story.Either(comeBackAfter+returnPatience, s.Resumed(), s.Context().Done()) || s.Context().Err() != nil {
			return "nobody came back", nil
		}
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		story.Wait(s, later)
		gate.Open(word)
		story.Wait(s, asked)
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
