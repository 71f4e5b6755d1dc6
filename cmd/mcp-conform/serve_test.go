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

// standing is the command, serving; what it prints is read as it comes.
type standing struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  map[string]string // the first two words of each line it begins with
}

func serve(t testing.TB, args ...string) *standing {
	t.Helper()
	s := &standing{cmd: exec.Command("mcp-conform", append([]string{"serve"}, args...)...), said: map[string]string{}}
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
			s.said[name] = value
		} else if words := strings.Fields(s.lines.Text()); len(words) > 1 {
			s.said[words[0]] = words[1]
		}
		if strings.HasPrefix(s.lines.Text(), "export OPENAI_BASE_URL=") { // the last line
			return s
		}
	}
	t.Fatal("it ended before it had said where it is")
	return nil
}

// end interrupts the command and returns what it says in ending.
func (s *standing) end(t testing.TB, how os.Signal) (last []string) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(how))
	for s.lines.Scan() {
		last = append(last, s.lines.Text())
	}
	require.NoError(t, s.cmd.Wait(), "it ends with success")
	return last
}

func TestServingAScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weather.yaml")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	for _, how := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := serve(t, "--llm", file)
		require.Equal(t, s.said["openai-chat"], s.said["OPENAI_BASE_URL"])
		require.Equal(t, s.said["anthropic"], s.said["ANTHROPIC_BASE_URL"])
		require.Equal(t, "sk-scripted-model", s.said["OPENAI_API_KEY"])
		resp, err := http.Post(s.said["mistral"]+"/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"weather?"}]}`))
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Contains(t, string(answer), `"arguments": "{\"city\":\"Paris\"}"`)

		resp, err = http.Get(s.said["journal"])
		require.NoError(t, err)
		var journal struct {
			Exchanges []struct{ Dialect, Rule, Fault string }
			Unused    []string
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&journal))
		require.Equal(t, []struct{ Dialect, Rule, Fault string }{{"mistral", `rule 1, When(LastUser("weather")) of the server`, "SplitEveryByte()"}}, journal.Exchanges)
		require.Len(t, journal.Unused, 1)
		require.Equal(t, []string{"rule 2, When(Turn(7)) of the server was never used"}, s.end(t, how))
		_, err = http.Get(s.said["journal"])
		require.Error(t, err, "and is gone")
	}
}

// A port that is taken is no mistake in the command line.
func TestAPortThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "weather.yaml")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	var out, said bytes.Buffer
	require.Equal(t, exitHarness, run(t.Context(), []string{"serve", "--llm", file, "--listen", taken.Addr().String()}, streams{&out, &said}))
	require.Contains(t, said.String(), "mcp-conform: --listen "+taken.Addr().String()+": listen tcp")
}
