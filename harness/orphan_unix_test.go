//go:build unix

package harness_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// leaveAnOrphan starts a process in a session of its own, which no group reaches, that holds our stdout, and ends.
func leaveAnOrphan() error {
	orphan := exec.Command("sleep", "1000")
	orphan.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	orphan.Stdout = os.Stdout
	if err := orphan.Start(); err != nil {
		return err
	}
	_, err := fmt.Println(orphan.Process.Pid)
	return err
}
