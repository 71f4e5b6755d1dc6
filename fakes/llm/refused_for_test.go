package llm

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestATraceSaysWhatARefusalIsAbout(t *testing.T) {
	asking := func(content string) string {
		return `{"model":"m","messages":[{"role":"user","content":` + content + `}]}`
	}
	for body, want := range map[string]trace.RefusalKind{
		asking(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,~"}}]`): trace.RefusedForMedia,
		asking(`[{"type":"image"}]`): trace.RefusedForOther,
		asking(`7`):                  trace.RefusedForOther,
		asking(`"Hello"`):            "",
	} {
		ends := make(chan *trace.ModelEnd, 1)
		s := start(t, Options{Record: func(e trace.Event) trace.Ref {
			if e.End != nil {
				ends <- e.End
			}
			return trace.Ref{}
		}}, When().Reply(Text("Hello")))
		response, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		end := <-ends
		require.Equal(t, want, end.RefusedFor, "%s", end.Refused)
	}
}
