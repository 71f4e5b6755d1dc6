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

// processes are clients whose process misbehaves, whatever they say on the wire.
var processes = []Client{
	{Name: "exits-at-once", Doc: "exits with success without connecting", first: func(*bad) { os.Exit(0) }},
	{Name: "exits-3-at-once", Doc: "says why on stderr and exits with 3 without connecting", first: func(*bad) {
		fmt.Fprintln(os.Stderr, "no configuration was found")
		os.Exit(3)
	}},
	{Name: "hangs-at-once", Doc: "never connects and never ends", first: func(*bad) { hang() }},
	{Name: "hangs-and-ignores-sigterm", Doc: "never connects and does not end when it is told to", first: func(*bad) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		hang()
	}},
	{Name: "hangs-when-asked", Doc: "takes a sampling request and does nothing from then on", asked: func(*bad) { hang() }},
	{Name: "hangs-at-the-end", Doc: "answers everything and never ends", last: func() int { hang(); return 0 }},
	{Name: "hangs-with-a-grandchild", Doc: "never connects, and a child of its holds its output open", first: func(*bad) {
		child("sleep 1000")
		hang()
	}},
	{Name: "leaves-a-grandchild", Doc: "ends well and leaves a child that holds its output open", last: func() int { child("sleep 1000"); return 0 }},
	{Name: "leaves-a-stubborn-grandchild", Doc: "ends well and leaves a child that does not end when it is told to", last: func() int {
		child("trap '' TERM INT HUP; while :; do sleep 1000; done")
		return 0
	}},
	{Name: "forks-on", Doc: "ends well and leaves fifty children", last: func() int {
		for range 50 {
			child("sleep 1000")
		}
		return 0
	}},
	{Name: "daemonises", Doc: "starts a process in a session of its own, which holds its output open, and ends well", last: func() int {
		daemon := exec.Command("sleep", "1000")
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		daemon.Stdout, daemon.Stderr = os.Stdout, os.Stderr
		if err := daemon.Start(); err != nil {
			return 1
		}
		return 0
	}},
	{Name: "exits-0-when-asked", Doc: "exits with success in the middle of a call", asked: func(*bad) { os.Exit(0) }},
	{Name: "exits-7-at-the-end", Doc: "answers everything and exits with 7", last: func() int { return 7 }},
	{Name: "segmentation-fault-at-once", Doc: "is ended by SIGSEGV before it connects", first: func(*bad) { die("SEGV") }},
	{Name: "segmentation-fault-when-asked", Doc: "is ended by SIGSEGV when it is asked to sample", asked: func(*bad) { die("SEGV") }},
	{Name: "segmentation-fault-at-the-end", Doc: "answers everything and is ended by SIGSEGV", last: func() int { die("SEGV"); return 0 }},
	{Name: "killed-when-asked", Doc: "is ended by SIGKILL when it is asked to sample", asked: func(*bad) { die("KILL") }},
	{Name: "panics-when-asked", Doc: "panics on a goroutine of its own when it is asked to sample", asked: func(*bad) {
		go func() { panic("a nil pointer, as it were") }()
		hang()
	}},
	{Name: "floods-stderr", Doc: "writes 100 MB to stderr", last: func() int { return flood(os.Stderr, 100<<20) }},
	{Name: "floods-stdout-in-one-line", Doc: "writes 20 MB to stdout without a line's end", last: func() int {
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
	{Name: "writes-binary", Doc: "writes control characters and broken UTF-8 to its output", last: func() int {
		fmt.Fprint(os.Stderr, "\x1b[2J\x00\xff\xfe\r\x07")
		fmt.Print("\x1b]0;title\x07\xc3\x28\n")
		return 5
	}},
}

// hang never returns.
func hang() { select {} }

// child starts a shell in the background that inherits our output.
func child(script string) {
	c := exec.Command("sh", "-c", script)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
}

// die ends the process by a signal. A shell takes its place, because the runtime of Go turns a SIGSEGV into an exit status.
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
