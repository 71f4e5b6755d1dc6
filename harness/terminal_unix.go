//go:build unix

package harness

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// openTerminal opens a terminal of a usual size. It returns our end and the program's.
func openTerminal() (ours, program *os.File, err error) {
	ours, program, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	_ = pty.Setsize(ours, &pty.Winsize{Rows: 40, Cols: 120}) // without a size, some programs break lines after each word
	return ours, program, nil
}

// inTerminal makes the command the leader of a session, and so of a group, in the terminal of its standard input.
func inTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }
