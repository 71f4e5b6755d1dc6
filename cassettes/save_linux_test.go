package cassettes

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// readOnly makes a folder read-only for this goroutine, even for root. The returned function restores it.
func readOnly(t *testing.T, folder string) (again func()) {
	t.Helper()
	runtime.LockOSThread() // capabilities belong to the thread
	require.NoError(t, os.Chmod(folder, 0o555))
	was := capabilities(t, syscall.SYS_CAPGET, [2]rights{})
	const overAccess = 1 << 1 // CAP_DAC_OVERRIDE
	without := was
	without[0].Effective &^= overAccess
	capabilities(t, syscall.SYS_CAPSET, without)
	return func() {
		capabilities(t, syscall.SYS_CAPSET, was)
		require.NoError(t, os.Chmod(folder, 0o755))
		runtime.UnlockOSThread()
	}
}

// rights are the capabilities of a thread, see capget(2).
type rights struct{ Effective, Permitted, Inheritable uint32 }

// capabilities gets or sets the capabilities of this thread.
func capabilities(t *testing.T, call uintptr, r [2]rights) [2]rights {
	t.Helper()
	header := struct{ version, pid uint32 }{version: 0x20080522}
	_, _, err := syscall.RawSyscall(call, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&r)), 0)
	require.Zero(t, err)
	return r
}

func TestReadOnlyFolderKeepsTheFile(t *testing.T) {
	folder := t.TempDir()
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
	cannot := ": cannot create files in the folder " + folder + ": permission denied"
	require.EqualError(t, err, "recording to "+path+cannot)
	_, err = New(filepath.Join(folder, "new", "talk.yaml"), WithMode(RecordMissing))
	require.EqualError(t, err, "recording to "+filepath.Join(folder, "new", "talk.yaml")+cannot)

	tr := opened(t, path, WithMode(RecordMissing), WithTransport(&counting{}))
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close(), "nothing to write")

	tr = opened(t, path, WithMode(RecordMissing), WithTransport(&counting{}))
	asks(t, tr, `{"a":1}`)
	asks(t, tr, `{"b":1}`)
	require.EqualError(t, tr.Close(), "recording to "+path+cannot)
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(was), string(is))
}

// fill limits the size of files, like a full disk. The returned function restores the limit.
func fill(t *testing.T, most uint64) (again func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // its default ends the process
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: was.Max}))
	return func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
		signal.Reset(syscall.SIGXFSZ)
	}
}

// The limit applies to the process, and the go command logs to files too, so the test runs in a process of its own.
func TestFullDiskKeepsTheFile(t *testing.T) {
	const isOwn = "MCP_CONFORM_TEST_FULL_DISK"
	if os.Getenv(isOwn) == "" {
		self, err := os.Executable()
		require.NoError(t, err)
		own := exec.Command(self, "-test.run=^TestFullDiskKeepsTheFile$")
		own.Env = append(os.Environ(), isOwn+"=1")
		out, err := own.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "PASS")
		return
	}
	path := talkFile(t)
	tr := opened(t, path, WithMode(RecordAnew), WithTransport(&counting{}))
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close())
	was := map[string]string{}
	for _, file := range []string{path, timingFile(path)} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		was[file] = string(data)
	}

	tr = opened(t, path, WithMode(RecordAnew), WithTransport(&counting{}))
	asks(t, tr, `{"b":"`+strings.Repeat("long ", 5000)+`"}`)
	asks(t, tr, `{"c":1}`)
	again := fill(t, 16<<10) // enough for the timings, not for the cassette
	err := tr.Close()
	again()
	require.EqualError(t, err,
		"recording to "+path+": talk.yaml was not written, the old file is unchanged: file too large")
	for file, want := range was {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 2, "no temporary file is left")
	tr = opened(t, path)
	asks(t, tr, `{"a":1}`)
	require.NoError(t, tr.Close(), "the old recording replays")
}
