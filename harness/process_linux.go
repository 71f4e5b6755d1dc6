package harness

import (
	"os/exec"
	"syscall"
)

// diesWithUs ends the process if we are killed, which leaves us no time to do so.
func diesWithUs(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
