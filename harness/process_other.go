//go:build !unix

package harness

import (
	"os"
	"os/exec"
)

// Without process groups only the process itself can be killed.
func ownGroup(*exec.Cmd)                 {}
func terminateGroup(cmd *exec.Cmd)       { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd)            { _ = cmd.Process.Kill() }
func signalName(*os.ProcessState) string { return "" }

func newGuard(string) (func(*exec.Cmd), func()) { return func(*exec.Cmd) {}, func() {} }
