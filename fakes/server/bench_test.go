package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// BenchmarkSample is one sample there and back again, in the middle of a call, over real sockets: with a trace and without.
func BenchmarkSample(b *testing.B) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		for _, name := range []string{"bare", "recording"} {
			b.Run(fmt.Sprint(name, "/", revision), func(b *testing.B) {
				options := server.Options{}
				if name == "recording" {
					options.Record = trace.NewRecorder(trace.Header{}, 1<<40).Record
				}
				srv, err := server.Start(options, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
					for s.Context().Err() == nil {
						if _, err := s.Sample(s.Ask("What is the weather in Paris?")); err != nil {
							return nil, err
						}
					}
					return nil, nil
				}})
				require.NoError(b, err)
				client := newClient()
				defer client.CloseIdleConnections()
				defer srv.Close()
				r := &rig{Server: srv, t: b, http: client}
				b.ReportAllocs()
				if revision.Modern() {
					r.sampleModern(b)
				} else {
					r.sampleLegacy(b)
				}
			})
		}
	}
}

func (r *rig) sampleLegacy(b *testing.B) {
	w := r.legacy(server.V20251125, sampling)
	call := w.call(1, "ask")
	answer := sampled("18°C")
	question := call.next()
	for b.Loop() {
		w.post(question.response(answer)).body()
		question = call.next()
	}
}

func (r *rig) sampleModern(b *testing.B) {
	w := r.modern()
	required := w.callModern(1, "ask", sampling, "").last()
	id := 1
	for b.Loop() {
		id++
		required = w.callModern(id, "ask", sampling, retryOf(b, required, func(string) string { return sampled("18°C") })).last()
	}
}
