package cassettes

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Player answers requests with what was recorded for them. It is made by [Replay] and is an [llm.Source]. Its methods are safe for
// concurrent use.
type Player struct {
	names        []string // of the cassettes
	interactions []*interaction
	byKey        map[[sha256.Size]byte]*queue
}

var _ llm.Source = (*Player)(nil)

// interaction is a recorded one, ready to be compared and to be played.
type interaction struct {
	cassette string
	number   int // as its file counts, from 0
	address  *url.URL
	request  *request
	answer   dialect.Answer
	when     *timing // nil where it is not known
	queue    *queue  // of those with an equal request
	place    int     // in it
}

func (i *interaction) String() string {
	return fmt.Sprintf("interaction %d of %s", i.number, i.cassette)
}

// queue are the interactions with equal requests, in the order of the recording.
type queue struct {
	all    []*interaction
	mu     sync.Mutex
	played int
}

// Replay returns a player of recordings: embedded ones by their names (see [Names]), others by the path of their file, which ends in
// .yaml. Without names it plays all that are embedded. Its error names the file and the line, and what is wrong there.
func Replay(names ...string) (*Player, error) {
	if len(names) == 0 {
		names = Names()
	}
	var all []*recording
	for _, name := range names {
		r, err := load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return newPlayer(all...), nil
}

func newPlayer(all ...*recording) *Player {
	p := &Player{byKey: map[[sha256.Size]byte]*queue{}}
	for _, r := range all {
		p.names = append(p.names, r.name)
		for n, recorded := range r.interactions {
			u, err := url.Parse(recorded.Request.URL)
			if err != nil {
				panic(err) // parse has read it
			}
			i := &interaction{cassette: r.name, number: n, address: u, request: newRequest(kindOf(recorded.Request.Method, u), recorded.Request.Headers, recorded.Request.Body)}
			if r.timings != nil {
				i.when = &r.timings[n]
			}
			i.answer = answerOf(&recorded.Response, i.when)
			p.interactions = append(p.interactions, i)
			key := i.request.key()
			if i.queue = p.byKey[key]; i.queue == nil {
				i.queue = &queue{}
				p.byKey[key] = i.queue
			}
			i.place = len(i.queue.all)
			i.queue.all = append(i.queue.all, i)
		}
	}
	return p
}

// Answer returns what was recorded for the request. Its error, for one that was not recorded, names the nearest interaction and the first
// difference. The answer's chunks are shared: do not change them. An answer that was cut short is one here that ends there.
func (p *Player) Answer(r *dialect.Request) (dialect.Answer, error) {
	clean := cleaner(r.Header, r.URL)
	i, err := p.find(newRequest(clean.Replace(kindOfDecoded(r)), r.Header, clean.request(string(r.Body))))
	if err != nil {
		return dialect.Answer{}, err
	}
	answer := i.answer
	answer.Header = answer.Header.Clone()
	return answer, nil
}

// find returns the next interaction to be played for the request.
func (p *Player) find(r *request) (*interaction, error) {
	q := p.byKey[r.key()]
	if q == nil {
		nearest, least := p.nearest(r)
		if nearest == nil || least.count > 0 {
			return nil, p.miss(r, nearest, least)
		}
		q = nearest.queue
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	next := q.all[min(q.played, len(q.all)-1)]
	q.played++
	return next, nil
}

// nearest returns the interaction of the request's kind with the fewest differences, the first of several; nil where there is none of the kind.
func (p *Player) nearest(r *request) (nearest *interaction, least differences) {
	for _, i := range p.interactions {
		if i.request.kind != r.kind {
			continue
		}
		if d := compare(i.request.body, r.body); nearest == nil || d.count < least.count {
			nearest, least = i, d
		}
	}
	return nearest, least
}

// miss says why no interaction is the request: the nearest is taken for the one that was meant.
func (p *Player) miss(r *request, nearest *interaction, least differences) error {
	if nearest != nil {
		return fmt.Errorf("this %s request was not recorded; the nearest is %v: %s (differences: %d); if the request is right, record the conversation again",
			r.kind, nearest, least.first, least.count)
	}
	var kinds []string
	for _, i := range p.interactions {
		if !slices.Contains(kinds, i.request.kind) {
			kinds = append(kinds, i.request.kind)
		}
	}
	return fmt.Errorf("no request of %s was recorded in %s: there are %s; record the conversation",
		r.kind, strings.Join(p.names, ", "), strings.Join(kinds, ", "))
}

// unused returns the interactions that were not played.
func (p *Player) unused() []*interaction {
	var left []*interaction
	for _, i := range p.interactions {
		i.queue.mu.Lock()
		if i.place >= i.queue.played {
			left = append(left, i)
		}
		i.queue.mu.Unlock()
	}
	return left
}
