package chapters_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/provider"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// aboutImage is a question behind an image and its answer.
func aboutImage(text string) *server.CreateMessageParams {
	p := tracetest.Asking(text)
	p.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Image("image/png", []byte("map"))},
		{Role: "assistant", Content: server.Text("I see.")}}, p.Messages...)
	return p
}

// continuesIn goes on with another case of the session.
func continuesIn(s *session, caseID string) *session {
	s.CaseID, s.Call = caseID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: caseID})
	s.Calls()
	return s
}

// A client may refuse all images. One that serves some has another reason to refuse a request behind an image.
func TestAStoryBehindAnImageNeedsAClientThatTakesImages(t *testing.T) {
	for _, c := range []struct {
		name   string
		ask    *server.CreateMessageParams
		served bool
		want   report.Verdict
	}{
		{"refused", aboutImage("?"), false, report.NotApplicable},
		{"without an image", tracetest.Asking("?"), false, report.NotObserved},
		{"served in another case", aboutImage("?"), true, report.NotObserved},
	} {
		s := tracetest.Begin(t, check.Catalogue{provider.Scenario}, server.V20251125, dialect.Native,
			"provider-errors/unauthorized-after-image")
		s.Asks(c.ask).Refuses(-32603, "no")
		if c.served {
			continuesIn(s, "provider-errors/rate-limited-after-image").
				Asks(aboutImage("And?")).Fails(429).Refuses(-32603, "busy")
		}
		got := s.Ends(trace.Process{}).Result("provider-errors/error-code")
		require.Equal(t, c.want, got.Verdict, "%s: %s", c.name, got.Message)
	}
}
