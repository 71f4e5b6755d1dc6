package llm

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Requests a second at 16 connections, client and server sharing the machine.
func BenchmarkRequests(b *testing.B) {
	for name, body := range map[string]string{"plain": hello, "streamed": streamed} {
		b.Run(name, func(b *testing.B) {
			s, err := Start(Options{}, When(LastUser("hello")).Reply(Text("Paris 18°C, London 15°C, and it will stay like this.")))
			require.NoError(b, err)
			defer s.Close()
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}}
			defer client.CloseIdleConnections()
			b.SetParallelism(8) // times the processors: at least 16 on two
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := client.Post(s.OpenAI()+"/chat/completions", "application/json", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
