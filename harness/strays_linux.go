package harness

import (
	"bytes"
	"fmt"
	"os"
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

func killWith(variable []byte) bool {
	all, _ := os.ReadDir("/proc") // none without procfs
	found := false
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() || !hasVariable(pid, variable) {
			continue
		}
		process, err := os.FindProcess(pid) // a handle: Kill reaches the process that is inspected after this
		if err != nil {
			continue
		}
		if hasVariable(pid, variable) {
			found = process.Kill() == nil || found
		}
		_ = process.Release()
	}
	return found
}

func hasVariable(pid int, variable []byte) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // fails for others' processes, and for ended ones
	return err == nil && bytes.Contains(append([]byte{0}, environ...), append([]byte{0}, variable...))
}
