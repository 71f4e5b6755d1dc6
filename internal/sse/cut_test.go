package sse

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCutterCutsAtEmptyLines(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		stream := []byte(
			"id: 1" + end + "data: a" + end + end + ": comment" + end + end +
				"data: b" + end + "data: c" + end + end + "data: cut",
		)
		for size := 1; size <= len(stream); size++ {
			var c Cutter
			var data []string
			for at := 0; at < len(stream); at += size {
				for _, event := range c.Cut(stream[at:min(len(stream), at+size)]) {
					require.NoError(t, Events(bytes.NewReader(event), func(d []byte) bool {
						data = append(data, string(d))
						return true
					}))
				}
			}
			require.Equal(t, []string{"a", "b\nc"}, data, "%q in pieces of %d", end, size)
		}
	}
}

// The events of a cut stream are those of the whole stream.
func FuzzCutter(f *testing.F) {
	f.Add([]byte("\ufeffdata: a\r\n\r\ndata: b\r\rid: 3\n\n\n"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 {
			return
		}
		var whole, parts []string
		var ids, cutIDs []string
		r := new(Reader)
		require.NoError(t, r.Events(bytes.NewReader(stream), func(d []byte) bool {
			whole, ids = append(whole, string(d)), append(ids, r.ID)
			return true
		}))
		var c Cutter
		one := new(Reader)
		first := true
		for at := 0; at < len(stream); at += min(size, len(stream)-at) {
			for _, event := range c.Cut(stream[at:min(len(stream), at+size)]) {
				if !first { // only the beginning of a stream has a byte order mark
					event = append([]byte("\n"), event...)
				}
				first = false
				require.NoError(t, one.Events(bytes.NewReader(event), func(d []byte) bool {
					parts, cutIDs = append(parts, string(d)), append(cutIDs, one.ID)
					return true
				}))
			}
		}
		require.Equal(t, fmt.Sprint(whole, ids), fmt.Sprint(parts, cutIDs))
	})
}
