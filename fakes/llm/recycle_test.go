package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Codecs reuse memory. No caller may receive another's data, and a request that a matcher keeps must not change.
func TestRecycledMemoryIsNotShared(t *testing.T) {
	var mu sync.Mutex
	var kept []*Request
	keep := MatcherFunc(func(r *Request) error {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, r)
		if r.Decoded != nil {
			return errors.New("the matcher is shown what is used again")
		}
		return nil
	})
	s := New(t, When(keep, Dialect("openai-chat")).Reply(Text("sunny")))
	const callers, requests = 8, 40
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for j := range requests {
				model := fmt.Sprintf("model-%d-%d", i, j)
				history := strings.Repeat(fmt.Sprintf(`{"role":"user","content":"\"%s\" é"},`, model), 1+j%20)
				body := fmt.Sprintf(`{"model":"%s","messages":[%s{"role":"user","content":[{"type":"text","text":"%s"}]}],`+
					`"stop":"%s","max_tokens":%d,"stream":%t}`,
					model, history, model, model, 1+i, j%3 == 0)
				w := post(s, chatPath, body)
				assert.Contains(t, w.Body.String(), `"`+model+`"`)
				if j%3 == 0 {
					assert.Equal(t, []string{"text/event-stream; charset=utf-8"}, w.Header()["Content-Type"])
					continue
				}
				assert.Equal(t, []string{"application/json"}, w.Header()["Content-Type"])
				assert.True(t, json.Valid(w.Body.Bytes()), w.Body.String())
			}
		})
	}
	all.Wait()
	require.Len(t, kept, callers*requests)
	for _, r := range kept {
		want, err := Decode(r.Dialect, chatPath, r.Body)
		require.NoError(t, err)
		want.Decoded, want.Header = nil, r.Header
		require.Empty(t, cmp.Diff(want, r))
	}
}
