package cassettes

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// readOnly makes a folder one that takes no files from this goroutine, which gives up its right to write everywhere, if it has it. What it
// returns takes that back.
func readOnly(t *testing.T, folder string) (again func()) {
	t.Helper()
	runtime.LockOSThread() // the user of files is the thread's
	require.NoError(t, os.Chmod(folder, 0o555))
	if os.Geteuid() == 0 {
		const nobody = 65534
		require.NoError(t, syscall.Setfsuid(nobody))
	}
	return func() {
		if os.Geteuid() == 0 {
			require.NoError(t, syscall.Setfsuid(0))
		}
		require.NoError(t, os.Chmod(folder, 0o755))
		runtime.UnlockOSThread()
	}
}

func TestAReadOnlyFolder(t *testing.T) {
	folder, err := os.MkdirTemp(t.TempDir(), "") // its own, since what is above it must be open to all
	require.NoError(t, err)
	for _, above := range []string{folder, filepath.Dir(folder), filepath.Dir(filepath.Dir(folder))} {
		require.NoError(t, os.Chmod(above, 0o755))
	}
	path := filepath.Join(folder, "talk.yaml")
	before, err := New(path, WithMode(RecordMissing), WithTransport(&counting{}))
	require.NoError(t, err)
	asks(t, before, `{"a":1}`)
	require.NoError(t, before.Close())
	was, err := os.ReadFile(path)
	require.NoError(t, err)

	again := readOnly(t, folder)
	defer again()
	_, err = New(path, WithMode(RecordAnew))
	require.EqualError(t, err, "recording to "+path+": the folder "+folder+" takes no files: permission denied")
	_, err = New(filepath.Join(folder, "new", "talk.yaml"), WithMode(RecordMissing))
	require.EqualError(t, err, "recording to "+filepath.Join(folder, "new", "talk.yaml")+": the folder "+folder+" takes no files: permission denied")

	tr, err := New(path, WithMode(RecordMissing), WithTransport(&counting{}))
	require.NoError(t, err)
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close(), "nothing was missing, so nothing is to be written")

	tr, err = New(path, WithMode(RecordMissing), WithTransport(&counting{}))
	require.NoError(t, err)
	asks(t, tr, `{"a":1}`)
	asks(t, tr, `{"b":1}`)
	require.EqualError(t, tr.Close(), "recording to "+path+": the folder "+folder+" takes no files: permission denied")
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(was), string(is))
}

// fill has files take no more than so many bytes, as a disk that is full does. What it returns takes that back.
func fill(t *testing.T, most uint64) (again func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // which would end the process
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: was.Max}))
	return func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
		signal.Reset(syscall.SIGXFSZ)
	}
}

func TestADiskThatIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.yaml")
	tr, err := New(path, WithMode(RecordAnew), WithTransport(&counting{}))
	require.NoError(t, err)
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close())
	was := map[string]string{}
	for _, file := range []string{path, timingFile(path)} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		was[file] = string(data)
	}

	tr, err = New(path, WithMode(RecordAnew), WithTransport(&counting{}))
	require.NoError(t, err)
	asks(t, tr, `{"b":"`+strings.Repeat("long ", 5000)+`"}`)
	asks(t, tr, `{"c":1}`)
	again := fill(t, 16<<10) // room for the timings, and not for the cassette
	err = tr.Close()
	again()
	require.EqualError(t, err, "recording to "+path+": talk.yaml was not written, and what was there before stands: file too large")
	for file, want := range was {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing is left of what was begun")
	tr, err = New(path)
	require.NoError(t, err)
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close(), "the old recording plays")
}
