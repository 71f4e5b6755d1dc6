package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHowLongAClientIsKeptWaiting(t *testing.T) {
	inProcess, program := InProcess(func(context.Context, Env) error { return nil }), Command("client")
	for name, c := range map[string]struct {
		runner Runner
		timed  Timing
		want   Limits
	}{
		"not at all":                      {Runner{Client: program}, Untimed, Limits{Client: time.Minute}},
		"not at all, declared":            {Runner{Client: program, ClientTimeout: time.Second}, Untimed, Limits{time.Second, true, 0}},
		"a program":                       {Runner{Client: program}, Beyond, Limits{2 * time.Second, false, 6 * time.Second}},
		"a program, declared":             {Runner{Client: program, ClientTimeout: 20 * time.Second}, Beyond, Limits{20 * time.Second, true, 45 * time.Second}},
		"in virtual time":                 {Runner{Client: inProcess, Bubble: func(func()) {}}, Beyond, Limits{time.Minute, false, 15 * time.Minute}},
		"in virtual time, declared":       {Runner{Client: inProcess, Bubble: func(func()) {}, ClientTimeout: time.Second}, Beyond, Limits{time.Second, true, 7 * time.Second}},
		"in virtual time, declared long":  {Runner{Client: inProcess, Bubble: func(func()) {}, ClientTimeout: time.Hour}, Beyond, Limits{time.Hour, true, 2*time.Hour + 5*time.Second}},
		"within, in virtual time":         {Runner{Client: inProcess, Bubble: func(func()) {}}, Within, Limits{time.Minute, false, 15 * time.Second}},
		"within":                          {Runner{Client: program}, Within, Limits{time.Minute, false, time.Second}},
		"within, declared":                {Runner{Client: program, ClientTimeout: time.Second}, Within, Limits{time.Second, true, 250 * time.Millisecond}},
		"in process, but in real time":    {Runner{Client: inProcess}, Beyond, Limits{2 * time.Second, false, 6 * time.Second}},
		"a program, beside virtual time ": {Runner{Client: program, Bubble: func(func()) {}}, Beyond, Limits{2 * time.Second, false, 6 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			one := Case{ID: "s/a", Timed: c.timed, Wait: time.Millisecond}
			require.Equal(t, c.want, c.runner.limits(&one))
			require.Equal(t, DefaultCaseTimeout+time.Millisecond+3*c.want.Patience, c.runner.limit([]Case{one}), "the session has the time for it, three times over")
		})
	}
}
