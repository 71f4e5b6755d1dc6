package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// weather is the handler that docs/migrating.md shows.
func weather(s *server.Session) (any, error) {
	ask := s.Ask("What is the weather in Paris?", server.Tool{Name: "get_weather"})
	first, err := s.Sample(ask)
	if err != nil {
		return nil, err
	}
	return s.Sample(ask.After(first, func(uses []server.ToolUseContent) []server.ToolResultContent {
		return []server.ToolResultContent{uses[0].Result(server.Text("18°C"))}
	}))
}

// docs/migrating.md shows the frames of real sessions.
func TestThePageOnMigratingShowsRealFrames(t *testing.T) {
	const path = "../docs/migrating.md"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	page := string(raw)
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		block := regexp.MustCompile(`(?s)<!-- frames ` + string(revision) +
			` -->\n(.*?)<!-- end -->`).FindStringSubmatchIndex(page)
		require.NotNil(t, block, revision)
		shown := frames(t, revision)
		if !*update {
			require.Equal(t, shown, page[block[2]:block[3]], "update the page with go test ./conformance -run Migrating -update")
		}
		page = page[:block[2]] + shown + page[block[3]:]
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
}

// Every check that the page names exists.
func TestThePageOnMigratingNamesChecks(t *testing.T) {
	raw, err := os.ReadFile("../docs/migrating.md")
	require.NoError(t, err)
	var known []string
	for _, s := range conformance.Scenarios() {
		for _, c := range s.Checks {
			known = append(known, c.ID)
		}
	}
	named := regexp.MustCompile("`((?:mrtr|declare)/[a-z-]+)`").FindAllStringSubmatch(string(raw), -1)
	require.NotEmpty(t, named)
	for _, match := range named {
		require.Contains(t, known, match[1])
	}
}

// frames plays the weather with the reference client and returns its frames as Markdown.
func frames(t *testing.T, revision server.Revision) string {
	c := harness.Case{ID: "tour/weather", Handler: weather, Script: func(string) []*llm.Rule {
		return []*llm.Rule{
			llm.When(llm.Turn(1)).Reply(llm.Call("get_weather", `{"city":"Paris"}`)),
			llm.When(llm.Turn(2)).Reply(llm.Text("It is 18°C in Paris."))}
	}}
	r := harness.Runner{Client: harness.InProcess(reference.Client(reference.Config{Dialect: dialect.Native})),
		Revision: revision, Seed: 1,
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	var page strings.Builder
	require.NoError(t, r.Run(t.Context(), []harness.Case{c}, func(tr *trace.Trace) {
		for _, e := range tr.Events {
			writeFrame(t, &page, &e)
		}
	}))
	return page.String()
}

// writeFrame writes the sender of a frame, its protocol headers and its message.
func writeFrame(t *testing.T, page *strings.Builder, e *trace.Event) {
	f := e.Frame
	if f == nil || f.Closed {
		return
	}
	who := "server → client"
	if f.Dir == trace.FromClient {
		who = "client → server"
	}
	fmt.Fprintf(page, "**%s**", who)
	switch {
	case f.HTTP != nil && f.HTTP.Method != "":
		fmt.Fprintf(page, ", %s", f.HTTP.Method)
	case f.HTTP != nil && f.HTTP.Header["Content-Type"] == "text/event-stream", f.HTTP == nil:
		page.WriteString(", on the stream")
	}
	page.WriteString("\n\n")
	var lines []string
	if f.HTTP != nil {
		for name, value := range f.HTTP.Header {
			if strings.HasPrefix(name, "Mcp-") {
				lines = append(lines, name+": "+value)
			}
		}
		slices.Sort(lines)
	}
	if len(f.Raw) > 0 {
		if lines != nil {
			lines = append(lines, "")
		}
		var b bytes.Buffer
		require.NoError(t, json.Indent(&b, f.Raw, "", "  "))
		lines = append(lines, b.String())
	}
	if lines != nil {
		fmt.Fprintf(page, "```http\n%s\n```\n\n", strings.Join(lines, "\n"))
	}
}
