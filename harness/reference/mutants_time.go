package reference

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var timeMutants = []Mutant{
	{Name: "waits-for-ever", Doc: "has no limit on the model at all", Kills: []string{"time/model-stalls", "time/stream-stalls", "time/total-limit"},
		broken: faults{waitsForEver: true}},
	{Name: "limits-the-header", Doc: "waits so long for the header of the model's answer, and for ever for what is behind it", Kills: []string{"time/stream-stalls", "time/total-limit"},
		broken: faults{limitsHeader: true}},
	{Name: "limits-silence", Doc: "gives the model its time anew with each piece that it sends", Kills: []string{"time/total-limit"},
		broken: faults{limitsSilence: true}},
	{Name: "limits-attempts", Doc: "gives each of six attempts to ask the model the time that it has for all", Kills: []string{"time/model-stalls", "time/stream-stalls", "time/total-limit"},
		broken: faults{limitsAttempts: true, again: func(n int, err error) (bool, time.Duration) {
			return n < 6 && errors.Is(err, context.DeadlineExceeded), time.Second / 2
		}}},
	{Name: "hasty", Doc: "gives up on a stream that is alive", Kills: []string{"time/model-slow"}, broken: faults{hasty: true}},
	{Name: "keeps-partial", Doc: "takes what it has when the model falls silent for its whole answer", Kills: []string{"time/stream-stalls"}, Also: []string{"time/total-limit", "time/model-slow"}, // the latter on a machine too busy for it
		Dialects: []string{dialect.OpenAIChat}, Streamed: true, broken: faults{keepsPartial: true}},
	{Name: "blocks-pings", Doc: "answers requests of the server one after the other, pings among them", Kills: []string{"time/alive-while-sampling"},
		Era: "legacy", Wire: true, broken: faults{blocksPings: true}},
	{Name: "pongs-by-text", Doc: "answers a ping under the text of its id", Kills: []string{"time/alive-while-sampling"},
		Era: "legacy", Wire: true, broken: faults{pongsByText: true}},
	{Name: "token-as-text", Doc: "reports progress under the text of a token that is a number", Kills: []string{"time/progress-token"},
		Era: "legacy", Wire: true, broken: faults{tokenAsText: true}},
	{Name: "progress-stands", Doc: "reports the same progress each time", Kills: []string{"time/progress-rises"}, Era: "legacy", Wire: true, broken: faults{progressStands: true}},
	{Name: "progress-goes-on", Doc: "reports progress on a request that was answered long ago", Kills: []string{"time/progress-ends"},
		Era: "legacy", Wire: true, broken: faults{progressGoesOn: true}},
	{Name: "one-token", Doc: "has one progress token for all of its requests", Kills: []string{"time/token-unique"}, Era: "legacy", Wire: true, broken: faults{oneToken: true}},
	{Name: "fractional-token", Doc: "takes numbers that are no integers for progress tokens", Kills: []string{"time/token-shape"}, Wire: true, broken: faults{fractionalToken: true}},
}
