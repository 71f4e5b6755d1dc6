package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// Replay plays the client's side of a recorded session to the server under test: a trace, or a folder of traces. It
// makes the same requests, answers what the server asks as the client did then, and fails the test for each difference
// in what the server responds and asks:
//
//	client.Replay(t, "testdata/session.ndjson", client.Options{Handler: myServer})
//
// The options say where the server is; the client's name, capabilities and revision are those of the recording. Timeout
// limits the whole session. A request is sent when the responses have come that came before it then. What differs in
// every session does not count: ids, requestState, reserved members of _meta, the server's name and version, and
// notifications. Ignore has the paths of more members that may differ, such as "result.structuredContent.time" of a
// response, or "params.messages.content.text" of a sampling request. JSON in strings is compared as JSON. What a
// launched server writes to its standard output must be messages.
func Replay(t server.TB, path string, o Options, ignore ...string) {
	t.Helper()
	ctx := context.Background()
	if limit := cmp.Or(o.Timeout, defaultTimeout); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	found, err := PlayRecording(ctx, o, path, ignore...)
	if found != nil {
		for _, d := range found.Differences {
			t.Errorf("replaying %s: %s", path, d)
		}
	}
	if err != nil {
		t.Fatalf("replaying %s: %v", path, err)
	}
}

// Replayed is what a [Replay] found.
type Replayed struct {
	// Differences are in the order of the recorded requests. Each names the request and the first difference.
	Differences []string
	// Requests and Asks count what was compared: responses, and what the server asked.
	Requests, Asks int

	changes map[string][]replay.Change // by file
	lost    string                     // why a change cannot be written; "" if all can
}

// Update accepts the differences: it writes what the server says now into the recording. If the server asked for more
// or less than then, it writes nothing and returns an error: nobody knows what the client would have answered.
func (r *Replayed) Update() error {
	if r.lost != "" {
		return fmt.Errorf("%s: record the session again", r.lost)
	}
	for file, changes := range r.changes {
		if err := replay.Update(file, changes); err != nil {
			return err
		}
	}
	return nil
}

// PlayRecording is [Replay] without a test. The error says that the recording cannot be read or played. If ctx ended,
// it is returned with the differences until then.
func PlayRecording(ctx context.Context, o Options, path string, ignore ...string) (*Replayed, error) {
	return PlayWithModel(ctx, o, path, nil, ignore...)
}

// PlayWithModel is [PlayRecording] of a client that asks a model: before it answers a sampling request, it calls ask
// with each request that the client then made to its model for it, in order. Nil asks nobody.
func PlayWithModel(
	ctx context.Context, o Options, path string, ask func(context.Context, *trace.ModelRequest), ignore ...string,
) (*Replayed, error) {
	rules, err := replay.NewRules(ignore)
	if err != nil {
		return nil, err
	}
	recordings, err := replay.Read(path)
	if err != nil {
		return nil, err
	}
	all := &Replayed{changes: map[string][]replay.Change{}}
	for _, recording := range recordings {
		if recording.Revision == "" && len(recordings) > 1 {
			continue // the client did not come to speak
		}
		p := &player{recording: recording, rules: rules, found: all, ask: ask}
		err := p.play(ctx, o)
		all.Differences = append(all.Differences, p.differences()...)
		if ctx.Err() != nil {
			return all, err
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// player plays one recording.
type player struct {
	recording *replay.Recording
	rules     *replay.Rules
	client    *Client
	ask       func(context.Context, *trace.ModelRequest) // nil for nobody

	mu    sync.Mutex
	found *Replayed
	calls []*playedCall // in the order of the recording
	stray int           // lines of the server that are not messages
	lost  error         // the server cannot be reached
}

type playedCall struct {
	*replay.Call
	asked       []bool // by ask
	running     bool
	done        chan struct{}
	cancel      context.CancelFunc
	differences []difference
}

// difference is one of a call: of what the server asked, in the order of the recording, and then of the response.
type difference struct {
	ask  int // its number; that of the last one for all else
	text string
}

func (p *player) play(ctx context.Context, o Options) error {
	o.Revision = server.Revision(p.recording.Revision)
	o.Sampling = func(context.Context, map[string]any) (map[string]any, error) { return nil, errors.New("never called") }
	o.Info, o.Capabilities = p.recording.Client()
	o.replaying, o.strayed = p.answer, p.strayed
	opening := &playedCall{Call: &replay.Call{Request: &replay.Request{Method: "the beginning"}}}
	for _, q := range p.recording.Requests {
		if q.Method == "initialize" && q.Result != nil {
			opening.Request = q
			o.greeted = func(raw json.RawMessage) { p.compareResponse(opening, q, raw, nil) }
			break
		}
	}
	p.calls = append(p.calls, opening)
	for _, call := range p.recording.Calls(p.recording.Revision) {
		p.calls = append(p.calls, &playedCall{Call: call, asked: make([]bool, len(call.Asks)), done: make(chan struct{})})
	}
	var err error
	if p.client, err = Connect(ctx, o); err != nil {
		return p.unconnected(ctx, opening, err)
	}
	var running sync.WaitGroup
	for _, call := range p.calls[1:] {
		if err := p.await(ctx, call); err != nil {
			break
		}
		begun := p.begin(ctx, call)
		running.Go(func() { p.make(begun, call) })
	}
	running.Wait()
	for _, call := range p.calls[1:] {
		p.missed(call, true)
	}
	_ = p.client.Close() // how the server ends is no part of the conversation
	return errors.Join(ctx.Err(), p.lost)
}

// unconnected returns why the server cannot be reached. One that does not begin the session has said something else
// than it did.
func (p *player) unconnected(ctx context.Context, opening *playedCall, err error) error {
	var unreachable *net.OpError
	var notStarted *exec.Error
	var noFile *fs.PathError
	if errors.As(err, &unreachable) || errors.As(err, &notStarted) || errors.As(err, &noFile) || ctx.Err() != nil {
		return err
	}
	opening.Method = "initialize"
	p.differ(opening, "the session does not begin: "+err.Error(), true)
	return nil
}

// await waits for the responses that the client had when it made a request.
func (p *player) await(ctx context.Context, call *playedCall) error {
	for _, before := range p.calls[1:] {
		if before == call {
			break
		}
		if !slices.Contains(call.After, before.Last) {
			continue
		}
		select {
		case <-before.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// callKey is the key of a context that belongs to a call.
type callKey struct{}

func (p *player) begin(ctx context.Context, call *playedCall) context.Context {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, callKey{}, call))
	p.mu.Lock()
	defer p.mu.Unlock()
	call.running, call.cancel = true, cancel
	if call.Canceled == 0 {
		cancel()
	}
	return ctx
}

// abandon cancels a call that has begun.
func (p *player) abandon(call *playedCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if call.cancel != nil {
		call.cancel()
	}
}

// make makes a request and compares its response.
func (p *player) make(ctx context.Context, call *playedCall) {
	defer close(call.done)
	defer call.cancel()
	params, err := asWritten(call.Params)
	if err != nil {
		params = map[string]any{}
	}
	result, err := p.client.call(ctx, call.Method, params)
	p.mu.Lock()
	call.running = false
	p.mu.Unlock()
	var input *InputError
	var refused *Error
	if err != nil && !errors.As(err, &input) && !errors.As(err, &refused) {
		p.failed(ctx, call, err)
		return
	}
	p.missed(call, false)
	switch {
	case errors.As(err, &input):
		if !call.WaitsForInput() {
			p.differ(call, "the server asked for more input than it did then", true)
		}
	case errors.As(err, &refused):
		p.compareResponse(call, call.Last, nil, refused)
	case call.Last.HasResponse():
		p.compareResponse(call, call.Last, json.RawMessage(result), nil)
	default:
		p.differ(call, "the server responded, which it did not then", true)
	}
}

// missed notes what the server did not ask, of the asks that are shared with other calls or of those that are not.
func (p *player) missed(call *playedCall, shared bool) {
	for i, ask := range call.Asks {
		p.mu.Lock()
		missing := ask.Shared == shared && !call.asked[i]
		p.mu.Unlock()
		if missing {
			p.differAt(call, i, fmt.Sprintf("the server did not ask for %s, which was its request %d", ask.Method, i+1), true)
		}
	}
}

// asWritten reads an object and keeps what its members hold in the order in which it was written: a server may show it.
func asWritten(raw json.RawMessage) (map[string]any, error) {
	o, err := jsonvalue.ReadObject(raw)
	var members map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &members)
	}
	for name, value := range o {
		switch value.(type) {
		case map[string]any, []any:
			if name != "_meta" { // which gets more members
				o[name] = members[name]
			}
		}
	}
	return o, err
}

// failed takes a request without a response: the client canceled it, as it did then, or the server cannot be reached,
// or has failed.
func (p *player) failed(ctx context.Context, call *playedCall, err error) {
	var unreachable *net.OpError
	p.mu.Lock()
	first := p.found.Requests == 0 && p.lost == nil
	if first && errors.As(err, &unreachable) && unreachable.Op == "dial" {
		p.lost = err
	}
	lost := p.lost != nil
	p.mu.Unlock()
	switch {
	case lost || call.Canceled >= 0 && ctx.Err() != nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.differ(call, "no response within the time limit", true)
	default:
		p.differ(call, "the request failed: "+strings.ReplaceAll(err.Error(), "\n", "; "), true)
	}
}

// compareResponse compares a response with the recorded one.
func (p *player) compareResponse(call *playedCall, recorded *replay.Request, result json.RawMessage, refused *Error) {
	p.mu.Lock()
	p.found.Requests++
	p.mu.Unlock()
	was, now := map[string]any{}, map[string]any{}
	var wrong json.RawMessage
	if recorded.Error != nil {
		was["error"] = replay.Comparable(recorded.Error)
	} else {
		was["result"] = replay.Comparable(recorded.Result)
	}
	if refused != nil {
		wrong = jsonvalue.Marshal(refused)
		now["error"] = replay.Comparable(wrong)
	} else {
		now["result"] = replay.Comparable(result)
	}
	d := p.rules.Compare("", was, now)
	if d == nil {
		return
	}
	p.differ(call, "the response differs: "+d.String(), (recorded.Error == nil) != (refused == nil))
	p.change(recorded.Now(result, wrong))
}

func (p *player) change(c replay.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found.changes[p.recording.File] = append(p.found.changes[p.recording.File], c)
}

// differ notes a difference of a call as a whole. A lost one cannot be written into the recording.
func (p *player) differ(call *playedCall, text string, lost bool) {
	p.differAt(call, len(call.Asks), text, lost)
}

// differAt notes a difference of the ith ask of a call.
func (p *player) differAt(call *playedCall, i int, text string, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = replay.Name(call.Method, call.Params) + ": " + text
	call.differences = append(call.differences, difference{i, text})
	if lost && p.found.lost == "" {
		p.found.lost = text
	}
}

func (p *player) differences() []string {
	var all []string
	for _, call := range p.calls {
		number := max(1, slices.Index(p.recording.Requests, call.Request)+1)
		sort.SliceStable(call.differences, func(i, j int) bool { return call.differences[i].ask < call.differences[j].ask })
		for _, d := range call.differences {
			all = append(all, fmt.Sprintf("request %d of %s in %s, %s", number, p.recording.File, p.recording.Revision, d.text))
		}
	}
	return all
}
