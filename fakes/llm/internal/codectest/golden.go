package codectest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// Golden returns a function that compares the lines of a case with its section of a txtar file. The flag -update writes
// the file, with all cases of the test.
func Golden(t *testing.T, file string) func(t *testing.T, name string, lines []string) {
	const comment = "What the codec answers, by case of the test. The flag -update writes it.\n\n"
	archive := &txtar.Archive{Comment: []byte(comment)}
	if !*update {
		var err error
		archive, err = txtar.ParseFile(file)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		}
	})
	return func(t *testing.T, name string, lines []string) {
		t.Helper()
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
			return
		}
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		require.GreaterOrEqual(t, i, 0, "%s has no section %q: run the test with -update", file, name)
		require.Equal(t, string(archive.Files[i].Data), text)
	}
}

// File compares bytes with a file. The flag -update writes it.
func File(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
