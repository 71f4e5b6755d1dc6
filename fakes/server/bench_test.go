package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// BenchmarkSample measures one sample within a call, over real sockets, with and without a trace.
func BenchmarkSample(b *testing.B) {
	for _, revision := range bothProtocols {
		for name, record := range map[string]func(trace.Event) trace.Ref{
			"bare": nil, "recording": trace.NewRecorder(trace.Header{}, 1<<40).Record,
		} {
			b.Run(fmt.Sprint(name, "/", revision), func(b *testing.B) {
				srv, err := server.Start(server.Options{Record: record},
					tool("ask", func(s *server.Session) (any, error) {
						for s.Context().Err() == nil {
							if _, err := s.Sample(s.Ask("What is the weather in Paris?")); err != nil {
								return nil, err
							}
						}
						return nil, nil
					}))
				require.NoError(b, err)
				r := &rig{Server: srv, t: b, http: &http.Client{Transport: &http.Transport{}}}
				defer r.http.CloseIdleConnections()
				defer srv.Close()
				b.ReportAllocs()
				c := r.client(revision, sampling)
				call := c.call(1, "ask")
				if !revision.Modern() {
					for m := call.next(); b.Loop(); m = call.next() {
						c.post(m.answer("18°C")).body()
					}
					return
				}
				required := call.last()
				for id := 2; b.Loop(); id++ {
					required = c.call(id, "ask", retry(b, required, says("18°C"))).last()
				}
			})
		}
	}
}
