package faults

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
)

// player plays faults.
type player struct {
	Options
	lessons map[Setting]func() (*lesson, error)
}

// fewCases is how many cases a fault is played on first. One that no check fails there is played on mostCases, and
// one that never fired on all.
const (
	fewCases  = 6
	mostCases = 60
	// shownChanges is how many changes of a single fault are kept.
	shownChanges = 5
	// correctRuns is how often the correct client is played, at most, to see whether a misreading shows.
	correctRuns = 6
	// faultyRuns is how often a fault is played, at most, to see whether a misreading always shows.
	faultyRuns = 3
)

// one draws and plays the nth fault, counted from 0.
func (p *player) one(ctx context.Context, played *Played, n int) error {
	s := settingOf(p.Seed, n)
	l, err := p.lessons[s]()
	if err != nil {
		return err
	}
	f := draw(p.Seed, n, s, l)
	played.Fault, played.Number, played.Outcome = f, n+1, NeverFired
	found := l.casesOf(f, rand.New(rand.NewPCG(p.Seed, uint64(n)+1)))
	if len(found) == 0 {
		return nil
	}
	last := 0
	for some := range play.Growing(found, fewCases, mostCases, len(found)) {
		if last += len(some); last > mostCases && played.Fired > 0 {
			break
		}
		played.Cases = found[:last] // a fault may show in several cases together
		if err = p.play(ctx, played); err != nil || len(played.Checks) > 0 {
			break
		}
	}
	if err != nil {
		return err
	}
	switch {
	case len(played.Checks) > 0:
		played.Outcome = Named
	case played.Fired > 0 && !played.shown:
		played.Outcome = NoEffect
	case played.Fired > 0:
		played.Outcome = Missed
		if played.Reason = legal(f, played.refused); played.Reason != "" {
			played.Outcome = Legal
		}
	}
	return nil
}

// casesOf returns the cases in which a fault would change something, in random order, of as many chapters as possible.
func (l *lesson) casesOf(f *Fault, r *rand.Rand) []string {
	at := maps.Clone(l.at[f.Place])
	if at[""]&(1<<f.edit) != 0 {
		at = maps.Clone(l.cases)
	}
	maps.DeleteFunc(at, func(id string, bits uint) bool {
		return id == "" || bits&(1<<f.edit) == 0 || f.Condition != "" && !l.holds[id][f.Condition]
	})
	names := slices.Sorted(maps.Keys(at))
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	nth := map[string]int{} // of its chapter
	turn := map[string]int{}
	for _, name := range names {
		chapter, _, _ := strings.Cut(name, "/")
		turn[name] = nth[chapter]
		nth[chapter]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return turn[a] - turn[b] })
	return names
}

// play plays a fault on its cases.
func (p *player) play(ctx context.Context, played *Played) error {
	rs, traces, err := p.playFault(ctx, played)
	if err != nil {
		return err
	}
	if p.Only > 0 {
		played.Results, played.Traces = rs, traces
	}
	played.Checks, played.refused = nil, false
	weak := true // nothing but missing observations: these cases may be too few for the correct client, too
	for i := range rs.Results {
		if r := &rs.Results[i]; accused(r) {
			played.Checks = append(played.Checks, r.ID())
			weak = weak && r.Verdict == report.NotObserved
		}
	}
	if !weak {
		return nil
	}
	did := written(traces)
	right, should, err := p.playRight(ctx, played, did)
	if err != nil {
		return err
	}
	played.Checks = slices.DeleteFunc(played.Checks, func(id string) bool {
		return slices.ContainsFunc(right.Results, func(r report.Result) bool { return r.ID() == id && accused(&r) })
	})
	played.refused = should.allowsWithErrors(did)
	played.shown = true
	for n := 0; n < faultyRuns && isRead(played.Kind) && played.shown; n++ { // what differs may be chance
		if n > 0 {
			if _, traces, err = p.playFault(ctx, played); err != nil {
				return err
			}
		}
		played.shown = !should.allows(written(traces))
	}
	return nil
}

// playFault plays the client with the fault.
func (p *player) playFault(ctx context.Context, played *Played) (*report.Results, []*trace.Trace, error) {
	f := played.Fault
	var mu sync.Mutex
	played.Fired, played.Changes = 0, nil
	note := func(before, after any) {
		mu.Lock()
		defer mu.Unlock()
		if played.Fired++; p.Only > 0 && len(played.Changes) < shownChanges {
			played.Changes = append(played.Changes, show(before, after))
		}
	}
	suite := f.Setting.suite(mutants.Client(f.Setting.config(), f.edits(note), f.when, nil))
	suite.Only = played.Cases
	return suite.Run(ctx)
}

// playRight plays the correct client on the cases of a fault, until its traffic allows that of the fault or it was
// played some times: what concurrent requests and cancelled ones leave on the wires differs from run to run.
func (p *player) playRight(ctx context.Context, played *Played, did map[string]int) (
	right *report.Results, should *traffic, err error,
) {
	f := played.Fault
	should = &traffic{}
	suite := f.Setting.suite(mutants.Client(f.Setting.config(), nil, mutants.Condition{}, nil))
	suite.Only = played.Cases
	for range correctRuns {
		var traces []*trace.Trace
		if right, traces, err = suite.Run(ctx); err != nil {
			return nil, nil, err
		}
		should.add(written(traces))
		if !isRead(f.Kind) || should.allows(did) {
			break
		}
	}
	return right, should, nil
}

// show writes what a fault changed for the reader. Long values begin shortly before their first difference.
func show(before, after any) string {
	a, b := []rune(asText(before)), []rune(asText(after))
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return part(a, same) + " → " + part(b, same)
}

func asText(v any) string {
	if v == (gone{}) {
		return "(nothing)"
	}
	return string(jsonvalue.Marshal(v))
}

// part is a text from shortly before a place, if it is long.
func part(text []rune, place int) string {
	const most, ahead = 100, 40
	begin, end := "", ""
	if len(text) > most && place > ahead {
		begin, text = "…", text[place-ahead:]
	}
	if len(text) > most {
		text, end = text[:most], "…"
	}
	return begin + string(text) + end
}

// traffic is the least and the most of each message in several runs.
type traffic struct{ least, most map[string]int }

func (t *traffic) add(run map[string]int) {
	if t.most == nil {
		t.least, t.most = run, maps.Clone(run)
		return
	}
	for sent := range t.least {
		t.least[sent] = min(t.least[sent], run[sent])
	}
	for sent, n := range run {
		t.most[sent] = max(t.most[sent], n)
	}
}

// allows reports whether a run has no message less or more often than the others.
func (t *traffic) allows(run map[string]int) bool {
	for sent, n := range t.least {
		if run[sent] < n {
			return false
		}
	}
	for sent, n := range run {
		if n > t.most[sent] {
			return false
		}
	}
	return true
}

// allowsWithErrors reports whether a run has no message more often than the others, except errors.
func (t *traffic) allowsWithErrors(run map[string]int) bool {
	for sent, n := range run {
		if n > t.most[sent] && !strings.Contains(sent, `"error":{"code":`) {
			return false
		}
	}
	return true
}

// madeUp matches ids and times that are new in each run.
var madeUp = regexp.MustCompile(`"(taskId|id|call_id|tool_call_id|tool_use_id|toolUseId|thoughtSignature|` +
	`progressToken|createdAt|lastUpdatedAt` + stateMembers() + `)":("[^"]*"|[0-9]+)`)

func stateMembers() string {
	var all string
	for _, r := range server.AllRevisions() {
		if r.Modern() {
			all += "|" + r.StateMember()
		}
	}
	return all
}

// written counts what the client sent to the server and to the model, without what the model refused. The order does
// not count: clients do not answer concurrent requests in the same order each time.
func written(traces []*trace.Trace) map[string]int {
	all := map[string]int{}
	for _, t := range traces {
		refused := map[int64]bool{} // by the provider
		for i := range t.Events {
			if end := t.Events[i].End; end != nil && end.Status == http.StatusBadRequest {
				refused[end.Exchange] = true
			}
		}
		for i := range t.Events {
			var sent []byte
			switch e := &t.Events[i]; {
			case e.Frame != nil && e.Frame.Dir == trace.FromClient:
				sent = e.Frame.Raw
			case e.Request != nil && !refused[e.Request.Exchange]:
				sent = e.Request.Body
			}
			o, err := jsonvalue.ReadObject(sent)
			if err != nil {
				continue
			}
			hidden := func(id []byte) []byte {
				name, value, _ := bytes.Cut(id, []byte(":"))
				if string(value) == `""` {
					return id
				}
				return name // It is new in each run, or counts what came before.
			}
			all[string(madeUp.ReplaceAllFunc(jsonvalue.Marshal(o), hidden))]++
		}
	}
	return all
}

func accused(r *report.Result) bool { return r.Failed(true) || r.Warned() && r.Level != report.May }
