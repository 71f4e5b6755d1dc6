package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Result returns the first answer that is a result; nil when there is none.
func (r *Round) Result() *Answer {
	for i := range r.Answers {
		if r.Answers[i].Err == nil {
			return &r.Answers[i]
		}
	}
	return nil
}

// LastModel returns the request that the round's answer rests on: the last that the model answered with success, or else the last;
// nil when there is none.
func (r *Round) LastModel() *Exchange {
	for _, x := range slices.Backward(r.Model) {
		if x.End.Status == 200 {
			return x
		}
	}
	if len(r.Model) == 0 {
		return nil
	}
	return r.Model[len(r.Model)-1]
}

// member returns a member of the result as it was written; nil when it is not there.
func (a *Answer) member(name string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(a.Result, &o) != nil {
		return nil
	}
	return o[name]
}

// text returns a member that is a string, and whether it is one.
func (a *Answer) text(name string) (string, bool) {
	var s string
	raw := a.member(name)
	return s, raw != nil && string(raw) != "null" && json.Unmarshal(raw, &s) == nil
}

// blocks returns what the answer holds, each block with its path relative to the answer; nil when it cannot be read. It is read once.
func (a *Answer) blocks() []dialect.Block {
	if !a.read {
		a.read, a.held = true, readBlocks(a.member("content"))
	}
	return a.held
}

func readBlocks(content json.RawMessage) []dialect.Block {
	if content == nil {
		return nil
	}
	req, err := llm.Decode(dialect.Native, "", []byte(`{"maxTokens":1,"messages":[{"role":"assistant","content":`+string(content)+`}]}`))
	if err != nil || len(req.Messages) != 1 {
		return nil
	}
	blocks := req.Messages[0].Content
	for i := range blocks {
		blocks[i].Path = strings.TrimPrefix(blocks[i].Path, "messages[0].")
	}
	return blocks
}

// unreadable returns the verdict for an answer whose content cannot be read, nil for any other: other checks
// say what is wrong with it.
func (a *Answer) unreadable() *Verdict {
	if a.blocks() != nil {
		return nil
	}
	v := NotObserved("the answer's content cannot be read (see basic/has-content)").See(a.At("content"), "%s", orMissing(a.member("content")))
	return &v
}

// readable returns the answer to a round, or else the verdict that there is none whose content can be read.
func (ev *Evidence) readable(r *Round) (*Answer, *Verdict) {
	a := r.Result()
	if a == nil {
		v := NotObserved("sampling request %d was not answered%s", r.N, ev.why(r.N))
		return nil, &v
	}
	return a, a.unreadable()
}

// missed says why the model had no answer for the client: no rule of the script and no recording is like what it was asked. "" where it
// had one.
func (r *Round) missed() string {
	if x := r.LastModel(); x != nil {
		return x.End.Miss
	}
	return ""
}

// declined says how the client declined to answer a round, "" when it did not. In the first era it sends an error. In the second a
// client that declines sends nothing at all, which counts where the client is one that answers and lived on: it answered a later
// sample, or it answered another one and ended well. A client that answers nothing at all has no quarrel with this round in particular.
func (ev *Evidence) declined(r *Round) string {
	if r.missed() != "" || !ev.Session.answers(func(*Round) bool { return true }) { // after a miss the error that follows is our doing
		return ""
	}
	if len(r.Answers) > 0 && r.Answers[0].Err != nil {
		return fmt.Sprintf("%q (code %d)", clip(r.Answers[0].Err.Message), r.Answers[0].Err.Code)
	}
	if ev.Revision.Modern() && len(r.Answers) == 0 && ev.Session.livedOn(r.Asked.Ref) {
		return "it did not fulfil the input request"
	}
	return ""
}

// declinedHere is declined for a client that answers another request with tools: one that answers none has no quarrel with what is
// particular to this one.
func (ev *Evidence) declinedHere(r *Round) string {
	if !ev.Session.answers(func(other *Round) bool { return other.Params != nil && len(other.Params.Tools) > 0 }) {
		return ""
	}
	return ev.declined(r)
}

// answers reports whether a round of the kind was answered with a result.
func (s *Session) answers(kind func(*Round) bool) bool {
	for _, calls := range s.calls {
		for _, ev := range calls {
			if slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.Result() != nil && kind(r) }) {
				return true
			}
		}
	}
	return false
}

// livedOn reports whether the client was well after an event.
func (s *Session) livedOn(after trace.Ref) bool {
	endedWell := s.Ended != nil && s.Ended.Clean()
	for _, calls := range s.calls {
		for _, ev := range calls {
			for _, r := range ev.Rounds {
				if a := r.Result(); a != nil && (endedWell || s.order[after] < s.order[a.Ref]) {
					return true
				}
			}
		}
	}
	return false
}

// answersAny reports whether any sample of the session was answered with a result.
func (s *Session) answersAny() bool {
	for _, calls := range s.calls {
		for _, ev := range calls {
			if slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.Result() != nil }) {
				return true
			}
		}
	}
	return false
}

// uses returns the tool uses in the answer.
func (a *Answer) uses() []dialect.Block { return only(a.blocks(), dialect.ToolUse) }

// only returns the blocks of one type.
func only(blocks []dialect.Block, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, b := range blocks {
		if b.Type == t {
			found = append(found, b)
		}
	}
	return found
}

// turns returns the blocks of a type over all messages, results and uses in the order in which they stand.
func turns(messages []dialect.Message, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, m := range messages {
		found = append(found, only(m.Content, t)...)
	}
	return found
}

// says reports whether the text stands in any string of the request's body, however deep, also in JSON that is itself in a string.
func (x *Exchange) says(text string) bool {
	return contains(decoded(x.Request.Body), text)
}

func contains(value any, text string) bool {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		switch inner := decoded([]byte(v)).(type) {
		case map[string]any, []any:
			return contains(inner, text)
		}
	case []any:
		for _, item := range v {
			if contains(item, text) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if contains(item, text) {
				return true
			}
		}
	}
	return false
}

// decoded reads JSON with its numbers as they were written; nil for what is none.
func decoded(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// sameJSON reports whether two documents mean the same: key order aside, and numbers by their value, to the last digit.
func sameJSON(a, b []byte) bool {
	x, y := decoded(a), decoded(b)
	return x != nil && y != nil && cmp.Equal(x, y, cmp.Comparer(sameNumber))
}

// sameNumber compares to more digits than any number of ours has, and in no more time for one with a huge exponent.
func sameNumber(a, b json.Number) bool {
	x, okX := new(big.Float).SetPrec(512).SetString(string(a))
	y, okY := new(big.Float).SetPrec(512).SetString(string(b))
	return a == b || okX && okY && !x.IsInf() && x.Cmp(y) == 0
}

// describe names blocks, a line each, with where they stand: tool uses and results by id.
func describe(blocks []dialect.Block) string {
	if len(blocks) == 0 {
		return "none"
	}
	var lines []string
	for _, b := range blocks {
		line := b.Path + "  "
		switch b.Type {
		case dialect.ToolUse:
			line += fmt.Sprintf("tool use %s: %s(%s)", quoteID(b.ID), b.Name, compact(b.Input))
		case dialect.ToolResult:
			line += fmt.Sprintf("result for %s: %q", quoteID(b.ID), clip(dialect.PlainText(b.Content)))
		default:
			line += string(b.Type)
		}
		lines = append(lines, line)
	}
	const most = 6
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func quoteID(id string) string {
	if id == "" {
		return "(no id)"
	}
	return id
}

// compact returns JSON without its white space, or what it is if it is none.
func compact(raw []byte) string {
	const most = 64 << 10 // beyond which only the beginning is looked at, where a report shows no more anyway
	if len(raw) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(raw[:400]), ""), len(raw))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return clip(string(raw))
	}
	return clip(b.String())
}
