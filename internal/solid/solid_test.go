package solid

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnpackReturnsWhatWasPacked(t *testing.T) {
	long := strings.Repeat("a line of a recording that comes again in another file, in another order\n", 4000)
	for name, files := range map[string]map[string][]byte{
		"no file":     {},
		"an empty":    {"a": {}},
		"short":       {"a": []byte("text"), "b": nil, "c": []byte("text")},
		"a run":       {"a": bytes.Repeat([]byte{'x'}, 1000)},
		"repetitions": {"a": []byte("1" + long + "2"), "b": []byte(long), "c": []byte("0" + long[7:] + "end")},
	} {
		t.Run(name, func(t *testing.T) {
			unpacked, err := Unpack(Pack(files))
			require.NoError(t, err)
			require.Len(t, unpacked, len(files))
			for name, text := range files {
				require.Equal(t, string(text), string(unpacked[name]))
			}
		})
	}
}

// Random text cannot be deflated: only references to the first file make the second small.
func TestFarRepetitionsCostLittle(t *testing.T) {
	random := make([]byte, 1<<18)
	state := uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = byte(state >> 24)
	}
	one, two := Pack(map[string][]byte{"a": random}), Pack(map[string][]byte{"a": random, "b": random})
	require.Less(t, len(two), len(one)+100)
}

func TestUnpackRefusesDamagedArchives(t *testing.T) {
	whole := Pack(map[string][]byte{"a": []byte(strings.Repeat("some text ", 100))})
	for n := range whole {
		_, err := Unpack(whole[:n])
		require.ErrorContains(t, err, "reading the archive: ", "the first %d bytes", n)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(Pack(map[string][]byte{"a": []byte(strings.Repeat("some text ", 100)), "b": []byte("more")}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if files, err := Unpack(archive); err == nil && len(files) > 0 {
			again, err := Unpack(Pack(files))
			require.NoError(t, err)
			require.Len(t, again, len(files))
		}
	})
}
