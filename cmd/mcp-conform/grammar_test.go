package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fields has a flag of each kind.
type fields struct {
	Text    string            `env:"GRAMMAR_TEXT" default:"preset" help:"A text."`
	Names   []string          `default:"a,b" help:"Names."`
	Lines   []string          `sep:"none" help:"Lines with commas."`
	Pairs   map[string]string `help:"Pairs."`
	Files   reportFiles       `help:"Files."`
	Yes     bool              `short:"y" help:"Yes or no."`
	Limit   time.Duration     `help:"A limit."`
	Size    uint64            `help:"A size."`
	Some    *int              `help:"A number, or none."`
	OwnWord string            `enum:"one,two" help:"A word."`
}

func (f *fields) Run(context.Context, streams) error { return nil }

func (f *fields) Validate() error {
	if f.Text == "invalid" {
		return errors.New("the text is invalid")
	}
	return nil
}

func TestAFieldIsAFlag(t *testing.T) {
	three := 3
	for name, c := range map[string]struct {
		words []string
		want  fields
	}{
		"no flag": {nil, fields{Text: "preset", Names: []string{"a,b"}}},
		"a list": {[]string{"--names", `c,d\,e`, "--names=f"},
			fields{Text: "preset", Names: []string{"c", "d,e", "f"}}},
		"an empty text":   {[]string{"--text="}, fields{Names: []string{"a,b"}}},
		"the last counts": {[]string{"--text", "a", "--text", "b"}, fields{Text: "b", Names: []string{"a,b"}}},
		"each other kind": {
			[]string{"--lines", "a,b", "--lines=c", "--pairs", "a=b=c", "--pairs=d=", "--files", "json=a,text=b", "-y",
				"--limit=2s", "--size=7", "--some", "3", "--own-word", "two"},
			fields{Text: "preset", Names: []string{"a,b"}, Lines: []string{"a,b", "c"},
				Pairs: map[string]string{"a": "b=c", "d": ""},
				Files: reportFiles{"json": "a", "text": "b"}, Yes: true, Limit: 2 * time.Second, Size: 7, Some: &three,
				OwnWord: "two"},
		},
		"not yes": {[]string{"-y", "--yes=false"}, fields{Text: "preset", Names: []string{"a,b"}}},
	} {
		var got fields
		require.NoError(t, newCommand(streams{io.Discard, io.Discard}, nil, "test", "", &got).ParseFlags(c.words), name)
		require.Equal(t, c.want, got, name)
	}
	t.Setenv("GRAMMAR_TEXT", "of the environment")
	for want, words := range map[string][]string{"of the environment": nil, "a": {"--text=a"}} {
		var got fields
		require.NoError(t, newCommand(streams{io.Discard, io.Discard}, nil, "test", "", &got).ParseFlags(words))
		require.Equal(t, want, got.Text)
	}
}

// The words of the command that a command runs are not flags of ours.
type (
	commandOnly struct {
		invocation
		fields
		Command []string `arg:"" optional:"" passthrough:"" help:"A command."`
	}
	commandBehind struct {
		invocation
		fields
		File    string   `arg:"" help:"A file."`
		Command []string `arg:"" optional:"" passthrough:"" help:"A command."`
	}
)

func TestWordsOfACommandAreNotFlags(t *testing.T) {
	run := func(r runner, words ...string) error {
		root := newGroup("mcp-conform", "", newCommand(streams{io.Discard, io.Discard}, words, "test", "", r))
		root.SetArgs(append([]string{"test"}, words...))
		root.SilenceErrors, root.SilenceUsage = true, true
		return root.ExecuteContext(t.Context())
	}
	var one commandOnly
	require.NoError(t, run(&one, "-y", "node", "x.js", "--text", "-y"))
	require.Equal(t, []string{"node", "x.js", "--text", "-y"}, one.Command)
	require.True(t, one.Yes)
	require.False(t, one.dashed())
	require.Equal(t, "preset", one.Text)
	one = commandOnly{}
	require.NoError(t, run(&one, "--", "--text", "--"))
	require.Equal(t, []string{"--text", "--"}, one.Command)
	require.True(t, one.dashed())
	require.Equal(t, []string{"--", "--text", "--"}, one.words)

	var two commandBehind
	require.NoError(t, run(&two, "a.yaml", "--text", "b", "--", "node", "-y"))
	require.Equal(t, "a.yaml", two.File)
	require.Equal(t, []string{"node", "-y"}, two.Command)
	require.Equal(t, "b", two.Text)
	require.False(t, two.Yes)
	require.ErrorContains(t, run(&commandBehind{}), "expected FILE, found none (see mcp-conform test --help)")
	require.ErrorContains(t, run(&fields{}, "a"), "unexpected argument a")
	require.ErrorContains(t, run(&fields{}, "--text", "invalid"), "the text is invalid (see mcp-conform test --help)")
}

func TestAWrongValueIsNamed(t *testing.T) {
	for words, want := range map[[2]string]string{
		{"--size", "-1"}:        `--size: expected a whole number from 0, found "-1"`,
		{"--some", "x"}:         `--some: expected a whole number, found "x"`,
		{"--limit", "2"}:        `--limit: expected a duration such as 30s, found "2"`,
		{"--pairs", "a"}:        `--pairs: expected PAIRS, found "a"`,
		{"--own-word", "three"}: `--own-word: expected one of one, two, found "three"`,
		{"--siz", "1"}:          "unknown flag --siz; did you mean --size?",
		{"--names", "a"}:        "",
	} {
		c := newCommand(streams{io.Discard, io.Discard}, nil, "test", "", &fields{})
		err := c.ParseFlags(words[:])
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, flagError(c, err), want)
	}
}
