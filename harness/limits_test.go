package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimitsDependOnTheClockAndWhatIsDeclared(t *testing.T) {
	inProcess, program := InProcess(func(context.Context, Env) error { return nil }), Command("client")
	bubble := func(func()) {}
	const second, minute = time.Second, time.Minute
	for name, c := range map[string]struct {
		client   *Client
		bubble   func(func())
		declared time.Duration
		timed    Timing
		want     Limits
	}{
		"untimed":                        {&program, nil, 0, Untimed, Limits{Client: minute}},
		"untimed, declared":              {&program, nil, second, Untimed, Limits{second, true, 0}},
		"a program":                      {&program, nil, 0, Beyond, Limits{2 * second, false, 6 * second}},
		"a program, declared":            {&program, nil, 20 * second, Beyond, Limits{20 * second, true, 45 * second}},
		"a program, beside virtual time": {&program, bubble, 0, Beyond, Limits{2 * second, false, 6 * second}},
		"in process, in real time":       {&inProcess, nil, 0, Beyond, Limits{2 * second, false, 6 * second}},
		"in virtual time":                {&inProcess, bubble, 0, Beyond, Limits{minute, false, 15 * minute}},
		"in virtual time, declared":      {&inProcess, bubble, second, Beyond, Limits{second, true, 7 * second}},
		"in virtual time, declared long": {&inProcess, bubble, 60 * minute, Beyond,
			Limits{60 * minute, true, 120*minute + 5*second}},
		"within, in virtual time": {&inProcess, bubble, 0, Within, Limits{minute, false, 15 * second}},
		"within":                  {&program, nil, 0, Within, Limits{minute, false, second}},
		"within, declared":        {&program, nil, second, Within, Limits{second, true, second / 4}},
	} {
		r := Runner{Client: *c.client, Bubble: c.bubble, ClientTimeout: c.declared}
		one := Case{ID: "s/a", Timed: c.timed, Wait: time.Millisecond}
		require.Equal(t, c.want, r.limits(&one), name)
		require.Equal(t, DefaultCaseTimeout+time.Millisecond+3*c.want.ModelDelay, r.limit([]Case{one}), name)
	}
}
