//go:build unix

package badclients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// processes are clients whose process is wrong.
var processes = []Client{
	before("exits-at-once", exits),
	before("exits-3-at-once", func(*bad) {
		fmt.Fprintln(os.Stderr, "no configuration was found")
		os.Exit(3)
	}),
	before("hangs-at-once", hangs),
	before("hangs-and-ignores-sigterm", func(*bad) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		hang()
	}),
	onSample("hangs-when-asked", both, hangs),
	after("hangs-at-the-end", func() int { hang(); return 0 }),
	before("hangs-with-a-grandchild", func(*bad) {
		child("sleep 1000")
		hang()
	}),
	after("leaves-a-grandchild", func() int { child("sleep 1000"); return 0 }),
	after("leaves-a-stubborn-grandchild", func() int {
		child("trap '' TERM INT HUP; while :; do sleep 1000; done")
		return 0
	}),
	after("forks-on", func() int {
		for range 50 {
			child("sleep 1000")
		}
		return 0
	}),
	after("daemonises", func() int {
		daemon := exec.Command("sleep", "1000")
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		daemon.Stdout, daemon.Stderr = os.Stdout, os.Stderr
		if err := daemon.Start(); err != nil {
			return 1
		}
		return 0
	}),
	onSample("exits-0-when-asked", both, exits),
	after("exits-7-at-the-end", func() int { return 7 }),
	before("segmentation-fault-at-once", dies("SEGV")),
	onSample("segmentation-fault-when-asked", both, dies("SEGV")),
	after("segmentation-fault-at-the-end", func() int { die("SEGV"); return 0 }),
	onSample("killed-when-asked", both, dies("KILL")),
	onSample("panics-when-asked", both, func(*bad) {
		go func() { panic("a nil pointer, as it were") }()
		hang()
	}),
	after("floods-stderr", func() int { return flood(os.Stderr, 100<<20) }),
	after("floods-stdout-in-one-line", func() int {
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range 20 {
			if _, err := os.Stdout.Write(block); err != nil {
				return 1
			}
		}
		return 0
	}),
	before("closes-its-output", func(*bad) {
		_ = os.Stdout.Close()
		_ = os.Stderr.Close()
	}),
	after("writes-binary", func() int {
		fmt.Fprint(os.Stderr, "\x1b[2J\x00\xff\xfe\r\x07")
		fmt.Print("\x1b]0;title\x07\xc3\x28\n")
		return 5
	}),
}

// hang waits for a timer. Without cgo, Go would end a program in which nothing can ever happen again.
func hang() { <-time.After(time.Hour) }

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
