package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// mostSweeps bounds how often strays are looked for, should they beget others faster than they are found.
const mostSweeps = 20

// killStrays kills what got away from the client's group, as daemons do: every process that was given the environment variable, which no
// others have.
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
		process, err := os.FindProcess(pid) // a handle, so that what is killed is what was looked at
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(path) // of other people's processes we may not, and of those that have ended there is none
		if err == nil && (bytes.HasPrefix(environ, variable) || bytes.Contains(environ, append([]byte{0}, variable...))) {
			found = process.Kill() == nil || found
		}
		_ = process.Release()
	}
	return found
}
