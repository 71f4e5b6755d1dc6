package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// answer answers what the server asks, as the client did then.
func (p *player) answer(ctx context.Context, method string, params json.RawMessage) (map[string]any, *Error) {
	call, i, d := p.expected(ctx, method, params)
	if call == nil {
		p.unexpected(ctx, method, params)
		return nil, &Error{Code: CodeInvalidRequest, Message: "replay: the recording has no such request at this point"}
	}
	ask := call.Asks[i]
	if p.ask != nil {
		for _, request := range p.recording.Models(call.Call, i) {
			p.ask(ctx, request)
		}
	}
	if d != nil {
		p.differAt(call, i, fmt.Sprintf("request %d of the server, %s, differs: %s", i+1, method, d), false)
		p.change(ask.Now(params))
	}
	p.mu.Lock()
	p.found.Asks++
	asked := len(slices.DeleteFunc(slices.Clone(call.asked), func(yes bool) bool { return !yes }))
	cancels := call.Canceled >= 0 && asked >= call.Canceled
	p.mu.Unlock()
	if cancels && !ask.IsAnswered() {
		p.abandon(call)
	}
	if !ask.IsAnswered() {
		if ask.Key == "" { // an input request without an answer ends the call, another one stays open
			<-ctx.Done()
		}
		return nil, &Error{Code: CodeInternal, Message: "replay: the recorded client did not answer"}
	}
	if cancels {
		defer p.abandon(call)
	}
	var refused Error
	if ask.Error != nil && json.Unmarshal(ask.Error, &refused) == nil {
		return nil, &refused
	}
	result, err := asWritten(ask.Result)
	if err != nil {
		return nil, &Error{Code: CodeInternal, Message: "replay: the recorded answer is not an object"}
	}
	return result, nil
}

// expected takes the recorded ask that a request of the server is: an equal one, or else the nearest of
// the method. It returns its call, its number and the difference.
func (p *player) expected(
	ctx context.Context, method string, params json.RawMessage,
) (*playedCall, int, *replay.Difference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine, _ := ctx.Value(callKey{}).(*playedCall)
	now := replay.Comparable(params)
	var found *playedCall
	var place, distance int
	var difference *replay.Difference
	for _, call := range p.calls {
		own := call.running && (mine == nil || call == mine)
		for i, ask := range call.Asks {
			if call.asked[i] || ask.Method != method || !own && !ask.Shared {
				continue
			}
			was := replay.Comparable(ask.Params)
			if (*replay.Rules)(nil).Compare("params", was, now) == nil {
				call.asked[i] = true
				return call, i, nil
			}
			d, far := p.rules.Compare("params", was, now), 0
			if d != nil {
				far = 2 * d.Count
			}
			if !own {
				far++
			}
			if found == nil || far < distance {
				found, place, distance, difference = call, i, far, d
			}
		}
	}
	if found != nil {
		found.asked[place] = true
	}
	return found, place, difference
}

// unexpected notes a request of the server that the recording does not have.
func (p *player) unexpected(ctx context.Context, method string, params json.RawMessage) {
	call, _ := ctx.Value(callKey{}).(*playedCall)
	if call == nil {
		call = p.newest()
	}
	p.differ(call, fmt.Sprintf("the server asked for %s, which it did not then: %s", method, beginning(params)), true)
}

// strayed notes a line of the server that is not a message, and that the recording does not have.
func (p *player) strayed(what string) {
	p.mu.Lock()
	p.stray++
	more := p.stray > p.recording.Stray
	p.mu.Unlock()
	if more {
		p.differ(p.newest(), what, true)
	}
}

// newest returns the newest call under way, or the beginning of the session.
func (p *player) newest() *playedCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range slices.Backward(p.calls) {
		if call.running {
			return call
		}
	}
	return p.calls[0]
}
