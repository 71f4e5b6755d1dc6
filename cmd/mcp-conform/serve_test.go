package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const served = `
rules:
  - when: {lastUser: weather}
    reply: [{call: get_weather, id: call_1, arguments: {city: Paris}}]
    fault: {splitEveryByte: true}
  - when: {turn: 7}
    reply: [{text: never}]
`

// serving is the command in progress.
type serving struct {
	cmd     *exec.Cmd
	lines   *bufio.Scanner
	printed map[string]string // the variables, and the first two words of other lines at the start
}

func serve(t testing.TB, args ...string) *serving {
	t.Helper()
	s := &serving{cmd: exec.Command("mcp-conform", append([]string{"serve"}, args...)...), printed: map[string]string{}}
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	s.cmd.Stderr = os.Stderr
	require.NoError(t, s.cmd.Start())
	watchdog := time.AfterFunc(5*time.Minute, func() { _ = s.cmd.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	s.lines = bufio.NewScanner(out)
	for s.lines.Scan() {
		if name, value, found := strings.Cut(strings.TrimPrefix(s.lines.Text(), "export "), "="); found {
			s.printed[name] = value
		} else if words := strings.Fields(s.lines.Text()); len(words) > 1 {
			s.printed[words[0]] = words[1]
		}
		if strings.HasPrefix(s.lines.Text(), "export OPENAI_BASE_URL=") { // the last line
			return s
		}
	}
	t.Fatal("it ended without printing its addresses")
	return nil
}

// end interrupts the command and returns its last lines.
func (s *serving) end(t testing.TB, how os.Signal) (last []string) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(how))
	for s.lines.Scan() {
		last = append(last, s.lines.Text())
	}
	require.NoError(t, s.cmd.Wait())
	return last
}

func TestServeAnswersByTheScriptUntilInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weather.yaml")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	for _, how := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := serve(t, "--llm", file)
		require.Equal(t, s.printed["openai-chat"], s.printed["OPENAI_BASE_URL"])
		require.Equal(t, s.printed["anthropic"], s.printed["ANTHROPIC_BASE_URL"])
		require.Equal(t, "sk-scripted-model", s.printed["OPENAI_API_KEY"])
		resp, err := http.Post(s.printed["mistral"]+"/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"weather?"}]}`))
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Contains(t, string(answer), `"arguments":"{\"city\":\"Paris\"}"`)

		resp, err = http.Get(s.printed["journal"])
		require.NoError(t, err)
		var journal struct {
			Exchanges []struct{ Dialect, Rule, Fault string }
			Unused    []string
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&journal))
		require.Len(t, journal.Exchanges, 1)
		require.Equal(t, "mistral", journal.Exchanges[0].Dialect)
		require.Contains(t, journal.Exchanges[0].Rule, "rule 1, when: {lastUser: weather}")
		require.Equal(t, "SplitEveryByte()", journal.Exchanges[0].Fault)
		require.Len(t, journal.Unused, 1)
		last := s.end(t, how)
		require.Len(t, last, 1)
		require.Contains(t, last[0], "when: {turn: 7}")
		_, err = http.Get(s.printed["journal"])
		require.Error(t, err)
	}
}

func TestATakenPortIsNotAUsageError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "weather.yaml")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	var out, errs bytes.Buffer
	args := []string{"serve", "--llm", file, "--listen", taken.Addr().String()}
	require.Equal(t, exitHarness, run(t.Context(), args, streams{&out, &errs}))
	require.Contains(t, errs.String(), "mcp-conform: --listen "+taken.Addr().String()+": listen tcp")
}
