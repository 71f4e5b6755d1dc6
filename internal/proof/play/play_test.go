package play

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGrowingReturnsEachCaseOnce(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e"}
	require.Equal(t, [][]string{{"a", "b"}, {"c", "d", "e"}}, slices.Collect(Growing(cases, 2, 9)))
	require.Equal(t, [][]string{{"a", "b"}}, slices.Collect(Growing(cases[:2], 2, 2, 5)))
	require.Empty(t, slices.Collect(Growing(nil, 2, 5)))
}

func TestTimeIsVirtualWithoutATest(t *testing.T) {
	fired := make(chan struct{})
	go InVirtualTime(func() { // in real time the test ends first
		<-time.NewTimer(time.Hour).C
		close(fired)
	})
	select {
	case <-fired:
	case <-time.After(time.Minute):
		t.Fatal("expected the hour to pass at once, found that time is real")
	}
}
