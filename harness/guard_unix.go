//go:build unix

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// newGuard starts a shell that outlives us if we are killed, which the end of a pipe tells it: it then kills the group
// of the started command, and removes its folder. release ends the shell. Without a shell there is no guard.
func newGuard(dir string) (started func(*exec.Cmd), release func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func(*exec.Cmd) {}, func() {}
	}
	sh := exec.Command("sh", "-c", `read -r group; read -r _; [ -n "$group" ] && kill -9 "-$group"; rm -rf "$0"`, dir)
	sh.Stdin, sh.SysProcAttr = r, &syscall.SysProcAttr{Setpgid: true}
	err = sh.Start()
	_ = r.Close()
	return func(cmd *exec.Cmd) { fmt.Fprintln(w, cmd.Process.Pid) }, func() {
		if err == nil {
			_ = sh.Process.Kill()
			_ = sh.Wait()
		}
		_ = w.Close()
	}
}
