package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// The file, member by member as in script.schema.json. Missing members are nil or empty.
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
	Usage    *scriptUsage      `yaml:"usage"`
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
	LastUser    *string `yaml:"lastUser,omitempty"`
	System      *string `yaml:"system,omitempty"`
	ToolResults *int    `yaml:"toolResults,omitempty"`
	Turn        *int    `yaml:"turn,omitempty"`
	Offers      *string `yaml:"offers,omitempty"`
	Choice      *string `yaml:"choice,omitempty"`
	Model       *string `yaml:"model,omitempty"`
	Dialect     *string `yaml:"dialect,omitempty"`
}

type scriptUsage struct {
	Input  int `yaml:"input"`
	Output int `yaml:"output"`
	Cached int `yaml:"cached"`
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
	Extra      map[string]any    `yaml:"extra"`
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
	return llm.Pace{FirstToken: time.Duration(p.FirstToken), Token: time.Duration(p.Token),
		Jitter: p.Jitter, Seed: p.Seed}
}

// scriptDuration has a unit: a bare number is ambiguous.
type scriptDuration time.Duration

func (d *scriptDuration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || strings.HasSuffix(string(text), "0") { // time takes 0 without a unit
		return fmt.Errorf("expected a duration with a unit, such as 250ms, found %s", text)
	}
	*d = scriptDuration(parsed)
	return nil
}

func (r *scriptRule) rule() (rule *llm.Rule, at []any, err error) {
	rule = llm.When(r.When.matchers()...).Fault(r.Fault.faults()...)
	if r.Reply != nil {
		var blocks []llm.Block
		for i := range r.Reply {
			block, err := r.Reply[i].block()
			if err != nil {
				return nil, []any{"reply", i}, err
			}
			blocks = append(blocks, block)
		}
		rule.Reply(blocks...)
	}
	if near := nearStop(r.Stop); near != "" {
		return nil, []any{"stop"}, fmt.Errorf("has the unknown stop reason %q; did you mean %s?", r.Stop, near)
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
	if r.Usage != nil {
		rule.Usage(llm.Usage{Input: r.Usage.Input, Output: r.Usage.Output, Cached: r.Usage.Cached})
	}
	if r.Optional {
		rule.Optional()
	}
	if r.Header != nil {
		rule.Header(header(r.Header))
	}
	return rule.StopReason(llm.StopReason(r.Stop)).Model(r.Model).Account(r.Account), nil, nil
}

// nearStop returns the stop reason that another one is a spelling of, such as maxTokens for max_tokens; "" for none.
func nearStop(stop string) string {
	plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace
	for _, known := range []llm.StopReason{llm.EndTurn, llm.StopToolUse, llm.StopMaxTokens, llm.StopStopSequence,
		llm.StopRefusal, llm.StopContentFilter} {
		if string(known) != stop && strings.EqualFold(plain(stop), string(known)) {
			return string(known)
		}
	}
	return ""
}

// add appends what make makes of a member, if the file has it.
func add[T, V any](all []T, value *V, make func(V) T) []T {
	if value == nil {
		return all
	}
	return append(all, make(*value))
}

func (w *scriptWhen) matchers() []llm.Matcher {
	all := add(nil, w.LastUser, llm.LastUser)
	all = add(all, w.System, llm.System)
	all = add(all, w.Offers, llm.Offers)
	all = add(all, w.Choice, llm.Choice)
	all = add(all, w.Model, llm.Model)
	all = add(all, w.Dialect, llm.Dialect)
	all = add(all, w.ToolResults, llm.ToolResults)
	return add(all, w.Turn, llm.Turn)
}

// block makes the block. Arguments that are a string go to the wire as they are; others become JSON.
func (b *scriptBlock) block() (llm.Block, error) {
	kinds := 0
	for _, set := range []bool{b.Text != nil, b.Thinking != nil, b.Call != ""} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return llm.Block{}, errors.New("has an invalid block: use one of text, thinking and call")
	case b.Call == "" && (b.ID != "" || b.Arguments != nil):
		return llm.Block{}, errors.New("has id or arguments without call: use them with call only")
	case b.Text != nil && b.Signature != "":
		return llm.Block{}, errors.New("has a text with signature: use it with thinking or call only")
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
	return &llm.Error{Status: e.Status, Message: e.Message, Kind: e.Kind, Code: e.Code, Param: e.Param, Extra: e.Extra,
		Header: header}
}

func (f *scriptFault) faults() []llm.Fault {
	var all []llm.Fault
	for _, plain := range []struct {
		set   bool
		fault func() llm.Fault
	}{
		{f.StallBeforeHeaders, llm.StallBeforeHeaders},
		{f.ResetBeforeHeaders, llm.ResetBeforeHeaders},
		{f.SplitEveryByte, llm.SplitEveryByte},
	} {
		if plain.set {
			all = append(all, plain.fault())
		}
	}
	all = add(all, f.StallAfter, llm.StallAfter)
	all = add(all, f.ResetAfter, llm.ResetAfter)
	all = add(all, f.TruncateAfter, llm.TruncateAfter)
	all = add(all, f.TruncateInside, llm.TruncateInside)
	all = add(all, f.ErrorAfter, func(e scriptErrorAfter) llm.Fault {
		return llm.ErrorAfter(e.Events, e.Error.error())
	})
	all = add(all, f.SplitAtRandom, llm.SplitAtRandom)
	all = add(all, f.Drip, func(d scriptDrip) llm.Fault { return llm.Drip(d.Bytes, time.Duration(d.Wait)) })
	all = add(all, f.WrongContentType, llm.WrongContentType)
	all = add(all, f.Spread, func(d scriptDuration) llm.Fault { return llm.Spread(time.Duration(d)) })
	all = add(all, f.PauseBefore, func(d scriptDuration) llm.Fault { return llm.PauseBefore(time.Duration(d)) })
	return add(all, f.PauseAfter, func(p scriptPause) llm.Fault {
		return llm.PauseAfter(p.Events, time.Duration(p.Pause))
	})
}
