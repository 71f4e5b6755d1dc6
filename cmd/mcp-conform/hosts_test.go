package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// myHost is the host of docs/hosts.md. It knows nothing of mcp-conform.
func myHost() error {
	flags := flag.NewFlagSet("my-host", flag.ContinueOnError)
	home, _ := os.UserConfigDir()
	config := flags.String("config", filepath.Join(home, "my-host", "settings.json"), "")
	prompt := flags.String("prompt", "", "")
	ask := flags.Bool("ask", false, "")
	interactive := flags.Bool("interactive", false, "")
	chat := len(os.Args) > 1 && os.Args[1] == "chat"
	args := os.Args[1:]
	if chat {
		args = args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	var settings struct {
		MCPServers map[string]struct{ URL string }
		Provider   struct{ Dialect, BaseURL, APIKey string }
	}
	raw, err := os.ReadFile(*config)
	if err := errors.Join(err, json.Unmarshal(raw, &settings)); err != nil {
		return err
	}
	p := settings.Provider
	p.Dialect, p.BaseURL = cmp.Or(p.Dialect, dialect.OpenAIChat), cmp.Or(p.BaseURL, os.Getenv("OPENAI_BASE_URL"))
	env := harness.Env{HTTP: http.DefaultClient, Model: map[string]string{p.Dialect: p.BaseURL}, Key: p.APIKey}
	for _, s := range settings.MCPServers {
		env.URL = s.URL
	}
	in := bufio.NewScanner(os.Stdin)
	host := reference.Config{Edit: func(_ *harness.Env, o *client.Options, _ *model.Options) {
		if !*ask {
			return
		}
		o.Consent = func(_ context.Context, _, result map[string]any) error {
			fmt.Print("Allow sampling? [y/n] ")
			if result == nil && in.Scan() && in.Text() != "y" {
				return errors.New("declined")
			}
			return nil
		}
	}}
	if !chat {
		env.Prompt = *prompt
		err := reference.Host(host)(context.Background(), env)
		for *interactive && in.Scan() && in.Text() != "/exit" {
			continue
		}
		return err
	}
	for fmt.Print("> "); in.Scan() && in.Text() != "/exit"; fmt.Print("> ") {
		run := reference.Host(host)
		env.Prompt = in.Text()
		if tool, ok := strings.CutPrefix(in.Text(), "/call "); ok {
			run, env.Tools = reference.Client(host), []string{tool}
		}
		if err := run(context.Background(), env); err != nil {
			return err
		}
	}
	return nil
}

func runMyHost() int {
	if err := myHost(); err != nil {
		fmt.Fprintln(os.Stderr, "my-host:", err)
		return 1
	}
	return 0
}

var (
	fileBlock = regexp.MustCompile("(?s)```json\n// ([a-z.-]+)\n(.*?)```")
	command   = regexp.MustCompile(`(?m)^    (mcp-conform run .*)$`)
)

// Each command of the page runs as it stands, on few cases.
func TestTheCommandsForHostsWork(t *testing.T) {
	sharedtest.NeedsWhole(t)
	text := pages(t)["../../docs/hosts.md"]
	dir := t.TempDir()
	for _, block := range fileBlock.FindAllStringSubmatch(text, -1) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, block[1]), []byte(block[2]), 0o600))
	}
	commands := command.FindAllStringSubmatch(text, -1)
	require.Greater(t, len(commands), 6)
	for _, line := range commands {
		t.Run(line[1], func(t *testing.T) {
			t.Parallel()
			const few = "mcp-conform run --format json --revision 2025-11-25 --scenario basic/question " +
				"--scenario parallel/two-cities --scenario consent/request "
			cmd := exec.Command("sh", "-c", strings.Replace(line[1], "mcp-conform run ", few, 1))
			cmd.Dir = dir
			out, err := cmd.Output()
			rs, readErr := report.ReadJSON(out)
			require.NoError(t, readErr, "%s", out)
			for _, r := range rs.Results {
				require.False(t, r.Failed(false), "%s: %s", r.ID(), r.Message)
				if r.ID() == "consent/declined" {
					require.Equal(t, strings.Contains(line[1], "--answer"), r.Verdict == report.Pass, r.Message)
				}
			}
			require.NoError(t, err)
			require.Greater(t, rs.Summary[report.Pass], 20)
		})
	}
}
