package harness_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// setUp runs a script as a client with a setup, and returns what it wrote.
func setUp(t *testing.T, script string, setup harness.Setup, args ...string) string {
	client := harness.Command(append([]string{"sh", "-c", script, "sh"}, args...)...)
	client.Setup = setup
	return end(t, client, 0).Stdout
}

func TestTemplatesAreFilledInAndHaveAHomeOfTheirOwn(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	out := setUp(t, `cat "$1" "$XDG_CONFIG_HOME/host/own.json"; echo "$HOME $XDG_DATA_HOME $1"`, harness.Setup{
		Templates: []harness.Template{
			{Text: `{"url":"{url}","anthropic":"{model:anthropic}","key":"{key}","x":{"{other}":1}}`, Name: "host.json"},
			{Text: "{home} {prompt}", Path: ".config/host/own.json"}}}, "{config}")
	fields := strings.Fields(out)
	home := fields[len(fields)-3]
	require.Regexp(t, `^{"url":"http://127.0.0.1:\d+/\d{20}/mcp","anthropic":"http://127.0.0.1:\d+/\d{20}",`+
		`"key":"`+leak.PlantedKey+`","x":{"{other}":1}}`+regexp.QuoteMeta(home), out)
	require.Equal(t, []string{home, filepath.Join(home, ".local/share")}, fields[len(fields)-3:len(fields)-1])
	require.Equal(t, "host.json", filepath.Base(fields[len(fields)-1]))
	require.NotEqual(t, os.Getenv("HOME"), home)
	require.NoDirExists(t, home)
	own := setUp(t, `echo "$HOME"`, harness.Setup{OwnHome: true, Templates: []harness.Template{{Text: "x"}}}, "{config}")
	require.Equal(t, os.Getenv("HOME")+"\n", own)
}

func TestTheInputIsWrittenAtOnceOrWhenTheProgramIsReady(t *testing.T) {
	require.Equal(t, "call case-quiet\nexit\n", setUp(t, "cat", harness.Setup{Input: []string{"call {tool}", "exit"}}))
	const repl = `while printf '\033[1m> \033[0m'; read -r line; do echo "did $line"; done; echo; echo over`
	out := setUp(t, repl, harness.Setup{Input: []string{"call {tool}", "exit"}, Ready: regexp.MustCompile(`(?m)^> $`)})
	out = regexp.MustCompile(`\x1b\[\dm`).ReplaceAllString(out, "")
	require.Equal(t, "> did call case-quiet\n> did exit\n> \nover\n", out)
}

func TestQuestionsAreAnsweredAsTheUserDecides(t *testing.T) {
	for decision, want := range map[string]string{"": "yes", harness.Decline: "no", harness.DeclineAnswer: "yes"} {
		client := harness.Command("sh", "-c", `printf 'Allow sampling? '; read -r a; printf 'Sure? '; read -r b; `+
			`echo "$a $b"`)
		client.Setup.Answers = []harness.Answer{{Pattern: regexp.MustCompile(`Allow.*\?`), Text: "yes", Declines: "no"},
			{Pattern: regexp.MustCompile(`Sure\?`), Text: "sure"}}
		r := harness.Runner{Client: client, Revision: server.V20251125}
		var got *trace.Trace
		c := quiet("case/quiet")
		c.Decision = decision
		require.NoError(t, r.Run(t.Context(), []harness.Case{c}, func(tr *trace.Trace) { got = tr }))
		supports := false
		for _, e := range got.Events {
			supports = supports || e.Mark != nil && e.Mark.Name == trace.MarkSupports
		}
		require.Equal(t, "Allow sampling? Sure? "+want+" sure\n", ending(t, got).Stdout)
		require.Equal(t, decision == harness.Decline, supports, "a user who declined makes decisions")
	}
}

func TestEachQuestionOfALineIsAnswered(t *testing.T) {
	out := setUp(t, `printf 'Allow a? Allow b? '; read -r a; read -r b; echo "$a $b"`, harness.Setup{
		Answers: []harness.Answer{{Pattern: regexp.MustCompile(`Allow.*\?`), Text: "y"}}})
	require.Equal(t, "Allow a? Allow b? y y\n", out)
}

func TestAProgramMayHaveATerminal(t *testing.T) {
	const script = `test -t 0 && test -t 1 && test -t 2 && printf 'Name? ' && read -r name && echo "hello $name" && cat`
	out := setUp(t, script, harness.Setup{Terminal: true, Input: []string{"Ann"},
		Ready: regexp.MustCompile(`\? $|hello Ann`)})
	require.Equal(t, "Name? Ann\nhello Ann\n", strings.ReplaceAll(out, "\r", ""))
}

func TestUnknownDialectsOfPlaceholdersAreMistakes(t *testing.T) {
	client := harness.Command("sh", "{model:antropic}")
	r := harness.Runner{Client: client, Revision: server.V20251125}
	err := r.Run(t.Context(), []harness.Case{{ID: "test/case"}}, func(*trace.Trace) {})
	require.ErrorContains(t, err, `unknown dialect "antropic"`)
	require.ErrorContains(t, err, dialect.Anthropic)
}
