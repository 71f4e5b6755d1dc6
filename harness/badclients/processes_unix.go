//go:build unix

package badclients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// processes are clients whose process is wrong.
var processes = []Client{
	{Name: "exits-at-once", Doc: "exits with success and never connects", first: exits},
	{Name: "exits-3-at-once", Doc: "exits with status 3 and never connects", first: func(*bad) {
		fmt.Fprintln(os.Stderr, "no configuration was found")
		os.Exit(3)
	}},
	{Name: "hangs-at-once", Doc: "never connects and never ends", first: hangs},
	{Name: "hangs-and-ignores-sigterm", Doc: "never connects and ignores signals", first: func(*bad) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		hang()
	}},
	{Name: "hangs-when-asked", Doc: "hangs at a sampling request", asked: hangs},
	{Name: "hangs-at-the-end", Doc: "responds to everything and never ends", last: func() int { hang(); return 0 }},
	{Name: "hangs-with-a-grandchild", Doc: "never connects, and a child holds its output open", first: func(*bad) {
		child("sleep 1000")
		hang()
	}},
	{Name: "leaves-a-grandchild", Doc: "ends well and leaves a child that holds its output open",
		last: func() int { child("sleep 1000"); return 0 }},
	{Name: "leaves-a-stubborn-grandchild", Doc: "ends well and leaves a child that ignores signals", last: func() int {
		child("trap '' TERM INT HUP; while :; do sleep 1000; done")
		return 0
	}},
	{Name: "forks-on", Doc: "ends well and leaves fifty children", last: func() int {
		for range 50 {
			child("sleep 1000")
		}
		return 0
	}},
	{Name: "daemonises", Doc: "ends well and leaves a process in another session that holds its output open",
		last: func() int {
			daemon := exec.Command("sleep", "1000")
			daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			daemon.Stdout, daemon.Stderr = os.Stdout, os.Stderr
			if err := daemon.Start(); err != nil {
				return 1
			}
			return 0
		}},
	{Name: "exits-0-when-asked", Doc: "exits with success in the middle of a call", asked: exits},
	{Name: "exits-7-at-the-end", Doc: "responds to everything and exits with status 7", last: func() int { return 7 }},
	{Name: "segmentation-fault-at-once", Doc: "dies of SIGSEGV before it connects", first: dies("SEGV")},
	{Name: "segmentation-fault-when-asked", Doc: "dies of SIGSEGV at a sampling request", asked: dies("SEGV")},
	{Name: "segmentation-fault-at-the-end", Doc: "responds to everything and dies of SIGSEGV",
		last: func() int { die("SEGV"); return 0 }},
	{Name: "killed-when-asked", Doc: "dies of SIGKILL at a sampling request", asked: dies("KILL")},
	{Name: "panics-when-asked", Doc: "panics on another goroutine at a sampling request", asked: func(*bad) {
		go func() { panic("a nil pointer, as it were") }()
		hang()
	}},
	{Name: "floods-stderr", Doc: "writes 100 MB to stderr", last: func() int { return flood(os.Stderr, 100<<20) }},
	{Name: "floods-stdout-in-one-line", Doc: "writes 20 MB to stdout in one line", last: func() int {
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range 20 {
			if _, err := os.Stdout.Write(block); err != nil {
				return 1
			}
		}
		return 0
	}},
	{Name: "closes-its-output", Doc: "closes stdout and stderr before it connects", first: func(*bad) {
		_ = os.Stdout.Close()
		_ = os.Stderr.Close()
	}},
	{Name: "writes-binary", Doc: "writes control characters and invalid UTF-8 to its output", last: func() int {
		fmt.Fprint(os.Stderr, "\x1b[2J\x00\xff\xfe\r\x07")
		fmt.Print("\x1b]0;title\x07\xc3\x28\n")
		return 5
	}},
}

func hang() { select {} }

func hangs(*bad) { hang() }
func exits(*bad) { os.Exit(0) }

func dies(signal string) func(*bad) { return func(*bad) { die(signal) } }

// child starts a shell in the background that inherits the output.
func child(script string) {
	c := exec.Command("sh", "-c", script)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
}

// die ends the process by a signal. A shell takes its place, because Go turns a SIGSEGV into an exit status.
func die(name string) {
	panic(syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -s " + name + " $$"}, os.Environ()))
}

// flood writes n bytes in lines.
func flood(to *os.File, n int) int {
	block := bytes.Repeat([]byte("all work and no play makes a dull client\n"), 1<<10)
	for ; n > 0; n -= len(block) {
		if _, err := to.Write(block); err != nil {
			return 1
		}
	}
	return 0
}
