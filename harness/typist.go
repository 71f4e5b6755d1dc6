package harness

import (
	"io"
	"regexp"
	"strings"
	"sync"
)

// mostUnread is how much of a program's output is searched for a question, in bytes.
const mostUnread = 16 << 10

// typist writes a program's standard input, as a user would who reads its output. It is safe for concurrent use.
type typist struct {
	lines    []string
	ready    *regexp.Regexp // nil: the lines do not wait for output
	later    bool           // the lines wait for finish
	answers  []Answer
	declines bool
	// enter ends a line.
	enter string
	// declined is called when an answer declined.
	declined func()

	mu     sync.Mutex
	input  io.WriteCloser
	unread string // the output since the last line that was written
}

func (c *Client) newTypist(env *Env, p place) *typist {
	if c.Setup.Input == nil && c.Setup.Answers == nil && !c.Setup.AfterTask {
		return nil
	}
	return &typist{enter: "\n", lines: c.lines(env, p), ready: c.Setup.Ready, later: c.Setup.AfterTask,
		answers:  c.Setup.Answers,
		declines: env.Decision == Decline, declined: func() { env.Announce(Decisions) }}
}

// begin writes what waits for nothing. The program reads it from the other end of input.
func (t *typist) begin(input io.WriteCloser) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.input = input
	if t.ready == nil && !t.later {
		t.rest(t.answers == nil)
	}
	t.react() // the program may have written already
}

// finish writes what waits for the end of the host's task.
func (t *typist) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest(true)
}

func (t *typist) rest(end bool) {
	for _, line := range t.lines {
		t.write(line)
	}
	if end {
		_ = t.input.Close()
	}
}

// write writes a line. A program that does not read it has ended.
func (t *typist) write(line string) { _, _ = io.WriteString(t.input, line+t.enter) }

var escapes = regexp.MustCompile(`\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9])|\r`)

func (t *typist) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unread += string(p)
	if over := len(t.unread) - mostUnread; over > 0 {
		t.unread = t.unread[over:]
	}
	if t.input != nil {
		t.react()
	}
	return len(p), nil
}

func (t *typist) react() {
	for t.step() {
	}
}

// firstEnd returns where a match can end at the earliest: a line may have several questions.
func firstEnd(pattern *regexp.Regexp, text string, match []int) int {
	for end := match[0] + 1; end < match[1]; end++ {
		if pattern.MatchString(text[match[0]:end]) {
			return end
		}
	}
	return match[1]
}

func (t *typist) step() bool {
	text := escapes.ReplaceAllString(t.unread, "")
	for _, a := range t.answers {
		if at := a.Pattern.FindStringIndex(text); at != nil && at[1] > 0 {
			t.unread = text[firstEnd(a.Pattern, text, at):]
			if t.declines && a.Declines != "" {
				t.declined()
				t.write(a.Declines)
			} else {
				t.write(a.Text)
			}
			return true
		}
	}
	if t.ready == nil {
		return false
	}
	at := t.ready.FindStringIndex(text)
	if at == nil {
		return false
	}
	t.unread = text[at[1]:]
	if len(t.lines) == 0 {
		_ = t.input.Close()
		t.ready = nil
		return false
	}
	t.write(t.lines[0])
	t.lines = t.lines[1:]
	return strings.TrimSpace(t.unread) != ""
}
