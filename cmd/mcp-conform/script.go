package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// script is what a file says.
type script struct {
	options llm.Options
	rules   []*llm.Rule
}

// The file, member by member as script.schema.json describes it. Members that are not there are nil or empty.
type scriptFile struct {
	Pace    *scriptPace  `yaml:"pace"`
	Lenient bool         `yaml:"lenient"`
	Rules   []scriptRule `yaml:"rules"`
}

type scriptRule struct {
	When     scriptWhen        `yaml:"when"`
	Reply    []scriptBlock     `yaml:"reply"`
	Stop     string            `yaml:"stop"`
	Model    string            `yaml:"model"`
	LateUse  bool              `yaml:"lateUse"`
	Fail     *scriptError      `yaml:"fail"`
	Fault    scriptFault       `yaml:"fault"`
	Pace     *scriptPace       `yaml:"pace"`
	Header   map[string]string `yaml:"header"`
	Account  string            `yaml:"account"`
	Times    *int              `yaml:"times"`
	Optional bool              `yaml:"optional"`
}

type scriptWhen struct {
	LastUser    *string `yaml:"lastUser"`
	System      *string `yaml:"system"`
	ToolResults *int    `yaml:"toolResults"`
	Turn        *int    `yaml:"turn"`
	Offers      *string `yaml:"offers"`
	Choice      *string `yaml:"choice"`
	Model       *string `yaml:"model"`
	Dialect     *string `yaml:"dialect"`
}

type scriptBlock struct {
	Text      *string `yaml:"text"`
	Thinking  *string `yaml:"thinking"`
	Signature string  `yaml:"signature"`
	Call      string  `yaml:"call"`
	ID        string  `yaml:"id"`
	Arguments any     `yaml:"arguments"`
}

type scriptError struct {
	Status     int               `yaml:"status"`
	Message    string            `yaml:"message"`
	Kind       string            `yaml:"kind"`
	Code       string            `yaml:"code"`
	Param      string            `yaml:"param"`
	RetryAfter *int              `yaml:"retryAfter"`
	Header     map[string]string `yaml:"header"`
}

type scriptFault struct {
	StallBeforeHeaders bool              `yaml:"stallBeforeHeaders"`
	StallAfter         *int              `yaml:"stallAfter"`
	ResetBeforeHeaders bool              `yaml:"resetBeforeHeaders"`
	ResetAfter         *int              `yaml:"resetAfter"`
	TruncateAfter      *int              `yaml:"truncateAfter"`
	TruncateInside     *int              `yaml:"truncateInside"`
	ErrorAfter         *scriptErrorAfter `yaml:"errorAfter"`
	SplitEveryByte     bool              `yaml:"splitEveryByte"`
	SplitAtRandom      *int64            `yaml:"splitAtRandom"`
	Drip               *scriptDrip       `yaml:"drip"`
	WrongContentType   *string           `yaml:"wrongContentType"`
	Spread             *scriptDuration   `yaml:"spread"`
	PauseBefore        *scriptDuration   `yaml:"pauseBefore"`
	PauseAfter         *scriptPause      `yaml:"pauseAfter"`
}

type scriptErrorAfter struct {
	Events int         `yaml:"events"`
	Error  scriptError `yaml:"error"`
}

type scriptDrip struct {
	Bytes int            `yaml:"bytes"`
	Wait  scriptDuration `yaml:"wait"`
}

type scriptPause struct {
	Events int            `yaml:"events"`
	Pause  scriptDuration `yaml:"pause"`
}

type scriptPace struct {
	FirstToken scriptDuration `yaml:"firstToken"`
	Token      scriptDuration `yaml:"token"`
	Jitter     float64        `yaml:"jitter"`
	Seed       int64          `yaml:"seed"`
}

func (p *scriptPace) pace() llm.Pace {
	return llm.Pace{FirstToken: time.Duration(p.FirstToken), Token: time.Duration(p.Token), Jitter: p.Jitter, Seed: p.Seed}
}

// scriptDuration has a unit: a bare number could be anything.
type scriptDuration time.Duration

func (d *scriptDuration) UnmarshalYAML(node ast.Node) error {
	text, ok := node.(*ast.StringNode)
	if ok {
		if parsed, err := time.ParseDuration(text.Value); err == nil {
			*d = scriptDuration(parsed)
			return nil
		}
	}
	return &yaml.SyntaxError{Message: fmt.Sprintf("%s is no duration: want a number with a unit, such as 250ms", node), Token: node.GetToken()}
}

// readScript reads a script. Its errors name the place, and show it.
func readScript(path string) (*script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return parseScript(path, data)
}

func parseScript(name string, data []byte) (*script, error) {
	var file scriptFile
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, misread(name, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more than one YAML document: want one", name)
	}
	if len(file.Rules) == 0 {
		return nil, fmt.Errorf("%s: there are no rules: want at least one under rules", name)
	}
	s := &script{options: llm.Options{Lenient: file.Lenient}}
	if file.Pace != nil {
		s.options.Pace = file.Pace.pace()
		if err := s.options.Pace.Validate(); err != nil {
			return nil, misplaced(name, data, "$.pace", fmt.Errorf("the script %w", err))
		}
	}
	for i := range file.Rules {
		path := fmt.Sprintf("$.rules[%d]", i)
		rule, at, err := file.Rules[i].rule()
		if err == nil {
			at, err = "", rule.Validate()
		}
		if err != nil {
			return nil, misplaced(name, data, path+at, fmt.Errorf("rule %d %w", i+1, err))
		}
		s.rules = append(s.rules, rule)
	}
	return s, nil
}

// rule is the rule in the terms of fakes/llm. Where it cannot be, at is where in the rule the error is.
func (r *scriptRule) rule() (rule *llm.Rule, at string, err error) {
	rule = llm.When(r.When.matchers()...).Fault(r.Fault.faults()...)
	if r.Reply != nil {
		var blocks []llm.Block
		for i := range r.Reply {
			block, err := r.Reply[i].block()
			if err != nil {
				return nil, fmt.Sprintf(".reply[%d]", i), err
			}
			blocks = append(blocks, block)
		}
		rule.Reply(blocks...)
	}
	if r.Fail != nil {
		rule.Fail(r.Fail.error())
	}
	if r.LateUse {
		rule.LateUse()
	}
	if r.Pace != nil {
		rule.Pace(r.Pace.pace())
	}
	if r.Times != nil {
		rule.Times(*r.Times)
	}
	if r.Optional {
		rule.Optional()
	}
	if r.Header != nil {
		rule.Header(header(r.Header))
	}
	return rule.StopReason(llm.StopReason(r.Stop)).Model(r.Model).Account(r.Account), "", nil
}

func (w *scriptWhen) matchers() []llm.Matcher {
	var all []llm.Matcher
	for _, text := range []struct {
		given   *string
		matcher func(string) llm.Matcher
	}{{w.LastUser, llm.LastUser}, {w.System, llm.System}, {w.Offers, llm.Offers}, {w.Choice, llm.Choice}, {w.Model, llm.Model}, {w.Dialect, llm.Dialect}} {
		if text.given != nil {
			all = append(all, text.matcher(*text.given))
		}
	}
	if w.ToolResults != nil {
		all = append(all, llm.ToolResults(*w.ToolResults))
	}
	if w.Turn != nil {
		all = append(all, llm.Turn(*w.Turn))
	}
	return all
}

// block reads arguments that are a string as the text that goes on the wire, and others as the value that JSON is made of.
func (b *scriptBlock) block() (llm.Block, error) {
	kinds := 0
	for _, given := range []bool{b.Text != nil, b.Thinking != nil, b.Call != ""} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return llm.Block{}, errors.New("has a block that is not one of them: want text, thinking or call")
	case b.Call == "" && (b.ID != "" || b.Arguments != nil):
		return llm.Block{}, errors.New("has id or arguments without call: want them with call only")
	case b.Text != nil && b.Signature != "":
		return llm.Block{}, errors.New("has a text with signature: want it with thinking or call only")
	case b.Text != nil:
		return llm.Text(*b.Text), nil
	case b.Thinking != nil:
		return llm.Thinking(*b.Thinking, b.Signature), nil
	}
	arguments, err := b.arguments()
	block := llm.CallID(b.ID, b.Call, arguments)
	block.Signature = b.Signature
	return block, err
}

func (b *scriptBlock) arguments() (string, error) {
	switch arguments := b.Arguments.(type) {
	case nil:
		return "{}", nil
	case string:
		return arguments, nil
	}
	raw, err := json.Marshal(b.Arguments)
	if err != nil {
		return "", fmt.Errorf("has arguments that JSON cannot hold: %w", err)
	}
	return string(raw), nil
}

func header(members map[string]string) http.Header {
	h := http.Header{}
	for name, value := range members {
		h.Set(name, value)
	}
	return h
}

func (e *scriptError) error() *llm.Error {
	header := header(e.Header)
	if e.RetryAfter != nil {
		header.Set("Retry-After", strconv.Itoa(*e.RetryAfter))
	}
	return &llm.Error{Status: e.Status, Message: e.Message, Kind: e.Kind, Code: e.Code, Param: e.Param, Header: header}
}

func (f *scriptFault) faults() []llm.Fault {
	var all []llm.Fault
	for _, plain := range []struct {
		given bool
		fault func() llm.Fault
	}{{f.StallBeforeHeaders, llm.StallBeforeHeaders}, {f.ResetBeforeHeaders, llm.ResetBeforeHeaders}, {f.SplitEveryByte, llm.SplitEveryByte}} {
		if plain.given {
			all = append(all, plain.fault())
		}
	}
	for _, after := range []struct {
		given *int
		fault func(int) llm.Fault
	}{{f.StallAfter, llm.StallAfter}, {f.ResetAfter, llm.ResetAfter}, {f.TruncateAfter, llm.TruncateAfter}, {f.TruncateInside, llm.TruncateInside}} {
		if after.given != nil {
			all = append(all, after.fault(*after.given))
		}
	}
	if f.ErrorAfter != nil {
		all = append(all, llm.ErrorAfter(f.ErrorAfter.Events, f.ErrorAfter.Error.error()))
	}
	if f.SplitAtRandom != nil {
		all = append(all, llm.SplitAtRandom(*f.SplitAtRandom))
	}
	if f.Drip != nil {
		all = append(all, llm.Drip(f.Drip.Bytes, time.Duration(f.Drip.Wait)))
	}
	if f.WrongContentType != nil {
		all = append(all, llm.WrongContentType(*f.WrongContentType))
	}
	if f.Spread != nil {
		all = append(all, llm.Spread(time.Duration(*f.Spread)))
	}
	if f.PauseBefore != nil {
		all = append(all, llm.PauseBefore(time.Duration(*f.PauseBefore)))
	}
	if f.PauseAfter != nil {
		all = append(all, llm.PauseAfter(f.PauseAfter.Events, time.Duration(f.PauseAfter.Pause)))
	}
	return all
}

// leading is the place in the YAML package's own messages.
var leading = regexp.MustCompile(`^\[\d+:\d+\] `)

// misread tells of what is no YAML, or not of the file's form: file, line and column, and the lines around it with a caret.
func misread(name string, err error) error {
	var placed yaml.Error
	if !errors.As(err, &placed) || placed.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at, text := placed.GetToken().Position, placed.FormatError(false, true)
	said, excerpt, _ := strings.Cut(leading.ReplaceAllString(text, ""), "\n")
	var mistyped *yaml.TypeError
	if errors.As(err, &mistyped) {
		said = fmt.Sprintf("want %s, got %s", typeWord(mistyped.DstType), typeWord(mistyped.SrcType))
	}
	return fmt.Errorf("%s:%d:%d: %s\n%s", name, at.Line, at.Column, said, strings.TrimRight(excerpt, " \n"))
}

// typeWord is what YAML calls values of the type.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// misplaced tells of what makes no sense at a path of the file, in the same form.
func misplaced(name string, data []byte, path string, err error) error {
	at, pathErr := yaml.PathString(path)
	if pathErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	node, nodeErr := at.ReadNode(bytes.NewReader(data))
	excerpt, excerptErr := at.AnnotateSource(data, false)
	if nodeErr != nil || excerptErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	position := node.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %w\n%s", name, position.Line, position.Column, err, strings.TrimRight(string(excerpt), " \n"))
}
