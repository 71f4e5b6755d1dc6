package malformed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

func TestRequestsAreValidBeforeTheyAreBroken(t *testing.T) {
	for _, revision := range revisions {
		for n := range 60 {
			raw := request(seeded(1, n), server.Revision(revision).HasSamplingTools()).Bytes()
			require.NoError(t, schema.Validate(revision, schema.CreateMessageRequestParams, raw), "%s: %s", revision, raw)
			require.Contains(t, string(raw), MarkPlaceholder)
		}
	}
}

func TestEveryFrameIsJSONAndMostAreInvalid(t *testing.T) {
	for _, revision := range revisions {
		wrong, tools := 0, 0
		seen := map[string]bool{}
		for n := range 120 {
			f := Generate(revision, 7, n)
			require.True(t, json.Valid(f.Params), "%s", f.Params)
			require.NotEmpty(t, f.Broken)
			require.False(t, f.Tools && !server.Revision(revision).HasSamplingTools(), "%s", f.Params)
			require.NotContains(t, string(f.Params), "\n", "stdio frames are lines")
			if schema.Validate(revision, schema.CreateMessageRequestParams, f.Params) != nil {
				wrong++
			}
			if f.Tools {
				tools++
			}
			seen[string(f.Params)] = true
		}
		require.Greater(t, wrong, 70, "%s: most frames are invalid", revision)
		require.Less(t, wrong, 120, "%s: some frames are valid", revision)
		require.Equal(t, server.Revision(revision).HasSamplingTools(), tools > 25)
		require.Greater(t, len(seen), 105, "they differ")
	}
}

func TestTheSameSeedGivesTheSameFrames(t *testing.T) {
	for n := range 50 {
		require.Equal(t, Generate("2025-11-25", 3, n), Generate("2025-11-25", 3, n))
		require.NotEqual(t, Generate("2025-11-25", 3, n).Params, Generate("2025-11-25", 4, n).Params)
	}
}

func TestEveryWayToBreakIsUsed(t *testing.T) {
	var said strings.Builder
	for n := range 700 {
		said.WriteString(Generate("2025-11-25", 1, n).Broken + "\n")
	}
	for _, how := range []string{" is missing", ` is "seven"`, " is null", `role is "system"`, `type is "`,
		"is in an array", "is in an object",
		"is in 640 arrays", `data is "not base64!"`, " is 1e400", "occurs twice", `is "\ud800"`, " is []", "is repeated ",
		`has a member "__proto__"`, ", and "} {
		require.True(t, strings.Contains(said.String(), how), how)
	}
}

// Frames are valid JSON for any seed.
func FuzzGenerate(f *testing.F) {
	f.Add(int64(1), 0)
	f.Add(int64(-1), 1<<40)
	f.Fuzz(func(t *testing.T, seed int64, n int) {
		for _, revision := range revisions {
			frame := Generate(revision, seed, n)
			require.True(t, json.Valid(frame.Params))
			again, err := NewFrame(frame.Params)
			require.NoError(t, err)
			again.Broken = frame.Broken
			require.Equal(t, frame, again)
		}
	})
}
