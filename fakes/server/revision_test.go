package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/replay"
)

func TestTheTableSaysWhatARevisionHas(t *testing.T) {
	has := func(r Revision) [5]bool {
		return [5]bool{r.Modern(), r.HasBatches(), r.HasSamplingTools(), r.HasTasks(), r.HasPrimingEvents()}
	}
	for revision, want := range map[Revision][5]bool{
		"":           {},
		"2024-11-05": {},
		V20250326:    {false, true, false, false, false},
		V20250618:    {false, false, false, false, false},
		V20251125:    {false, false, true, true, true},
		"2026-01-01": {false, false, true, true, true}, // unknown: as the one before it
		V20260728:    {true, false, true, false, false},
		"2099-01-01": has(AllRevisions()[len(AllRevisions())-1]),
	} {
		require.Equal(t, want, has(revision), "%q", revision)
	}
	require.Empty(t, V20251125.StateMember())
	require.Equal(t, "requestState", V20260728.StateMember())
	for _, r := range AllRevisions() {
		require.Contains(t, append(replay.StateMembers, ""), r.StateMember(), "recordings need it, too")
	}
}

func TestTheDefaultsAreALegacyAndAModernRevision(t *testing.T) {
	require.Equal(t, []Revision{V20251125, V20260728}, DefaultRevisions())
	require.Subset(t, AllRevisions(), DefaultRevisions())
	require.IsIncreasing(t, AllRevisions())
}
