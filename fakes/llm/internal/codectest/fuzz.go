package codectest

import (
	"net/http"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// Fuzz decodes, checks and answers any body. The seeds and the recordings of a provider, "" for none, come first. A
// refusal by Check has one of the statuses.
func Fuzz(f *testing.F, codec dialect.Codec, header http.Header, provider string, seeds []string, statuses ...int) {
	if provider != "" {
		for _, x := range sharedtest.Read(f, provider) {
			seeds = append(seeds, x.Request)
		}
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := codec.Decode(&http.Request{Header: header}, body)
		if (req == nil) == (err == nil) {
			t.Fatalf("expected a request or an error, found %v and %v", req, err)
		}
		if err != nil {
			return
		}
		if err := codec.Check(req); err != nil && (!slices.Contains(statuses, err.Status) || err.Message == "") {
			t.Fatalf("expected a message and one of the statuses %v, found %+v", statuses, err)
		} else if err == nil && utf8.Valid(body) { // JSON is: parts that stay as they are could not be written otherwise
			CheckRewritten(t, codec, req)
		}
		a := codec.Encode(req, &dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Text: string(body)},
			{Type: dialect.ToolUse, Input: body}, {Type: dialect.Thinking, Text: "hm"}}})
		if a.Status != http.StatusOK || len(a.Chunks) == 0 {
			t.Fatalf("expected an answer, found %+v", a)
		}
		codec.EncodeErrorEvent(req, &dialect.Reply{}, 0, &dialect.Error{Status: http.StatusInternalServerError})
	})
}
