package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// Difference is the first thing that a client said otherwise in a case.
type Difference struct {
	Case string
	// Message names the message, such as "client → model, request 2".
	Message string
	// Path is where the messages differ; "" for the whole message.
	Path string
	// Before and After are the values there, as JSON; "nothing" where there is none.
	Before, After string
}

// said is a message of the client, without what differs between two runs of one client.
type said struct {
	leg, what string
	number    int // among those of the leg
	value     any
	text      string
}

func (m *said) name() string { return fmt.Sprintf("%s, %s %d", m.leg, m.what, m.number) }

// explain returns the first message of the second run that the first did not have; else the first that is missing.
// Messages may change their order: parallel ones do.
func explain(before, after Run, revision, caseID string) *Difference {
	if caseID == "" {
		return nil
	}
	a, b := spoken(before.Traces, revision, caseID), spoken(after.Traces, revision, caseID)
	if a == nil || b == nil {
		return nil
	}
	lost, added := without(a, b), without(b, a)
	switch {
	case len(added) == 0 && len(lost) == 0:
		return nil
	case len(added) == 0:
		return &Difference{caseID, lost[0].name(), "", excerpt(lost[0].value), "nothing"}
	}
	m := added[0]
	i := slices.IndexFunc(lost, func(o *said) bool { return o.leg == m.leg && o.what == m.what })
	if i < 0 {
		return &Difference{caseID, m.name(), "", "nothing", excerpt(m.value)}
	}
	path, x, y := jsonvalue.Difference("", lost[i].value, m.value)
	return &Difference{caseID, m.name(), path, excerpt(x), excerpt(y)}
}

// without returns the messages of a that b does not have, or has fewer times.
func without(a, b []*said) []*said {
	count := map[string]int{}
	for _, m := range b {
		count[m.leg+m.text]++
	}
	return slices.DeleteFunc(slices.Clone(a), func(m *said) bool {
		count[m.leg+m.text]--
		return count[m.leg+m.text] >= 0
	})
}

// spoken returns what the client said in a case, in the session in which it was over; nil if no trace has the case.
func spoken(traces []*trace.Trace, revision, caseID string) []*said {
	for _, t := range traces {
		played := slices.ContainsFunc(t.Header.Cases, func(c trace.Case) bool { return c.ID == caseID && !c.Replayed })
		if t.Header.Revision != revision || !played {
			continue
		}
		all := []*said{}
		numbers := map[string]int{}
		for i := range t.Events {
			if m := read(&t.Events[i]); m != nil && t.Events[i].Case == caseID {
				numbers[m.leg+m.what]++
				m.number = numbers[m.leg+m.what]
				all = append(all, m)
			}
		}
		return all
	}
	return nil
}

// read returns the message of an event; nil for what the client did not say.
func read(e *trace.Event) *said {
	switch {
	case e.Frame != nil && e.Frame.Dir == trace.FromClient && len(e.Frame.Raw) > 0:
		m := trace.ReadMessage(e.Frame.Raw)
		what := m.Method
		switch {
		case what == "" && m.Error != nil:
			what = "error"
		case what == "":
			what = "result"
		}
		return newSaid("client → server", what, e.Frame.Raw)
	case e.Request != nil:
		return newSaid("client → model", "request", e.Request.Body)
	}
	return nil
}

func newSaid(leg, what string, raw []byte) *said {
	value := jsonvalue.Decode(raw)
	if value == nil {
		value = string(bytes.ToValidUTF8(raw, []byte("�")))
	}
	value = (&settler{}).settled("", value)
	return &said{leg: leg, what: what, value: value, text: jsonvalue.Canonical(value)}
}

// ids are the members that name something within a conversation, and whose values are chosen anew for each run.
var ids = jsonvalue.Set("id progressToken call_id tool_call_id tool_use_id toolUseId requestId taskId")

// chosen matches the texts that are chosen anew for each run: marks of conversations, addresses, and times.
var chosen = regexp.MustCompile(`\bmk[a-z2-7]{8,}(n\d+)?\b|https?://127\.0\.0\.1:\d+[^\s"']*|` +
	`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)?`)

// settler replaces what differs between two runs of one client. Equal ids stay equal.
type settler struct{ names []string }

// settled returns a decoded value, the member of a name, as it would be in every run.
func (s *settler) settled(name string, value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = s.settled("", v[i])
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			v[member] = s.settled(member, v[member])
		}
	case string:
		switch {
		case ids[name]:
			return s.alias(v)
		case slices.Contains(replay.StateMembers, name):
			return "…"
		}
		return chosen.ReplaceAllString(v, "…")
	case json.Number:
		if ids[name] {
			return s.alias(v.String())
		}
	}
	return value
}

func (s *settler) alias(id string) string {
	if !slices.Contains(s.names, id) {
		s.names = append(s.names, id)
	}
	return fmt.Sprintf("id %d", slices.Index(s.names, id)+1)
}

// most is how much of a value is shown, in bytes.
const most = 200

func excerpt(value any) string {
	if value == jsonvalue.Missing {
		return "nothing"
	}
	text := jsonvalue.Marshal(value)
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}
