package mutants

import (
	"context"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/client"
)

// loopLimit is the number of rounds after which clients refuse, hang or die in a long loop.
const loopLimit = 10

var loopEdits = edits{
	"forgets-the-middle": params(func(p object) {
		messages, _ := p["messages"].([]any)
		s := Sample{Asked: p}
		if n := len(messages); s.Turn() > 2 && len(ids(messages[n-1].(object), "tool_result", "toolUseId")) > 0 {
			p["messages"] = []any{messages[0], messages[n-2], messages[n-1]}
		}
	}),
	"answers-round-three": asked(func(s *Sample) {
		if s.Turn() == 3 && s.Asked["tools"] != nil && s.Wire.Serves(s.Asked) {
			s.Answer(object{"role": "assistant", "model": "cache", "content": textBlock("As I said before.")})
		}
	}),
	"stops-after-ten": refuses(func(s *Sample) bool { return s.Turn() > loopLimit }),
	"hangs-after-ten": asked(func(s *Sample) {
		if s.Turn() > loopLimit {
			s.Withhold()
		}
	}),
	"dies-after-ten": asked(func(s *Sample) {
		if s.Turn() > loopLimit {
			s.Wire.Die("ten rounds")
		}
	}),
	"shares-the-question": sharesFirst,
	"ignores-digits":      ignoresDigits,
	"forgets-over-twelve": forgetsOver(12),
}

// sharesFirst remembers how the latest conversation with tools begins, and begins every longer one so.
func sharesFirst(*Wire) Edit {
	var mu sync.Mutex
	var latest any
	return Edit{Params: func(p object) {
		mu.Lock()
		defer mu.Unlock()
		messages, _ := p["messages"].([]any)
		switch {
		case p["tools"] == nil:
		case len(messages) == 1:
			latest = messages[0]
		case latest != nil:
			messages[0] = latest
		}
	}}
}

// forgetsOver drops the sampling requests that begin a conversation after the first n of a call.
func forgetsOver(n int) func(*Wire) Edit {
	return func(*Wire) Edit {
		var mu sync.Mutex
		first := 0
		return Edit{
			Out: func(m *Message) {
				if m.Method() == "tools/call" {
					mu.Lock()
					first = 0
					mu.Unlock()
				}
			},
			Asked: func(s *Sample) {
				mu.Lock()
				defer mu.Unlock()
				if s.Turn() > 1 {
					return
				}
				if first++; first > n {
					s.Withhold()
				}
			},
		}
	}
}

// ignoresDigits gives a request the answer to an earlier one that differs in digits only. It asks for one answer at a
// time.
func ignoresDigits(w *Wire) Edit {
	turn := make(chan struct{}, 1)
	known := map[string]object{}
	return sampling(func(w *Wire, next client.Handler) client.Handler {
		return func(ctx context.Context, params object) (object, error) {
			turn <- struct{}{}
			defer func() { <-turn }()
			key := strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return -1
				}
				return r
			}, string(marshal(params)))
			if known[key] != nil {
				w.Fire()
				return copyOf(known[key]), nil
			}
			result, err := next(ctx, params)
			if err == nil {
				known[key] = copyOf(result)
			}
			return result, err
		}
	})(w)
}
