package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Setup is what a program needs beside its command if it does not know the contract of [Command]. The zero value is
// nothing.
type Setup struct {
	// Templates are files to write before each start, with placeholders as in the command. The first one is {config}.
	Templates []Template
	// Input is written to the program's standard input, a line each. A line with {tool} is written once for each tool.
	Input []string
	// Ready matches the output after which the next line is written, and after the last line the input ends. Nil writes
	// all at once.
	Ready *regexp.Regexp
	// AfterTask writes the input, and ends it, when the model of a host ([Client.Agent]) has given its last answer, in
	// place of Ready. It is for a host that waits for the next task then.
	AfterTask bool
	// Answers are written to the standard input when the program asks.
	Answers []Answer
	// Terminal runs the program in a terminal, on systems that have one for programs. Its two outputs are then one.
	Terminal bool
	// OwnHome keeps the home folder of the user. Else a program with templates, and any host ([Client.Agent]), has an
	// empty one in each session.
	OwnHome bool
}

// Template is a file that a program reads.
type Template struct {
	// Text has placeholders.
	Text string
	// Path is relative to the home folder; "" for a file outside it.
	Path string
	// Name is the name of a file outside the home folder, as hosts may look at its ending; "" for any.
	Name string
}

// Answer answers a question of the program.
type Answer struct {
	// Pattern matches the question.
	Pattern *regexp.Regexp
	// Text is the answer, without a newline.
	Text string
	// Declines is the answer of a user who declines ([Decline]); "" for Text.
	Declines string
}

// HasPrompt reports whether a template or the input has the task for a host: see [Client.Agent].
func (s *Setup) HasPrompt() bool { return mentions((&Client{Setup: *s}).texts(), promptPlace) }

// Placeholders in a client's arguments, templates and input, also inside a word.
const (
	urlPlace     = "{url}"            // the server's URL
	configPlace  = "{config}"         // the path of the first template or, without one, of a file that names the server
	promptPlace  = "{prompt}"         // the task for a host with a conversation of its own
	commandPlace = "{server-command}" // the command that launches the server over stdio, quoted for a shell
	programPlace = "{server-program}" // its first word
	argsPlace    = "{server-args}"    // its other words, as a JSON array; as an argument of its own, one for each
	keyPlace     = "{key}"            // the key for the model
	homePlace    = "{home}"           // the home folder of the client
	toolPlace    = "{tool}"           // in the input: each tool
	listenPlace  = "{listen}"         // the address on which a gateway is to listen
	portPlace    = "{port}"           // its port
)

// modelPlace is the model's base URL in a dialect; without one, in the first that the client receives.
var modelPlace = regexp.MustCompile(`\{model(:[a-z-]*)?\}`)

// place is where one start of a program has its files.
type place struct{ dir, home, config string }

func (c *Client) prepare(dir string, env *Env) (place, error) {
	p := place{dir: dir, home: ourHome()}
	switch {
	case c.Setup.OwnHome && p.home == "":
		return p, errors.New("the client needs its home folder, but HOME is not set")
	case !c.Setup.OwnHome && (c.Agent || c.Setup.Templates != nil):
		p.home = filepath.Join(dir, "home")
		if err := os.Mkdir(p.home, 0o700); err != nil {
			return p, err
		}
	}
	paths := make([]string, len(c.Setup.Templates))
	for i, t := range c.Setup.Templates {
		paths[i] = filepath.Join(p.home, t.Path)
		if t.Path == "" {
			paths[i] = filepath.Join(dir, "config", fmt.Sprint(i+1), cmp.Or(t.Name, "config"))
		}
	}
	if len(paths) == 0 {
		var err error
		p.config, err = writeConfig(dir, env)
		return p, err
	}
	p.config = paths[0]
	places := env.places(p)
	for i, t := range c.Setup.Templates {
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o700); err != nil {
			return p, err
		}
		if err := os.WriteFile(paths[i], []byte(places(t.Text)), 0o600); err != nil {
			return p, err
		}
	}
	return p, nil
}

// ourHome is our home folder, for a client that does not need one of its own; "" if it is unknown, as in a container.
func ourHome() string {
	home, _ := os.UserHomeDir()
	return home
}

// caches are folders of package managers that a new home folder would make empty, by variable.
var caches = map[string]string{"npm_config_cache": ".npm", "UV_CACHE_DIR": ".cache/uv", "PIP_CACHE_DIR": ".cache/pip",
	"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "GOPATH": "go", "GOCACHE": ".cache/go-build",
	"PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm", "DENO_DIR": ".cache/deno", "BUN_INSTALL": ".bun"}

// variables are those of the place: the home folder and, in it, the folders of the XDG specification. The one for
// temporary files comes last: only this start of the client receives its value.
func (p *place) variables() []string {
	var set []string
	if ours := ourHome(); p.home != ours {
		set = []string{"HOME=" + p.home, "USERPROFILE=" + p.home}
		for name, folder := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share",
			"XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache"} {
			set = append(set, name+"="+filepath.Join(p.home, folder))
		}
		for name, folder := range caches {
			if _, err := os.Stat(filepath.Join(ours, folder)); err == nil && ours != "" && os.Getenv(name) == "" {
				set = append(set, name+"="+filepath.Join(ours, folder))
			}
		}
		slices.Sort(set)
	}
	return append(set, "TMPDIR="+p.dir, "TMP="+p.dir, "TEMP="+p.dir)
}

func (e *Env) places(p place) func(string) string {
	args := []string{}
	program := ""
	if len(e.Server) > 0 {
		program, args = e.Server[0], e.Server[1:]
	}
	raw, _ := json.Marshal(args) // strings
	var listen []string
	if e.port != "" {
		listen = []string{listenPlace, e.listen(), portPlace, e.port}
	}
	known := strings.NewReplacer(
		append(listen, urlPlace, e.URL, configPlace, p.config, promptPlace, e.Prompt, keyPlace, e.Key,
			homePlace, p.home, commandPlace, words.Quote(e.Server...), programPlace, program, argsPlace, string(raw))...)
	return func(text string) string {
		return modelPlace.ReplaceAllStringFunc(known.Replace(text), func(place string) string {
			_, name, _ := strings.Cut(strings.Trim(place, "{}"), ":")
			if name == "" {
				name = e.firstDialect()
			}
			return e.Model[name]
		})
	}
}

func (e *Env) firstDialect() string {
	for _, name := range append([]string{dialect.OpenAIChat}, dialects.Names()...) {
		if e.Model[name] != "" {
			return name
		}
	}
	return ""
}

func (c *Client) lines(env *Env, p place) []string {
	places := env.places(p)
	var lines []string
	for _, line := range c.Setup.Input {
		line = places(line)
		if !strings.Contains(line, toolPlace) {
			lines = append(lines, line)
			continue
		}
		for _, tool := range env.tools {
			lines = append(lines, strings.ReplaceAll(line, toolPlace, tool))
		}
	}
	return lines
}

func (c *Client) texts() []string {
	texts := slices.Concat(c.argv[min(1, len(c.argv)):], c.Setup.Input)
	for _, t := range c.Setup.Templates {
		texts = append(texts, t.Text)
	}
	return texts
}

func mentions(texts []string, place string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, place) })
}

// checkPlaces returns a CommandError for placeholders that the client cannot have.
func (c *Client) checkPlaces() error {
	texts := c.texts()
	var err error
	if c.gateway != nil {
		err = c.checkGateway()
	}
	switch {
	case c.stdio && mentions(texts, urlPlace):
		err = errors.New("over stdio the server has no URL: use {server-command}, {server-program} or {config}, not {url}")
	case !c.stdio && (mentions(texts, commandPlace) || mentions(texts, programPlace)):
		err = errors.New("over HTTP it launches no server: use {url}, not {server-command}, or run it over stdio")
	}
	for _, text := range texts {
		for _, m := range modelPlace.FindAllStringSubmatch(text, -1) {
			if name := strings.TrimPrefix(m[1], ":"); name != "" && !slices.Contains(dialects.Names(), name) {
				err = fmt.Errorf("%s: unknown dialect %q: use one of %s", m[0], name, strings.Join(dialects.Names(), ", "))
			}
		}
	}
	if err == nil {
		return nil
	}
	return &CommandError{c.argv[0], err}
}
