package main

import (
	"cmp"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

var update = flag.Bool("update", false, "write the command's output in the README, docs and scripts anew")

// pages returns the README and the pages under docs, by path. Of those that are generated it returns the first.
func pages(t *testing.T) map[string]string {
	paths, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../docs/checks/README.md") {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = string(raw)
	}
	return texts
}

var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ mcp-conform ([^\n]*)\n(.*?)```")

func TestThePagesShowTheCommandsOutput(t *testing.T) {
	for path, text := range pages(t) {
		dir := t.TempDir() // The commands of a page follow each other.
		for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
			t.Run(filepath.Base(path)+"/"+block[1], func(t *testing.T) {
				args := strings.Fields(block[1])
				if args[0] == "run" {
					args = append(args, "--no-durations")
				}
				command := exec.Command("mcp-conform", args...)
				command.Dir = dir
				output, _ := command.Output() // some show failures
				if *update {
					shown := "```console\n$ mcp-conform " + block[1] + "\n" + string(output) + "```"
					text = strings.Replace(text, block[0], shown, 1)
					return
				}
				require.Equal(t, block[2], string(output), "go test ./cmd/mcp-conform -run Pages -update accepts it")
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```(?:go|text)\n// ([a-z_/]+\\.(?:go|txt|txtar))\n(.*?)```")

// The first line of a block of Go, or of a list, is a file name. The file may move to another folder.
func TestThePagesShowTheCodeAsItIs(t *testing.T) {
	files := map[string]string{} // all files with a name
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".go", ".txt", ".txtar"}, filepath.Ext(path)) {
			return err
		}
		raw, err := os.ReadFile(path)
		files[d.Name()] += string(raw)
		return err
	}))
	for path, text := range pages(t) {
		for _, block := range goBlock.FindAllStringSubmatch(text, -1) {
			code := strings.TrimRight(block[2], "\n")
			require.Contains(t, files[filepath.Base(block[1])], code, "%s: %s", path, block[1])
		}
	}
}

// kinds are the kinds of blocks in the pages, each with the test that runs or reads it: a pattern of their first lines.
var kinds = []*regexp.Regexp{
	regexp.MustCompile(`^console\n\$ mcp-conform `),                 // TestThePagesShowTheCommandsOutput
	regexp.MustCompile(`^(go|text)\n// [a-z_/]+\.(go|txt|txtar)\n`), // TestThePagesShowTheCodeAsItIs
	regexp.MustCompile(`^js\n// adapter\.mjs\n`),                    // TestTheAdapterOfInitIsThatOfThePage
	regexp.MustCompile(`^(json|sh|yaml)\n(//|#) [a-z.-]+`),          // the files of TestTheCommandsOfThePagesWork
	regexp.MustCompile(`^yaml\nname: `),                             // interop/reports
	regexp.MustCompile(`^yaml\nknown:\n`),                           // TestTheBaselinesOfThePageAreValid
	regexp.MustCompile(`^http\n`),                                   // TestThePageOnMigratingShowsRealFrames
}

func TestEveryBlockOfThePagesHasATest(t *testing.T) {
	for path, text := range pages(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			covered := slices.ContainsFunc(kinds, func(k *regexp.Regexp) bool { return k.MatchString(block[1]) })
			require.True(t, covered, "%s: no test reads this block:\n%s", path, block[1])
		}
	}
}

func TestTheBaselinesOfThePageAreValid(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(known:\n.*?)```").FindAllStringSubmatch(pages(t)["../../docs/ci.md"], -1)
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		file, err := baseline.Parse("ci.md", []byte(block[1]), conformance.BaselineChecks())
		require.NoError(t, err)
		require.NotEmpty(t, file.Entries)
	}
}

var (
	fence       = regexp.MustCompile("(?ms)^```(.*?)^```")
	named       = regexp.MustCompile("(?ms)^```(?:json|sh|yaml)\n(?:// |# )([a-z-]+\\.[a-z]+)\n(.*?)^```")
	pageCommand = regexp.MustCompile(`(?m)^    (\S.*)$`)
	remark      = regexp.MustCompile(`  +# .*$`)
)

// notRun are lines of the pages that no test runs: what needs a network or a folder of its own, and what is no command.
var notRun = regexp.MustCompile(
	`^(go get|go test .* -bench|npm install|npx|MCP_CONFORM_CASSETTES=\S+) ?|` +
		`^mcp-conform init (python-sdk|rust|java|typescript|go) ?|^mcp-conform: |^ *[|2^]|^{"mcp-conform":`)

// Each command of the pages runs, on few cases. The built-in client stands in for the clients of the pages, and for npm
// test a program that asks a model.
func TestTheCommandsOfThePagesWork(t *testing.T) {
	sharedtest.NeedsWhole(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	model, err := llm.Start(llm.Options{}, llm.When().Reply(llm.Text("It is eighteen degrees.")).Times(99))
	require.NoError(t, err)
	t.Cleanup(model.Close)
	bin := t.TempDir()
	for name, script := range map[string]string{
		"node": standIn, "python": standIn, "python3": standIn, "npm": "exec ask-model 'How is the weather?'\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "OPENAI_BASE_URL="+model.OpenAI(),
		"OPENAI_API_KEY=sk-0123456789abcdef", "KEY=sk-0123456789abcdef")
	for path, text := range pages(t) {
		if strings.HasSuffix(path, "hosts.md") { // TestTheCommandsForHostsWork
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			dir := pageFolder(t, text)
			for _, line := range pageCommand.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
				if command := remark.ReplaceAllString(line[1], ""); !notRun.MatchString(command) {
					runLine(t, dir, env, command)
				}
			}
		})
	}
}

// standIn is a client: the built-in one, at the URL of the last argument.
const standIn = "for last; do :; done\ncase $last in http:*) ;; *) last= ;; esac\n" +
	"exec mcp-conform client builtin:reference $last\n"

// pageFolder returns a new folder with the files of a page, and those that its commands need.
func pageFolder(t *testing.T, text string) string {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"mcp-conform.yaml": "clients: {mine: {command: [node, my-client.js]}, host: {command: [node, my-host.js]}}\n",
		"old/chat.yaml": "interactions:\n- request: {method: GET, uri: 'http://h/v1/models', body: null, headers: {}}\n" +
			"  response: {status: {code: 200, message: OK}, headers: {}, body: {string: '{}'}}\nversion: 1\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for _, block := range named.FindAllStringSubmatch(text, -1) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, block[1]), []byte(block[2]), 0o600))
	}
	return dir
}

// runLine runs a command of a page. A run plays one case, unless it selects some.
func runLine(t *testing.T, dir string, env []string, command string) {
	t.Helper()
	switch {
	case strings.HasPrefix(command, "go install "):
		require.Equal(t, "go install github.com/mcp-conform/mcp-conform/cmd/mcp-conform@latest", command)
		return
	case command == "go run ./cmd/mcp-conform run" || command == "go test ./...": // .ci/run begins with them
		return
	case strings.HasPrefix(command, "mcp-conform serve --llm "):
		s := serve(t, "--llm", filepath.Join(dir, "script.yaml"))
		require.NotEmpty(t, s.printed["OPENAI_BASE_URL"])
		return
	case strings.HasPrefix(command, "mcp-conform selftest "): // internal/proof/selftest and faults play them
		words := strings.Fields(command)[1:]
		c, _, err := newRoot(streams{io.Discard, io.Discard}, words).Find(words)
		require.NoError(t, err)
		require.NoError(t, c.ParseFlags(words), command)
		return
	case strings.HasPrefix(command, "mcp-conform init "):
		require.NoError(t, os.Remove(filepath.Join(dir, "mcp-conform.yaml")))
	}
	if !strings.Contains(command, "--scenario") && !strings.Contains(command, "--conversation") {
		command = strings.ReplaceAll(command, "mcp-conform run", "mcp-conform run --revision 2025-11-25 "+
			"--scenario basic/question --scenario declare/undeclared-tools-refused")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Dir, cmd.Env = dir, env
	output, err := cmd.CombinedOutput()
	want := 0
	if strings.Contains(command, "builtin:mutant/") {
		want = exitFailed
	}
	require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s: %v\n%s", command, err, output)
}

var (
	pageLink = regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked = regexp.MustCompile("[^a-z0-9 _-]")
)

// The links between the pages lead to files and headings.
func TestTheLinksOfThePagesWork(t *testing.T) {
	for path, text := range pages(t) {
		for _, link := range pageLink.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target := filepath.Join(filepath.Dir(path), cmp.Or(link[1], filepath.Base(path)))
			info, err := os.Stat(target)
			require.NoError(t, err, path)
			if link[2] == "" || info.IsDir() || filepath.Ext(target) != ".md" {
				continue
			}
			raw, err := os.ReadFile(target)
			require.NoError(t, err)
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(string(raw), -1) {
				anchors = append(anchors, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			require.Contains(t, anchors, link[2], "%s: %s", path, link[0])
		}
	}
}
