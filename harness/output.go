package harness

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// How much of each of a process's two streams is kept, in bytes: the beginning, which often has the cause, and the end.
const (
	keptHead = 4 << 10
	keptTail = 16 << 10
)

// longestLine bounds a contract line, in bytes.
const longestLine = 64 << 10

// output is one of a process's two streams: the pipe that it writes to, and the kept part. The pipe is not one of
// os/exec, whose Wait waits for everybody who holds it: the end of the process must be seen at once.
type output struct {
	kept        headTail
	read, write *os.File
	drained     chan struct{}
}

// newOutput makes a stream. It passes the contract lines in it to env; nil for a stream without any. The typist reads
// the others; nil for none. With terminal it is that of a terminal.
func newOutput(env *Env, types *typist, terminal bool) (*output, error) {
	open := os.Pipe
	if terminal {
		open = openTerminal
	}
	r, w, err := open()
	if err != nil {
		return nil, err
	}
	o := &output{read: r, write: w, drained: make(chan struct{})}
	var to io.Writer = &o.kept
	if types != nil {
		to = io.MultiWriter(to, types)
	}
	go func() {
		defer close(o.drained)
		if env == nil {
			_, _ = io.Copy(to, r) // ends when all writers are gone, or with close
			return
		}
		lines := &lineFilter{to: to, report: env.Report, announce: env.announce}
		_, _ = io.Copy(lines, r)
		lines.flush()
	}()
	return o, nil
}

// close closes our ends of the pipe when everything was read, or after so long: a stray process may hold the other end.
func (o *output) close(patience time.Duration) {
	_ = o.write.Close() // closed already if the process was started
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-o.drained:
	case <-timer.C:
	}
	_ = o.read.Close()
	<-o.drained
}

// lineFilter takes the contract lines, which begin with a brace, out of a process's output and passes on the rest. It
// is not safe for concurrent use.
type lineFilter struct {
	to       io.Writer
	report   func(Outcome)
	announce func(feature string)
	line     []byte // the beginning of a possible contract line, up to longestLine
	passing  bool   // the current line is output
}

func (f *lineFilter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if f.passing || len(f.line) == 0 && p[0] != '{' {
			p = f.pass(p)
			continue
		}
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			f.take(p)
			break
		}
		f.take(p[:end])
		f.flush()
		f.passing = false
		p = p[end:]
	}
	return n, nil
}

// pass passes on everything up to the next possible contract line, in one piece, because floods are of short lines. It
// returns the rest.
func (f *lineFilter) pass(p []byte) []byte {
	end := bytes.Index(p, []byte("\n{")) + 1
	f.passing = end == 0 && p[len(p)-1] != '\n'
	if end == 0 {
		end = len(p)
	}
	_, _ = f.to.Write(p[:end]) // to memory
	return p[end:]
}

// take adds to the line, unless the line gets too long.
func (f *lineFilter) take(part []byte) {
	f.line = append(f.line, part...)
	if len(f.line) > longestLine {
		_, _ = f.to.Write(f.line)
		f.line, f.passing = nil, true
	}
}

// flush handles the line as it is, also without a newline.
func (f *lineFilter) flush() {
	if outcome, ok := readOutcome(f.line); ok {
		f.report(outcome)
	} else if feature, ok := readFeature(f.line); ok {
		f.announce(feature)
	} else {
		_, _ = f.to.Write(f.line)
	}
	f.line = f.line[:0]
}

// headTail keeps the beginning and the end of what is written to it. It is safe for concurrent use.
type headTail struct {
	mu         sync.Mutex
	head, tail []byte
	dropped    int64
}

func (k *headTail) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := min(len(p), keptHead-len(k.head))
	k.head = append(k.head, p[:first]...)
	k.tail = append(k.tail, p[first:]...)
	if len(k.tail) > 4*keptTail { // for each line it would be slow
		k.trim()
	}
	return len(p), nil
}

func (k *headTail) trim() {
	if over := len(k.tail) - keptTail; over > 0 {
		k.tail = append(k.tail[:0], k.tail[over:]...)
		k.dropped += int64(over)
	}
}

// String returns the kept text, with a line between the two parts that counts the missing bytes. The keys and tokens of
// our environment are replaced by the names of their variables: a client may print them.
func (k *headTail) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.trim(); k.dropped == 0 {
		return valid(leak.Hide(os.Environ(), string(k.head)+string(k.tail))[0])
	}
	head, tail := leak.HideCut(os.Environ(), string(k.head), string(k.tail))
	return fmt.Sprintf("%s\n… %d bytes omitted …\n%s", valid(head), k.dropped, valid(tail))
}

// hidden returns a text without the keys and tokens of our environment: a client may get them as arguments.
func hidden(text string) string { return leak.Hide(os.Environ(), text)[0] }
