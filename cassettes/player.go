package cassettes

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Player answers requests from recordings. [Replay] makes one. It is an [llm.Source]. Its methods are safe for
// concurrent use.
type Player struct {
	names        []string // of the cassettes
	interactions []*interaction
	byKey        map[[sha256.Size]byte]*queue
	rules        rules
	mu           sync.Mutex // of a search with a matcher
}

var _ llm.Source = (*Player)(nil)

type interaction struct {
	cassette string
	number   int // in its file, from 0
	address  *url.URL
	request  *request
	answer   dialect.Answer
	when     *timing // nil: unknown
	queue    *queue  // of interactions with an equal request
	place    int     // in the queue
}

func (i *interaction) String() string {
	return fmt.Sprintf("interaction %d of %s", i.number, i.cassette)
}

// queue holds interactions with equal requests, in recorded order.
type queue struct {
	all  []*interaction
	mu   sync.Mutex
	used int
}

// Replay returns a player of one or more cassettes by their paths. Its error names the file and the line.
func Replay(paths ...string) (*Player, error) {
	if len(paths) == 0 {
		return nil, errors.New("nothing to replay: name the cassettes by their paths")
	}
	var all []*recording
	for _, path := range paths {
		r, err := load(path)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return newPlayer(rules{}, all...), nil
}

// ReplayFiles is [Replay] for cassettes that were read, such as embedded ones: see [Parse].
func ReplayFiles(files ...*File) *Player {
	var all []*recording
	for _, f := range files {
		all = append(all, f.recording)
	}
	return newPlayer(rules{}, all...)
}

func newPlayer(equality rules, all ...*recording) *Player {
	p := &Player{byKey: map[[sha256.Size]byte]*queue{}, rules: equality}
	for _, r := range all {
		p.names = append(p.names, r.name)
		for n, recorded := range r.interactions {
			u, err := url.Parse(recorded.Request.URL)
			if err != nil {
				panic(err) // parse has checked it
			}
			q := &recorded.Request
			i := &interaction{cassette: r.name, number: n, address: u,
				request: p.rules.request(&Request{q.Method, u, []byte(q.Body)}, q.Headers, &scrubber{})}
			if r.timings != nil {
				i.when = &r.timings[n]
			}
			i.answer = answerOf(&recorded.Response, i.when)
			p.interactions = append(p.interactions, i)
			key := i.request.key()
			if i.queue = p.byKey[key]; i.queue == nil || p.rules.equal != nil {
				i.queue = &queue{}
				p.byKey[key] = i.queue
			}
			i.place = len(i.queue.all)
			i.queue.all = append(i.queue.all, i)
		}
	}
	return p
}

// Answer returns the recorded answer to a request. Its error names the nearest interaction and the first difference.
// Do not modify the chunks of the answer: they are shared. An answer that was cut short ends where it was cut.
func (p *Player) Answer(r *dialect.Request) (dialect.Answer, error) {
	clean := newScrubber(r.Header, r.URL)
	i, err := p.find(newRequest(clean.Replace(kindOfDecoded(r)), r.Header, clean.request(string(r.Body))))
	if err != nil {
		return dialect.Answer{}, err
	}
	answer := i.answer
	answer.Header = answer.Header.Clone()
	return answer, nil
}

func (p *Player) find(r *request) (*interaction, error) {
	if p.rules.equal != nil && r.written != nil {
		return p.match(r)
	}
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
	next := q.all[min(q.used, len(q.all)-1)]
	q.used++
	return next, nil
}

// match returns the first unused interaction that the user's matcher accepts, otherwise the last used one.
func (p *Player) match(r *request) (*interaction, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *interaction
	for _, i := range p.interactions {
		if (found == nil || found.queue.used > 0) && p.rules.equal(i.request.written, r.written) {
			found = i
		}
	}
	if found == nil {
		nearest, least := p.nearest(r)
		return nil, fmt.Errorf("the matcher accepts no interaction: %w", p.miss(r, nearest, least))
	}
	found.queue.mu.Lock()
	defer found.queue.mu.Unlock()
	found.queue.used++
	return found, nil
}

// nearest returns the interaction of the request's kind with the fewest differences and the most similar texts, rather
// an unused one; the first of several. It returns nil for none.
func (p *Player) nearest(r *request) (nearest *interaction, least differences) {
	shortest := math.Inf(1)
	for _, i := range p.interactions {
		if i.request.kind != r.kind {
			continue
		}
		d := compare(i.request.body, r.body)
		i.queue.mu.Lock()
		used := i.place < i.queue.used
		i.queue.mu.Unlock()
		if distance := d.distance(used); distance < shortest {
			nearest, least, shortest = i, d, distance
		}
	}
	return nearest, least
}

func (p *Player) miss(r *request, nearest *interaction, least differences) error {
	if nearest != nil {
		return fmt.Errorf("this %s request is not recorded; the nearest is %v: %s (differences: %d); "+
			"if the request is correct, record the conversation again",
			r.kind, nearest, cmp.Or(least.first, "equal"), least.count)
	}
	var kinds []string
	for _, i := range p.interactions {
		if !slices.Contains(kinds, i.request.kind) {
			kinds = append(kinds, i.request.kind)
		}
	}
	return fmt.Errorf("no %s request is recorded in %s, which has %s; record the conversation",
		r.kind, strings.Join(p.names, ", "), strings.Join(kinds, ", "))
}

func (p *Player) unused() []*interaction {
	var left []*interaction
	for _, i := range p.interactions {
		i.queue.mu.Lock()
		if i.place >= i.queue.used {
			left = append(left, i)
		}
		i.queue.mu.Unlock()
	}
	return left
}
