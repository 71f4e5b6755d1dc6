package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

func TestTheStatusSaysWhatPlaysAndHowLongItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStatus(time.Now)
		require.Empty(t, s.line())
		session := func(n int64, waits bool, cases ...string) harness.Progress {
			return harness.Progress{Revision: server.V20251125, Total: 9, Session: n, Cases: cases, Waits: waits}
		}
		several, slow := session(1, false, "basic/a", "basic/b"), session(2, true, "time/slow")
		s.see(slow)
		<-time.After(3 * time.Second) // of virtual time
		s.see(several)
		require.Equal(t, "2025-11-25 0/9 · basic/a · waiting: time/slow 3 s", s.line())
		several.Case = "basic/b"
		s.see(several)
		s.see(session(3, true, "time/slower"))
		require.Equal(t, "2025-11-25 0/9 · basic/b · waiting: time/slow 3 s and 1 more", s.line())
		several.Case, several.Over, slow.Over = "", true, true
		s.see(several)
		s.see(slow)
		s.see(harness.Progress{Revision: server.V20260728, Total: 2, Session: 1, Cases: []string{"mrtr/a"}})
		require.Equal(t, "2025-11-25 3/9 · 2026-07-28 0/2 · mrtr/a · waiting: time/slower 0 s", s.line())
		s.see(session(4, false, strings.Repeat("x", 200)))
		require.Len(t, []rune(s.line()), 79)
	})
}

func TestTheStatusIsDrawnAndCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		see, done := showProgress(&out)
		see(harness.Progress{Revision: server.V20251125, Total: 1, Session: 1, Cases: []string{"basic/a"}})
		<-time.After(time.Second) // of virtual time
		done()
		require.Equal(t, clearLine+"2025-11-25 0/1 · basic/a"+clearLine, out.String(), "equal lines are drawn once")
	})
}
