package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// mostSweeps bounds the search for strays that start others faster than it finds them.
const mostSweeps = 20

// killStrays kills processes that left the client's group, as daemons do: those with the environment variable, which
// only the client received.
func killStrays(variable string) {
	for range mostSweeps {
		if !killWith(append([]byte(variable), 0)) {
			return
		}
	}
}

// killWith kills the processes with the variable and reports whether there were any.
func killWith(variable []byte) bool {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // none without procfs
	found := false
	for _, path := range environs {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		process, err := os.FindProcess(pid) // a handle: Kill reaches the process that was inspected
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(path) // fails for other users' processes, and for those that ended
		if err == nil && bytes.Contains(append([]byte{0}, environ...), append([]byte{0}, variable...)) {
			found = process.Kill() == nil || found
		}
		_ = process.Release()
	}
	return found
}
