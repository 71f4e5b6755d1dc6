package harness

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// omit returns the cases to play, and passes done a trace without a client for the others.
func (r *run) omit(cases []Case, done func(*trace.Trace)) []Case {
	var played []Case
	omitted := map[trace.Mark][]Case{}
	var marks []trace.Mark
	for i := range cases {
		m := r.omitted(&cases[i])
		if m == (trace.Mark{}) {
			played = append(played, cases[i])
			continue
		}
		if omitted[m] == nil {
			marks = append(marks, m)
		}
		omitted[m] = append(omitted[m], cases[i])
	}
	for _, m := range marks {
		if r.Shard > 1 {
			break // the first part of the run says it
		}
		done(r.notPlayed(omitted[m], m))
	}
	return played
}

// samplingAlone is what a client without tools declares in every session. Whether one with fixed capabilities does is
// known once a case that asks for it is played.
const samplingAlone = `{"sampling":{}}`

// omitted says why a case is not played; the zero Mark if it is.
func (r *run) omitted(c *Case) trace.Mark {
	has := func(feature string) bool { return slices.Contains(r.Client.Has, feature) }
	switch {
	case c.Declare != nil && string(c.Declare) != samplingAlone && has(FixedCapabilities):
		return trace.Mark{Name: trace.MarkInapplicable,
			Text: "the client declares the same capabilities in every session (--has fixed-capabilities)"}
	case c.Abandon && has(NeverAbandons):
		return trace.Mark{Name: trace.MarkInapplicable, Text: "the client never abandons a call (--has never-abandons)"}
	case c.Carrier != "" && has(ToolsOnly):
		return trace.Mark{Name: trace.MarkInapplicable, Text: "the client uses no prompts and resources (--has tools-only)"}
	case c.HostTurns != nil && !r.Client.Agent:
		return trace.Mark{Name: trace.MarkInapplicable,
			Text: "the client is not a host with a model of its own ({prompt} in the command, or --agent)"}
	case c.Abandon && r.Client.Agent:
		return trace.Mark{Name: trace.MarkUnsupported,
			Text: "nothing makes a host abandon a call; if it never does, say so with --has never-abandons"}
	}
	return trace.Mark{}
}
