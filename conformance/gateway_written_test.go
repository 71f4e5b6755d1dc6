package conformance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAGatewayWritesOnlyMessagesToItsOutput(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	const http, stream, typed, partial = "http", "stream", "typed", "partial"
	for name, c := range map[string]struct {
		line string
		how  string // of the frame
		last bool   // nothing follows
		both bool   // the server wrote it, too
		says string // "" for a pass
	}{
		"a message":                          {line: note},
		"a batch":                            {line: "[" + note + "," + note + "]"},
		"an empty line":                      {line: " \r"},
		"a log":                              {line: "INFO started", says: `found the line "INFO started"`},
		"a log at the end":                   {line: "INFO ended", last: true, says: `found the line "INFO ended"`},
		"a log in JSON":                      {line: `{"level":30,"msg":"started"}`, says: `found the line "{\"level\":30,`},
		"a log in JSON at the end":           {line: `{"level":30}`, last: true, says: `found the line "{\"level\":30}"`},
		"another version":                    {line: `{"jsonrpc":"1.0","method":"x"}`, says: "1.0"},
		"an empty batch":                     {line: "[]", says: `found the line "[]"`},
		"two messages":                       {line: note + note, says: "found the line"},
		"a log in brackets":                  {line: "[INFO] started", says: `found the line "[INFO] started"`},
		"a list with something else":         {line: "[" + note + ",7]", says: "found the line"},
		"a part of a message":                {line: note[:40], says: "found the line"},
		"a part of the last message":         {line: note[:40], last: true},
		"a message that is marked as a part": {line: note[:40], how: partial},
		"what the server wrote":              {line: "INFO of the server", both: true},
		"a response of HTTP":                 {line: "<html>", how: http},
		"an event":                           {line: "connected", how: stream, says: `events, found "connected"`},
		"the last event":                     {line: note[:40], how: stream, last: true, says: "in the gateway's events"},
		"an event of another type":           {line: "connected", how: typed},
	} {
		t.Run(name, func(t *testing.T) {
			var both twoLegs
			if c.both {
				both.add(false, trace.ToClient, "%s", c.line)
			}
			both.add(true, trace.ToClient, "%s", note)
			both.add(true, trace.ToClient, "%s", c.line)
			f := both[len(both)-1].Front
			switch c.how {
			case http:
				f.HTTP = &trace.HTTP{Status: 502}
			case stream, typed:
				f.Stream, f.HTTP = "1", &trace.HTTP{Status: 200}
				if c.how == typed {
					f.Type = "ping"
				}
			case partial:
				f.Partial = true
			}
			if !c.last {
				both.add(true, trace.ToClient, "%s", note)
			}
			before := slices.Clone(f.Raw)
			results := both.judged()
			require.Equal(t, before, f.Raw, "judging changes no trace")
			i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/only-messages" })
			require.Equal(t, c.says != "", results[i].Verdict == report.Fail, results[i].Message)
			require.Contains(t, results[i].Message, c.says)
			if c.says != "" {
				require.NotEmpty(t, results[i].Fix)
			}
		})
	}
	var over twoLegs
	over.add(true, trace.ToClient, "%s", note)
	over[0].Front.HTTP = &trace.HTTP{Status: 200}
	for _, r := range over.judged() {
		judged := r.ID() == "gateway/only-messages" && r.Verdict != report.NotApplicable
		require.False(t, judged, "over HTTP there is no such output")
	}
}
